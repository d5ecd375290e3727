"""Writes a log as SwanLab does: protobuf records in LevelDB's framing."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from zlib import crc32

HEADER = b":SWL\xd6\xe1\x02"
BLOCK = 32 << 10


def log(records: Iterable[bytes], header: bytes = HEADER) -> bytes:
    """A log of these records."""
    out = bytearray(header)
    for record in records:
        first = True
        while True:
            room = BLOCK - len(out) % BLOCK
            if room < 7:
                out += b"\0" * room
                continue
            piece, record = record[: room - 7], record[room - 7 :]
            kind = (1 if first else 4) if not record else (2 if first else 3)
            out += struct.pack("<IHB", crc32(piece, crc32(bytes([kind]))), len(piece), kind) + piece
            first = False
            if not record:
                break
    return bytes(out)


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number: int, value: bytes | str | int | float) -> bytes:
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def stamp(seconds: float) -> bytes:
    return field(1, int(seconds)) + field(2, int(seconds % 1 * 1e9))


def scalar(step: int, name: str, value: float, time: float = 1767225600.0) -> bytes:
    number = field(1, value) if value else b""
    body = field(1, name) + (field(2, step) if step else b"") + field(3, 1) + field(4, stamp(time))
    return field(1, 1) + field(13, body + field(5, number))


def start(project: str, name: str, run: str, time: float = 1767225600.0) -> bytes:
    return field(10, field(1, project) + field(4, name) + field(10, run) + field(12, stamp(time)))


def finish(state: int, error: str = "", time: float = 1767225660.0) -> bytes:
    return field(11, field(1, state) + (field(2, error) if error else b"") + field(3, stamp(time)))


def column(name: str, system: bool) -> bytes:
    return field(12, field(1, 2 if system else 1) + field(2, 1) + field(3, name))


def printed(line: str) -> bytes:
    return field(16, field(1, line))


def steps(records: Mapping[int, Mapping[str, float]]) -> list[bytes]:
    return [scalar(step, name, value) for step, row in records.items() for name, value in row.items()]
