"""What lies under RUNS: regular files only, in a fixed order.

Names that begin with a dot are skipped (`.git`, `.DS_Store`), `.hydra` excepted; folders among them that no
known tool made are listed. A symlink to something that the walk reaches anyway is skipped, one to a hidden
file inside RUNS (git-annex) is followed, one that leaves RUNS is refused. Devices, FIFOs and sockets are
refused and never opened.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from sitegen.errors import ArchiveError, Problem
from sitegen.ingest import sqlite
from sitegen.ingest.source import Member, Source
from sitegen.redact import asks, redact_name

_SKIPPED = {"__pycache__", "node_modules", "lost+found"}
# Folders of tools, which hold no logs of runs; other hidden folders are mentioned.
_TOOLS = {
    ".git", ".hg", ".svn", ".github", ".gitlab", ".sitegen", ".venv", ".cache", ".ipynb_checkpoints",
    ".vscode", ".idea", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".config", ".local", ".conda", ".nv",
    ".triton", ".datalad", ".dvc", ".fseventsd", ".snapshot", ".AppleDouble",
}  # fmt: skip
_NAMED = re.compile(r"(?:[^/]+/)*?[^/]*\[redacted:[^/]*")  # down to the first name that held a secret
_SHORTEST = 12  # characters of a name that may hold a secret: `password=abc`
_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
}


@dataclass(frozen=True, slots=True)
class Found:
    """A regular file under RUNS, or one run of such a file (`part`)."""

    path: str  # relative to RUNS, printable
    file: Path
    size: int
    mtime_ns: int
    part: str = ""  # which run of the file
    called: str = ""  # what the file calls that run, with its project; attempts of one run share it
    age: int = 0  # of runs of one store that are called alike the oldest has the least
    members: tuple[Found, ...] = ()  # files that are read with it
    ready: Callable[[], object] | None = field(default=None, compare=False, repr=False)  # makes it be there

    @property
    def folder(self) -> str:
        """Folder under RUNS, "" for RUNS itself."""
        return self.path.rpartition("/")[0]

    @property
    def name(self) -> str:
        """Last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def state(self) -> tuple[int, ...]:
        """Size and modification time, of the members too: what tells a changed file without reading it."""
        return (self.size, self.mtime_ns, *(number for each in self.members for number in each.state))

    def opened(self) -> Source:
        """The file for its reader, which is there now."""
        for each in (self, *self.members):
            if each.ready is not None:
                each.ready()
        return self.source()

    def source(self) -> Source:
        """The file for its reader. One that lies in a packed folder may have to be unpacked first."""
        members = tuple(Member(each.path, each.file, each.size) for each in self.members)
        return Source(self.path, self.file, self.size, self.part, members)


@dataclass(frozen=True, slots=True)
class Listing:
    """Files under RUNS by path, what was refused, and hidden folders that were not looked into."""

    files: tuple[Found, ...]
    problems: tuple[Problem, ...]
    hidden: tuple[str, ...] = ()


Unpack = Callable[[str, Path, int, int], Listing | None]  # shown path, file, size, mtime_ns


def walk(root: Path, skip: Path | None = None, unpack: Unpack = lambda *_: None) -> Listing:
    """List RUNS, a folder or a single file; `skip` is a folder to leave out (the archive's home).

    `unpack` lists what a packed folder holds.

    Raises ArchiveError when RUNS does not exist or cannot be listed.
    """
    try:
        root = root.resolve(strict=True)
        info = root.stat()
        walker = _Walker(root, skip.resolve() if skip else None, unpack)
        if not stat.S_ISDIR(info.st_mode):
            return _single(root, info, walker)
        os.scandir(root).close()
    except OSError as error:
        raise ArchiveError(
            f"cannot read runs at {root}: {error.strerror}. Give an existing folder."
        ) from error
    found = list(walker.folder(root, ""))
    found += walker.follow({str(each.file) for each in found})
    return _listing(found, walker)


def listed(folder: Path, shown: str) -> Listing:
    """What lies below a folder that is shown as `shown`. Packed folders in it stay closed."""
    walker = _Walker(folder, None, lambda *_: None)
    return _listing(list(walker.folder(folder, shown)), walker)


def _listing(found: list[Found], walker: _Walker) -> Listing:
    files = tuple(sorted(_unique(found), key=lambda each: each.path))
    problems = (*walker.problems, *_told((*(each.path for each in files), *walker.hidden)))
    return Listing(files, problems, tuple(walker.hidden))


def _single(root: Path, info: os.stat_result, walker: _Walker) -> Listing:
    path = printable(root.name)
    if not stat.S_ISREG(info.st_mode):
        return Listing((), (_special(path, info.st_mode),))
    if (packed := walker.packed(path, root, info)) is not None:
        return _listing(list(packed), walker)
    beside = (root.with_name(root.name + ending) for ending in sqlite.LOGS)
    logs = [each for each in beside if each.is_file() and not each.is_symlink()]
    found = [Found(path, root, info.st_size, info.st_mtime_ns)]
    for each in logs:
        state = each.stat()
        found.append(Found(path + each.name.removeprefix(root.name), each, state.st_size, state.st_mtime_ns))
    return Listing(tuple(found), ())


