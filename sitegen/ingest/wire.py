"""Protobuf's wire format, as much of it as reading needs: fields of a message with where they lie.

A decoder of our own instead of protobuf's runtime: that needs the schema of every message, which belongs to
the trackers and changes with their versions, while the few fields read here have kept their numbers for
years; unknown fields are skipped by construction, and a damaged message tells what precedes the damage.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import unpack_from

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_FIXED = {FIXED64: 8, FIXED32: 4}


class Malformed(ValueError):  # noqa: N818 - what the bytes are
    """Bytes that are no message."""


def fields(data: bytes, at: int = 0, end: int | None = None) -> Iterator[tuple[int, int, int, int]]:
    """Fields of the message `data[at:end]` in order: (number, wire type, a, b).

    `a` is the value of a varint, else `data[a:b]` are the bytes of the field. Raises Malformed where the
    message stops making sense; the fields before that were handed out.
    """
    end = len(data) if end is None else end
    while at < end:
        key = data[at]
        if key < 0x80:
            at += 1
        else:
            key, at = varint(data, at, end)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            value, at = varint(data, at, end)
            yield number, kind, value, at
            continue
        if kind == BYTES:
            if at < end and data[at] < 0x80:
                size = data[at]
                at += 1
            else:
                size, at = varint(data, at, end)
        elif kind in _FIXED:
            size = _FIXED[kind]
        else:
            raise Malformed(f"wire type {kind}")
        if not number or at + size > end:
            raise Malformed("a field that ends behind its message")
        yield number, kind, at, at + size
        at += size


def varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Unsigned number at `at` and the place behind it. Raises Malformed."""
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
        shift += 7
    raise Malformed("a number without end")


def signed(value: int) -> int:
    """An int64 as protobuf writes it: two's complement in 64 bits."""
    return value - (1 << 64) if value >> 63 else value


def double(data: bytes, at: int) -> float:
    """The double at `at`."""
    value: float = unpack_from("<d", data, at)[0]
    return value


def text(data: bytes, at: int, end: int) -> str:
    """UTF-8 text; what is none becomes replacement characters."""
    return data[at:end].decode("utf-8", "replace")
