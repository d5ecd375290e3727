"""Byte streams on top of byte streams: a part of a file, unpacked chunks, UTF-16 as UTF-8."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import BinaryIO, cast


class Limited(io.RawIOBase):
    """At most `size` bytes of a file."""

    def __init__(self, file: io.FileIO, size: int) -> None:
        self._file = file
        self._left = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast(bytearray, buffer))[: self._left]
        got = self._file.readinto(view) or 0
        self._left -= got
        return got

    def tell(self) -> int:
        return self._file.tell()

    def close(self) -> None:
        self._file.close()
        super().close()


class Chunks(io.RawIOBase):
    """A readable stream over an iterator of byte strings. Closes `below` with itself."""

    def __init__(self, chunks: Iterator[bytes], below: BinaryIO) -> None:
        self._chunks = chunks
        self._below = below
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast(bytearray, buffer))
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        n = min(len(view), len(self._rest))
        view[:n] = self._rest[:n]
        self._rest = self._rest[n:]
        return n

    def close(self) -> None:
        self._below.close()
        super().close()


def buffered(raw: io.RawIOBase) -> BinaryIO:
    """A raw stream with a buffer of 1 MB."""
    return io.BufferedReader(raw, 1 << 20)


def as_utf8(stream: BinaryIO) -> BinaryIO:
    """The same text in UTF-8 and without a byte order mark."""
    head = cast(io.BufferedReader, stream).peek(512)[:512]
    if head.startswith(codecs.BOM_UTF8):
        stream.read(3)
        return stream
    encoding = _wide_encoding(head)
    if encoding is None:
        return stream
    return buffered(Chunks(_transcoded(stream, encoding), stream))


def _wide_encoding(head: bytes) -> str | None:
    """UTF-16, as PowerShell's `>` writes it: by its mark, or by the NUL in every second byte."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if len(head) < 16:
        return None
    even, odd = head[0::2].count(0) / len(head[0::2]), head[1::2].count(0) / len(head[1::2])
    if odd > 0.6 and even < 0.1:
        return "utf-16-le"
    if even > 0.6 and odd < 0.1:
        return "utf-16-be"
    return None


def _transcoded(stream: BinaryIO, encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    while chunk := stream.read(1 << 20):
        yield decoder.decode(chunk).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")