class _Walker:
    def __init__(self, root: Path, skip: Path | None, unpack: Unpack) -> None:
        self.root = root
        self.unpack = unpack
        self.skip = str(skip) if skip else None
        self.links: list[tuple[str, str]] = []  # shown path, path
        self.problems: list[Problem] = []
        self.hidden: list[str] = []

    def folder(self, folder: Path, shown: str) -> Iterator[Found]:
        """Files below a folder; symlinks are put aside."""
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            self.problems.append(_unreadable(shown or ".", error))
            return
        for entry in entries:
            path = f"{shown}/{printable(entry.name)}" if shown else printable(entry.name)
            if (entry.name.startswith(".") and entry.name != ".hydra") or entry.name in _SKIPPED:
                if self._worth_telling(entry):
                    self.hidden.append(path)
                continue
            if entry.is_symlink():
                self.links.append((path, entry.path))
            elif entry.is_dir(follow_symlinks=False):
                if entry.path != self.skip:
                    yield from self.folder(Path(entry.path), path)
            else:
                yield from self._file(entry, path)

    def _worth_telling(self, entry: os.DirEntry[str]) -> bool:
        known = entry.name in _TOOLS or entry.name in _SKIPPED or entry.path == self.skip
        return not known and entry.is_dir(follow_symlinks=False)

    def _file(self, entry: os.DirEntry[str], path: str) -> Iterator[Found]:
        try:
            info = entry.stat(follow_symlinks=False)
        except OSError as error:  # gone since it was listed
            self.problems.append(_unreadable(path, error))
            return
        if not stat.S_ISREG(info.st_mode):
            self.problems.append(_special(path, info.st_mode))
        elif (packed := self.packed(path, Path(entry.path), info)) is not None:
            yield from packed
        else:
            yield Found(path, Path(entry.path), info.st_size, info.st_mtime_ns)

    def packed(self, path: str, file: Path, info: os.stat_result) -> tuple[Found, ...] | None:
        """What a packed folder holds, None for any other file."""
        held = self.unpack(path, file, info.st_size, info.st_mtime_ns)
        if held is None:
            return None
        self.problems += held.problems
        self.hidden += held.hidden
        return held.files

    def follow(self, seen: set[str]) -> Iterator[Found]:
        """Files behind symlinks that the walk did not see by themselves."""
        for path, link in self.links:
            try:
                target = Path(link).resolve(strict=True)
                info = target.stat()
            except (OSError, RuntimeError):
                self.problems.append(
                    Problem(path, None, "refused", "symlink to nothing or to itself; not followed")
                )
                continue
            if not target.is_relative_to(self.root):
                hint = "Put the file itself under the runs folder."
                self.problems.append(
                    Problem(path, None, "refused", "symlink that leaves the runs folder; not followed", hint)
                )
            elif stat.S_ISREG(info.st_mode) and str(target) not in seen:
                seen.add(str(target))
                packed = self.packed(path, target, info)
                yield from [Found(path, target, info.st_size, info.st_mtime_ns)] if packed is None else packed
            elif not (stat.S_ISREG(info.st_mode) or stat.S_ISDIR(info.st_mode)):
                self.problems.append(_special(path, info.st_mode))


def printable(name: str) -> str:
    """A file name as text that can be stored and shown: no control characters, no secret."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    text = "".join(c if c.isprintable() or c == " " else "\ufffd" for c in text)
    return redact_name(text)[0] if len(text) >= _SHORTEST or "@" in text or asks() else text


def _told(paths: Iterable[str]) -> Iterator[Problem]:
    """A problem for every folder or file whose name holds a secret."""
    named = {match[0] for path in paths if (match := _NAMED.match(path))}
    hint = "Rename it: the name is shown wherever the run is, and changes its address."
    for path in sorted(named):
        yield Problem(
            path, None, "redacted", "a secret in the name of this file or folder was replaced", hint
        )


def _unique(found: list[Found]) -> Iterator[Found]:
    """Two names may print alike; the second and later ones get a number."""
    seen: dict[str, int] = {}
    for each in found:
        n = seen[each.path] = seen.get(each.path, 0) + 1
        yield each if n == 1 else replace(each, path=f"{each.path} ({n})")


def _special(path: str, mode: int) -> Problem:
    kind = _KINDS.get(stat.S_IFMT(mode), "not a regular file")
    return Problem(path, None, "refused", f"{kind}, not a log; it was not opened", "Remove it from the runs.")


def _unreadable(path: str, error: OSError) -> Problem:
    reason = error.strerror or type(error).__name__
    return Problem(path, None, "unreadable", f"cannot be read: {reason}", "Check owner and permissions.")
