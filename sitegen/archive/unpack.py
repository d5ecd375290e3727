"""Packed folders (`.tar`, `.tar.gz`, `.tar.zst`) under RUNS, unpacked once below `.sitegen/unpacked`.

Only regular files come out, into a folder made for this archive: no link is made, so no path can lead out of
it, and a name that tries is refused. How much comes out is limited.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import orjson

from sitegen.archive.layout import is_inside
from sitegen.archive.tar import BLOCK, Entry, TarDamaged, entries, is_tar
from sitegen.errors import Problem
from sitegen.ingest.source import Source, SourceRefused

NAMED = re.compile(r"\.(?:tar(?:\.(?:gz|zst))?|tgz|tzst)(?=/|$)", re.IGNORECASE)
MAX_BYTES = 4 << 30  # unpacked
MAX_ENTRIES = 50_000
FOLDER = "unpacked"
_DONE = "done.json"
_FILES = "files"
_LISTED = 20  # refused entries told one by one
_LONGEST = 255  # bytes of a name on the file systems there are
_LONGEST_PATH = 1024
_AGAIN = "Copy the file again if you can."
_HINT = "Put the file itself into the archive."


def opened(path: str) -> str:
    """A path without what says that a folder in it is packed."""
    return NAMED.sub("", path)


@dataclass(frozen=True, slots=True)
class Unpacked:
    """What came out of an archive: the folder to list, and what is wrong with it."""

    folder: Path
    problems: tuple[Problem, ...]


@dataclass
class Unpacker:
    """Unpacks below `home`, or finds what an earlier update unpacked. `reader` changes with this code."""

    home: Path
    reader: str = ""
    used: set[str] = field(default_factory=set)

    def __call__(self, path: str, file: Path, size: int, mtime_ns: int) -> Unpacked | None:
        """The folder of an archive, None where the file is no tar whatever its name. Never raises."""
        if not NAMED.search(file.name):
            return None
        state = f"{self.reader}\0{path}\0{size}\0{mtime_ns}"
        key = hashlib.sha256(state.encode("utf-8", "surrogatepass")).hexdigest()[:24]
        place = self.home / FOLDER / key
        source = Source(path, file, size)
        if not (place / _DONE).is_file() and not _holds_tar(source):
            return None
        self.used.add(key)
        return _unpacked(source, place, mtime_ns)

    def prune(self) -> None:
        """Remove what no archive of this update unpacks to."""
        folder = self.home / FOLDER
        for place in folder.iterdir() if folder.is_dir() else ():
            if place.name not in self.used:
                shutil.rmtree(place, ignore_errors=True)


def _holds_tar(source: Source) -> bool:
    """Whether it is a tar. What cannot be opened is none here: it is told where files are sniffed."""
    try:
        with source.unpacked() as stream:
            return is_tar(stream.read(BLOCK))
    except (OSError, SourceRefused):
        return False


def _unpacked(source: Source, place: Path, mtime_ns: int) -> Unpacked:
    try:
        if not (place / _DONE).is_file():
            _unpack(source, place, mtime_ns)
        told = [Problem(**each) for each in orjson.loads((place / _DONE).read_bytes())]
        return Unpacked(_top(place / _FILES), tuple(told))
    except SourceRefused as error:
        problem = Problem(source.path, None, error.kind, str(error), error.hint)
    except (OSError, ValueError, TypeError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        problem = Problem(source.path, None, "unreadable", f"could not be unpacked: {reason}", _AGAIN)
    shutil.rmtree(place, ignore_errors=True)
    return Unpacked(place, (problem,))


def _top(folder: Path) -> Path:
    """The one folder that holds everything, unless its name says that it is part of a run."""
    held = list(folder.iterdir())
    return held[0] if len(held) == 1 and held[0].is_dir() and not is_inside(held[0].name) else folder


def _unpack(source: Source, place: Path, mtime_ns: int) -> None:
    """Fill `place`; the list of problems is written last and marks it as whole.

    Raises SourceRefused for what is larger than a run, OSError.
    """
    shutil.rmtree(place, ignore_errors=True)
    (place / _FILES).mkdir(parents=True)
    taking = _Taking(source.path, place / _FILES, mtime_ns)
    with source.unpacked() as stream:
        try:
            for entry in entries(stream):
                taking.take(entry)
        except TarDamaged as error:
            what = f"the archive is damaged: {error}; what precedes was read"
            if not source.notes:
                taking.problems.append(Problem(source.path, None, "truncated", what, _AGAIN))
    told = [*source.notes, *taking.problems, *taking.links()]
    (place / _DONE).write_bytes(orjson.dumps([asdict(each) for each in told]))


class _Taking:
    def __init__(self, path: str, folder: Path, mtime_ns: int) -> None:
        self.path, self.folder, self.mtime_ns = path, folder, mtime_ns
        self.problems: list[Problem] = []
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
        file = self.folder.joinpath(*parts)
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
        finally:
            if file.is_file():
                os.utime(file, ns=(self.mtime_ns, self.mtime_ns))
        self._names.update("/".join(parts[:n]) for n in range(1, len(parts) + 1))
        return None


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
