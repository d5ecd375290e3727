"""LevelDB's log framing, in which W&B and SwanLab write their records.

The file is cut into blocks of 32 KB; a record is one piece, or a first, middle and last piece in blocks that
follow one another. Every piece has a check sum (plain CRC-32 here). Behind a damaged piece reading goes on at
the piece after it when that is sound, else at the next block, as LevelDB does.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import BinaryIO
from zlib import crc32

from sitegen.ingest.damage import MAX_RECORD, Damage

BLOCK = 32 << 10
FILE_HEADER = 7  # bytes before the first piece: name, number and version of the writer
_HEADER = Struct("<IHB")
_PIECE = _HEADER.size
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
_SEEDS = [crc32(bytes([kind])) for kind in range(5)]


def records(stream: BinaryIO, damage: Damage) -> Iterator[tuple[int, bytes]]:
    """(offset, data) of every whole record; notes in `damage` what is not handed out."""
    parts: list[bytes] = []
    start = size = 0
    for kind, place, piece in _pieces(stream, damage):
        if kind in (_FULL, _FIRST) and parts:
            damage.hole(start, start + size)  # its end never came
            parts = []
        if kind == _FULL:
            yield place, piece
        elif kind == _FIRST:
            parts, start, size = [piece], place, len(piece)
        elif kind == 0:
            if parts:
                damage.hole(start, place)
            parts = []
        elif parts:
            size += len(piece)
            parts.append(piece if size <= MAX_RECORD else b"")
            if kind == _LAST and size > MAX_RECORD:
                damage.long(start, size)
            elif kind == _LAST:
                yield start, b"".join(parts)
            if kind == _LAST:
                parts = []
        else:
            damage.hole(place, place + _PIECE + len(piece))  # its beginning is lost
    if parts and damage.torn is None:
        damage.torn = start


def has_record(stream: BinaryIO) -> bool:
    """Whether a single whole record is anywhere in the stream."""
    return next(records(stream, Damage()), None) is not None


def _pieces(stream: BinaryIO, damage: Damage) -> Iterator[tuple[int, int, bytes]]:
    """(kind, offset, data) of every sound piece; kind 0 where something is missing before the next one."""
    offset, at = 0, FILE_HEADER
    while block := _block(stream):
        last = len(block) < BLOCK
        while at + _PIECE <= len(block):
            _, length, kind = _HEADER.unpack_from(block, at)
            end = at + _PIECE + length
            if _sound(block, at):
                yield kind, offset + at, block[at + _PIECE : end]
                at = end
                continue
            if last and end > len(block) and _FULL <= kind <= _LAST:
                damage.torn = offset + at
                return
            at, lost = _after(block, at), at
            yield 0, offset + lost, b""
            damage.hole(offset + lost, offset + at)
        if last and at < len(block) and block[at:].strip(b"\0"):
            damage.torn = offset + at
        offset, at = offset + BLOCK, 0


def _block(stream: BinaryIO) -> bytes:
    """The next block whole, whatever pieces the stream hands out; shorter at the end of the file."""
    block = stream.read(BLOCK)
    while 0 < len(block) < BLOCK and (more := stream.read(BLOCK - len(block))):
        block += more
    return block


def _sound(block: bytes, at: int) -> bool:
    """Whether a piece begins at `at` whose check sum is right."""
    if at + _PIECE > len(block):
        return False
    sum_, length, kind = _HEADER.unpack_from(block, at)
    end = at + _PIECE + length
    if not _FULL <= kind <= _LAST or end > len(block):
        return False
    return crc32(block[at + _PIECE : end], _SEEDS[kind]) == int(sum_)


def _after(block: bytes, at: int) -> int:
    """Where to go on behind a piece that is damaged."""
    end = at + _PIECE + int(_HEADER.unpack_from(block, at)[1])
    if _sound(block, end) or (end <= len(block) and len(block) - end < _PIECE):
        return end
    return len(block)
