"""Writes W&B's log: LevelDB framing and the few records that the tests need."""

from __future__ import annotations

import json
import struct
from zlib import crc32

from .events import field

BLOCK = 32768
HEADER = b":W&B\xe1\xbe\x00"


def framed(*records: bytes, header: bytes = HEADER) -> bytes:
    """Records cut into pieces that do not cross blocks."""
    out = bytearray(header)
    for data in records:
        first = True
        while True:
            room = BLOCK - len(out) % BLOCK
            if room < 7:
                out += bytes(room)
                room = BLOCK
            piece, data = data[: room - 7], data[room - 7 :]
            kind = (1 if first else 4) if not data else (2 if first else 3)
            out += struct.pack("<IHB", crc32(bytes([kind]) + piece), len(piece), kind) + piece
            first = False
            if not data:
                break
    return bytes(out)


def item(name: str, raw: str, nested: tuple[str, ...] = ()) -> bytes:
    """An item of history or configuration: a name, or the parts of one, and a JSON text."""
    names = b"".join(field(2, each) for each in nested) or field(2, name)
    return names + field(16, raw)


def history(step: int, *extra: bytes, **values: object) -> bytes:
    """A history record; values are written as W&B writes them, NaN and Infinity among them."""
    items = [item(name, json.dumps(value)) for name, value in {"_step": step, **values}.items()]
    return field(2, b"".join(field(1, each) for each in (*items, *extra)))


def config(kind: int = 5, **values: object) -> bytes:
    """A ConfigRecord, or with `kind` 17 a RunRecord that holds one."""
    updates = b"".join(field(1, field(1, key) + field(16, json.dumps(v))) for key, v in values.items())
    return field(kind, updates if kind == 5 else field(4, updates))


def timestamp(seconds: int, nanos: int = 0) -> bytes:
    return field(1, seconds) + field(2, nanos)


def printed(text: str) -> bytes:
    """A piece of the console's output."""
    return field(13, field(2, timestamp(1_700_000_000)) + field(3, text))
