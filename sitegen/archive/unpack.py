"""A packed folder (`.tar`, `.tar.gz`, `.tar.zst`) unpacked.

Only regular files come out, into a folder made for this archive: no link is made, so no path can lead out of
it, and a name that tries is refused. How much comes out is limited. A file gets the name that is shown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from sitegen.archive.tar import BLOCK, Entry, TarDamaged, entries, is_tar
from sitegen.archive.walk import printable
from sitegen.errors import Problem
from sitegen.ingest.source import Source, SourceRefused

NAMED = re.compile(r"\.(?:tar(?:\.(?:gz|zst))?|tgz|tzst)(?=/|$)", re.IGNORECASE)
MAX_BYTES = 4 << 30  # unpacked
MAX_ENTRIES = 50_000
_LISTED = 20  # refused entries told one by one
_LONGEST = 255  # bytes of a name on the file systems there are
_LONGEST_PATH = 1024
_AGAIN = "Copy the file again if you can."
_HINT = "Put the file itself into the archive."


def opened(path: str) -> str:
    """A path without what says that a folder in it is packed."""
    return NAMED.sub("", path)


def holds_tar(source: Source) -> bool:
    """Whether it is a tar. What cannot be opened is none here: it is told where files are sniffed."""
    try:
        with source.unpacked() as stream:
            return is_tar(stream.read(BLOCK))
    except (OSError, SourceRefused):
        return False


def unpack(source: Source, folder: Path) -> tuple[Problem, ...]:
    """Fill a new `folder`; what could not be taken out is told.

    Raises SourceRefused for what is larger than a run, OSError.
    """
    folder.mkdir(parents=True)
    taking = _Taking(source.path, folder)
    with source.unpacked() as stream:
        try:
            for entry in entries(stream):
                taking.take(entry)
        except TarDamaged as error:
            what = f"the archive is damaged: {error}; what precedes was read"
            if not source.notes:
                taking.problems.append(Problem(source.path, None, "truncated", what, _AGAIN))
    return (*source.notes, *taking.problems, *taking.links())


class _Taking:
    def __init__(self, path: str, folder: Path) -> None:
        self.path, self.folder = path, folder
        self.problems: list[Problem] = []
        self._shown: dict[str, str] = {}  # path as shown -> as written
        self._seen = 0
        self._bytes = 0
        self._names: set[str] = set()  # of files and of the folders above them
        self._links: list[tuple[str, str, str]] = []  # name, target beside it, target from the top

    def take(self, entry: Entry) -> None:
        """Write a file out, note what is none. Raises SourceRefused beyond the limits."""
        self._seen += 1
        if self._seen > MAX_ENTRIES:
            raise _TooLarge(f"{self.path} holds more than {MAX_ENTRIES} files")
        parts = _parts(entry.name)
        if entry.kind == "folder" and parts is not None:
            return
        if not parts:
            self._tell("a name that leads out of the archive, or that no file can have", "Pack it again.")
        elif entry.kind == "link":
            above = "/".join(parts[:-1])
            self._links.append(("/".join(parts), _joined(above, entry.target), _joined("", entry.target)))
        elif entry.kind == "other":
            self._tell("a device, a FIFO or a file with holes; not unpacked", _HINT)
        elif entry.kind == "file":
            self._write(parts, entry)

    def links(self) -> Sequence[Problem]:
        """Problems for links to anything but what the archive holds itself."""
        lost = [name for name, *targets in self._links if not self._names.intersection(targets)]
        if not lost:
            return ()
        what = "1 link leads" if len(lost) == 1 else f"{len(lost)} links lead"
        return (Problem(self.path, None, "refused", f"{what} out of the archive; not followed", _HINT),)

    def _tell(self, what: str, hint: str) -> None:
        problem = Problem(self.path, None, "refused", what, hint)
        if problem not in self.problems and len(self.problems) < _LISTED:
            self.problems.append(problem)

    def _write(self, parts: Sequence[str], entry: Entry) -> None:
        file = self.folder / self._free("/".join(parts))
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("wb") as out:
                for piece in entry.data:
                    self._bytes += len(piece)
                    if self._bytes > MAX_BYTES:
                        raise _TooLarge(f"{self.path} unpacks to more than {MAX_BYTES >> 30} GiB")
                    out.write(piece)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            return self._tell("one name for a file and a folder; the first was unpacked", "Pack it again.")
        self._names.update("/".join(parts[:n]) for n in range(1, len(parts) + 1))
        return None

    def _free(self, name: str) -> str:
        """The name as shown. One that prints like another gets a number; a name that comes again replaces."""
        shown = free = "/".join(map(printable, name.split("/")))
        n = 1
        while self._shown.setdefault(free, name) != name:
            n += 1
            free = f"{shown} ({n})"
        return free


class _TooLarge(SourceRefused):
    kind = "too-large"
    hint = "Unpack it yourself and keep the part that is a run."


def _parts(name: str) -> list[str] | None:
    """A name as path components; None where one of them could lead anywhere else, or be no file's name."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    whole = len(name.encode("utf-8", "surrogateescape")) <= _LONGEST_PATH
    return parts if whole and not name.startswith("/") and all(map(_plain, parts)) else None


def _plain(part: str) -> bool:
    """Whether a component is a name on any system, and nothing but a name."""
    raw = part.encode("utf-8", "surrogateescape")
    drive = len(part) == 2 and part[1] == ":"
    return part != ".." and "\\" not in part and not drive and len(raw) <= _LONGEST and min(raw) >= 32


def _joined(above: str, target: str) -> str:
    """A link's target seen from the top of the archive, "" where it leads out."""
    joined = os.path.normpath(f"{above}/{target}" if above else target)
    return "" if joined.startswith(("/", "..")) else joined
