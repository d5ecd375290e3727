"""CRC-32C of many pieces of a buffer at once.

The standard library has no CRC-32C, and one byte after the other in Python is slower than everything else
a reader does. Here all pieces advance together, one byte of each per step.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sitegen.model import Ints

Words = NDArray[np.uint32]
LONGEST = 1 << 16  # bytes; a longer piece would cost more steps than the check is worth


def _table() -> Words:
    values = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        values = np.where(values & 1, (values >> 1) ^ np.uint32(0x82F63B78), values >> 1).astype(np.uint32)
    return values


_TABLE = _table()


def masked(data: bytes, starts: Ints, lengths: Ints) -> Words:
    """Masked CRC-32C, as TFRecord files store it, of the pieces `data[start:start + length]`."""
    order = np.argsort(-lengths, kind="stable")
    places, sizes = starts[order], lengths[order]
    bytes_ = np.frombuffer(data, dtype=np.uint8)
    crc = np.full(len(starts), 0xFFFFFFFF, dtype=np.uint32)
    left = len(sizes)
    for i in range(int(sizes[0]) if left else 0):
        while sizes[left - 1] <= i:  # the shortest are done
            left -= 1
        part = crc[:left]
        crc[:left] = _TABLE[(part ^ bytes_[places[:left] + i]) & 0xFF] ^ (part >> np.uint32(8))
    result = np.empty_like(crc)
    result[order] = _mask(~crc)
    return result


def stored(data: bytes, places: Ints) -> Words:
    """The little-endian words that stand at `places`."""
    source = np.frombuffer(data, dtype=np.uint8)
    word = np.zeros(len(places), dtype=np.uint32)
    for i in range(4):
        word |= source[places + i].astype(np.uint32) << np.uint32(8 * i)
    return word


def _mask(crc: Words) -> Words:
    rotated = (crc >> np.uint32(15)) | (crc << np.uint32(17))
    return (rotated + np.uint32(0xA282EAD8)).astype(np.uint32)
