"""A file that a reader may open, and nothing else.

A `Source` opens regular files only, unpacks gzip and Zstandard as a stream, and hands out UTF-8
without a byte order mark whatever the file was written in. Packing is recognised by content:
a rotated `train.log.1` may well be gzip.

A reader never sees more of the file than `size` bytes, the length it had when its content hash was
taken. A log that grows while it is read therefore gives the same archive as one that does not.
"""

from __future__ import annotations

import io
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, cast

import zstandard

from sitegen.errors import Problem, SitegenError
from sitegen.ingest.streams import Chunks, Limited, as_utf8, buffered

# Text logs pack 4 to 20 times, progress bars up to about 100 times. Beyond 200 times and 128 MiB it is
# not a log but a bomb; below 128 MiB reading it costs less than finding out.
MAX_RATIO = 200
MAX_EXPANDED = 128 << 20
MAX_LINE = 64 << 20  # a longer line is no record; skipping it keeps memory bounded
BLOCK = 4 << 20

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_GZIP_STEP = 1 << 14  # what is read ahead must not hide the ratio of what was unpacked
_ZSTD_STEP = 1 << 10  # zstd can turn 4 bytes into 128 KiB: small steps keep one step's output small
_CHECK_SUM = 4  # bytes of a check sum behind a frame


class SourceRefused(SitegenError):  # noqa: N818 - a refusal, told as a problem
    """A file that is not opened, or not read to its end. `kind` is the kind of the problem it becomes."""

    kind = "refused"
    hint = "Replace it by a regular file inside the folder of the run."


class SourceTooLarge(SourceRefused):
    """A packed file that unpacks to more than a log can hold."""

    kind = "too-large"
    hint = "Unpack it yourself and keep the part that is a log."


@dataclass(frozen=True, slots=True)
class Member:
    """A file that is read together with another one: what the archive found beside it, and nothing else."""

    path: str  # as shown to people, relative to RUNS
    file: Path
    size: int


@dataclass(frozen=True, slots=True)
class Part:
    """One run of a file that holds several."""

    name: str  # unique in the file
    called: str  # what people call it, below its project where it has one; attempts of one run share it


