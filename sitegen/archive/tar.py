"""What a tar stream holds, entry by entry, in bounded memory.

`tarfile` stops silently where a header in the middle is damaged and reads extended headers of any length into
memory; here the first is told and the second refused. It still parses the header itself.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

BLOCK = 512
MAX_HEADER = 1 << 20  # bytes of an extended header
_PIECE = 1 << 20
_END = bytes(BLOCK)
_REGULAR = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)
_LINKS = (tarfile.LNKTYPE, tarfile.SYMTYPE)


class TarDamaged(ValueError):  # noqa: N818 - told as a problem
    """The stream is no tar from here on; what precedes was handed out."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. `data` has to be read before the next entry is asked for, and may be torn."""

    name: str  # as written; may be anything
    kind: str  # "file", "folder", "link", "other"
    target: str  # of a link
    size: int
    data: Iterator[bytes]


def is_tar(head: bytes) -> bool:
    """Whether a stream that begins with `head` is a tar."""
    try:
        return bool(_header(head[:BLOCK]).name)
    except tarfile.HeaderError:
        return False


def entries(stream: BinaryIO) -> Iterator[Entry]:
    """Entries in order. Raises TarDamaged where the stream is torn or no tar."""
    said: dict[str, str] = {}  # by extended headers, of the entry that follows
    while (block := stream.read(BLOCK)) != _END:
        try:
            head = _header(block)
        except tarfile.HeaderError as error:
            raise TarDamaged(f"no header of an entry where one is due ({error})") from None
        if head.type in (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE):
            found = _extended(b"".join(_data(stream, head.size, MAX_HEADER)))
            said |= found if head.type != tarfile.XGLTYPE else {}
        elif head.type in (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK):
            text = _text(b"".join(_data(stream, head.size, MAX_HEADER)).rstrip(b"\0"))
            said["path" if head.type == tarfile.GNUTYPE_LONGNAME else "linkpath"] = text
        elif head.type == tarfile.GNUTYPE_SPARSE:
            raise TarDamaged("a file with holes (tar -S)")
        else:
            yield from _entry(stream, head, said)
            said = {}


def _header(block: bytes) -> tarfile.TarInfo:
    return tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")


def _entry(stream: BinaryIO, head: tarfile.TarInfo, said: dict[str, str]) -> Iterator[Entry]:
    size = int(said.get("size", head.size))
    if size < 0:
        raise TarDamaged("an entry of negative size")
    if head.type in _LINKS or head.type == tarfile.DIRTYPE:
        size = 0  # some writers state the size of what a link points to
    data = _data(stream, size)
    yield Entry(
        said.get("path", head.name), _kind(head, said), said.get("linkpath", head.linkname), size, data
    )
    for _ in data:
        pass


def _kind(head: tarfile.TarInfo, said: dict[str, str]) -> str:
    if any(key.startswith("GNU.sparse.") for key in said):
        return "other"
    if head.type in _REGULAR:
        return "folder" if head.name.endswith("/") else "file"
    return "folder" if head.type == tarfile.DIRTYPE else "link" if head.type in _LINKS else "other"


def _data(stream: BinaryIO, size: int, most: int | None = None) -> Iterator[bytes]:
    """Pieces of `size` bytes and nothing of what fills the last block. Raises TarDamaged."""
    if most is not None and not 0 <= size <= most:
        raise TarDamaged(f"an extended header of {size} bytes")
    left = size
    while left:
        piece = stream.read(min(left, _PIECE))
        if not piece:
            raise TarDamaged("it ends within an entry")
        left -= len(piece)
        yield piece
    stream.read(-size % BLOCK)


def _extended(data: bytes) -> dict[str, str]:
    """Records `<length> <key>=<value>`, each with a line end. Raises TarDamaged."""
    found: dict[str, str] = {}
    while data.rstrip(b"\0"):
        digits, blank, _ = data[:20].partition(b" ")
        length = int(digits) if digits.isdigit() and blank else 0
        key, equals, value = data[len(digits) + 1 : length].partition(b"=")
        if not equals or not value.endswith(b"\n"):
            raise TarDamaged("an extended header that is none")
        found[_text(key)] = _text(value[:-1])
        data = data[length:]
    if not found.get("size", "0").isdigit():
        raise TarDamaged("an extended header that is none")
    return found


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")
