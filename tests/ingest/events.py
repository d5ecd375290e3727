"""Writes TensorBoard event files: just enough of protobuf and TFRecord, told apart from what reads them."""

from __future__ import annotations

import struct

CRC_POLY = 0x82F63B78


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number: int, value: int | float | bytes | str) -> bytes:
    """A field: int as varint, float as double, bytes and text with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def single(number: int, value: float) -> bytes:
    """A field that holds a float32."""
    return varint(number << 3 | 5) + struct.pack("<f", value)


def crc(data: bytes) -> int:
    """Masked CRC-32C, bit by bit."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (CRC_POLY if value & 1 else 0)
    value ^= 0xFFFFFFFF
    return ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(data: bytes) -> bytes:
    head = struct.pack("<Q", len(data))
    return head + struct.pack("<I", crc(head)) + data + struct.pack("<I", crc(data))


def event(step: int, *values: bytes, time: float = 1.7e9) -> bytes:
    """A record with a summary; `values` are what `scalar` and its like return."""
    summary = b"".join(field(1, value) for value in values)
    return record(field(1, time) + (field(2, step) if step else b"") + field(5, summary))


def scalar(tag: str, value: float) -> bytes:
    return field(1, tag) + single(2, value)


def tensor(tag: str, dtype: int, *parts: bytes, plugin: str = "scalars") -> bytes:
    """A value that lies in a tensor, with the name of its plugin."""
    metadata = field(1, field(1, plugin))
    return field(1, tag) + field(8, field(1, dtype) + b"".join(parts)) + field(9, metadata)


def version() -> bytes:
    return record(field(1, 1.7e9) + field(3, "brain.Event:2"))


def file(*events: bytes) -> bytes:
    return version() + b"".join(events)