@dataclass(frozen=True, slots=True)
class Source:
    """One file of a run, or one run of a file that holds several.

    Args:
        path: as shown to people, relative to RUNS, with `/`.
        file: where it is.
        size: bytes on disk to read at most; None reads to the end.
        part: which run of the file, as the format's `parts` calls it; "" is the whole file.
        members: files that are read with it, by path.
        notes: problems found below the reader (a torn gzip tail), filled while streaming.
    """

    path: str
    file: Path
    size: int | None = None
    part: str = ""
    members: tuple[Member, ...] = ()
    notes: list[Problem] = field(default_factory=list, compare=False, repr=False)

    def open(self) -> BinaryIO:
        """Stream of the content: unpacked, UTF-8, no byte order mark.

        Raises SourceRefused for what is not a regular file, SourceTooLarge while reading a bomb,
        OSError when the file is gone or may not be read.
        """
        stream = self.unpacked()
        try:
            return as_utf8(stream)
        except BaseException:
            stream.close()
            raise

    def unpacked(self) -> BinaryIO:
        """Stream of the content, unpacked and as it is. Raises as `open` does."""
        raw = self.raw()
        try:
            return self._unpacked(raw)
        except BaseException:
            raw.close()
            raise

    def raw(self) -> BinaryIO:
        """The bytes as they lie on disk, at most `size` of them. Raises SourceRefused or OSError."""
        # O_NONBLOCK: a FIFO that took the file's place since it was listed must not hang the build.
        handle = os.open(self.file, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise SourceRefused(f"{self.path} is not a regular file")
            stream = io.FileIO(handle, "rb")
        except BaseException:
            os.close(handle)
            raise
        if self.size is None:
            return io.BufferedReader(stream, 1 << 16)
        return io.BufferedReader(Limited(stream, self.size), 1 << 16)

    def tail(self, n: int) -> bytes:
        """The last `n` bytes as they lie on disk. Raises SourceRefused or OSError."""
        with replace(self, size=None).raw() as stream:
            end = stream.seek(0, os.SEEK_END) if self.size is None else self.size
            stream.seek(max(0, end - n))
            return stream.read(min(n, end))

    @property
    def whole(self) -> str:
        """Path of the file that this is a part of."""
        return self.path.rpartition("#")[0] if self.part else self.path

    def member(self, path: str) -> Source | None:
        """The member with that path relative to RUNS, None when there is none."""
        found = next((each for each in self.members if each.path == path), None)
        return Source(found.path, found.file, found.size) if found else None

    def head(self, n: int) -> bytes:
        """The first `n` bytes of the content, fewer when it is shorter. Raises as `open` does."""
        with self.open() as stream:
            return stream.read(n)

    def probe(self) -> None:
        """Raise SourceTooLarge if this is a bomb. Stops as soon as the packing is that of a log."""
        with self.raw() as raw:
            magic = cast(io.BufferedReader, raw).peek(4)[:4]
            if magic[:2] != _GZIP and magic != _ZSTD:
                return
            total = 0
            for chunk in self._bounded(raw, self._inflate(raw) if magic[:2] == _GZIP else self._unzstd(raw)):
                total += len(chunk)
                if total > 8 << 20 and total < MAX_RATIO * raw.tell():
                    return

    def _unpacked(self, raw: BinaryIO) -> BinaryIO:
        magic = cast(io.BufferedReader, raw).peek(4)[:4]
        if magic[:2] == _GZIP:
            return buffered(Chunks(self._bounded(raw, self._inflate(raw)), raw))
        if magic == _ZSTD:
            return buffered(Chunks(self._bounded(raw, self._unzstd(raw)), raw))
        return raw

    def _bounded(self, raw: BinaryIO, chunks: Iterator[bytes]) -> Iterator[bytes]:
        total = 0
        for chunk in chunks:
            total += len(chunk)
            if total > MAX_EXPANDED and total > MAX_RATIO * raw.tell():
                limit = f"{MAX_EXPANDED >> 20} MiB and {MAX_RATIO} times its size"
                raise SourceTooLarge(f"{self.path} unpacks to more than {limit}")
            yield chunk

    def _inflate(self, raw: BinaryIO) -> Iterator[bytes]:
        """Members of a gzip file one after the other; zero padding between and after them is normal."""
        data = b""
        while True:
            data = data.lstrip(b"\0") or raw.read(_GZIP_STEP).lstrip(b"\0")
            if not data:
                return
            member = zlib.decompressobj(wbits=31)
            while not member.eof:
                before = member.copy()
                try:
                    chunk = member.decompress(data, 1 << 20)
                except zlib.error as error:
                    yield _up_to_damage(before, data)
                    return self._torn(f"gzip data is damaged ({error})")
                if chunk:
                    yield chunk
                data = member.unconsumed_tail
                if not (data or member.eof):
                    data = raw.read(_GZIP_STEP)
                    if not data:
                        return self._torn("the gzip stream ends before its end mark")
            data = member.unused_data

    def _unzstd(self, raw: BinaryIO) -> Iterator[bytes]:
        pieces, data = _last_apart(raw), b""
        while True:
            data = data or next(pieces, b"")
            if not data:
                return
            frame = zstandard.ZstdDecompressor().decompressobj()
            while True:
                try:
                    chunk = frame.decompress(data)
                except zstandard.ZstdError as error:
                    return self._torn(f"Zstandard data is damaged ({error})")
                if chunk:
                    yield chunk
                if frame.eof:
                    break
                data = next(pieces, b"")
                if not data:
                    return self._torn("the Zstandard stream ends before its end mark")
            data = frame.unused_data

    def _torn(self, what: str) -> None:
        problem = Problem(
            self.path, None, "truncated", f"{what}; what precedes was read", "Copy the file again if you can."
        )
        if problem not in self.notes:
            self.notes.append(problem)


def _last_apart(raw: BinaryIO) -> Iterator[bytes]:
    """Small pieces of a stream, its last bytes on their own: a wrong check sum comes behind all content."""
    held = b""
    while piece := raw.read(_ZSTD_STEP):
        piece, held = (held + piece)[:-_CHECK_SUM], (held + piece)[-_CHECK_SUM:]
        if piece:
            yield piece
    if held:
        yield held


def _up_to_damage(member: zlib._Decompress, data: bytes) -> bytes:
    """What zlib can unpack of `data` byte by byte: a wrong check sum is found behind good content."""
    chunks = []
    try:
        for i in range(len(data)):
            chunks.append(member.decompress(data[i : i + 1]))
    except zlib.error:
        pass
    return b"".join(chunks)


def blocks(
    stream: BinaryIO, size: int = BLOCK, too_long: Callable[[int], None] | None = None
) -> Iterator[tuple[int, list[bytes], bool]]:
    """Lines of a stream in blocks of about `size` bytes: (number of the first line, lines, whole).

    `whole` is False for the last block when its last line has no line end. A line longer than
    MAX_LINE is handed out empty, and its number given to `too_long`.
    """
    number, rest = 1, b""
    while chunk := stream.read(size):
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        if lines:
            yield number, lines, True
            number += len(lines)
        elif len(rest) > MAX_LINE:
            rest, found = _skip_line(stream, size)
            if too_long:
                too_long(number)
            yield number, [b""], True
            number += 1
            if not found:
                return
    if rest:
        lines = rest.split(b"\n")
        ended = lines[-1] == b""
        yield number, lines[:-1] if ended else lines, ended


def _skip_line(stream: BinaryIO, size: int) -> tuple[bytes, bool]:
    """What follows the next line end, and whether there was one."""
    while chunk := stream.read(size):
        _, end, after = chunk.partition(b"\n")
        if end:
            return after, True
    return b"", False
