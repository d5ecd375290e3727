"""Packed folders under RUNS, as folders.

They are unpacked into a folder that is gone when the update is over: what they hold has its secrets still.
The list of files is remembered, so that one whose runs did not change is not unpacked again.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

from sitegen.archive.layout import is_inside
from sitegen.archive.manifest import write_atomically
from sitegen.archive.unpack import NAMED, holds_tar, unpack
from sitegen.archive.walk import Found, Listing, listed
from sitegen.errors import ArchiveError, Problem
from sitegen.ingest.source import Source, SourceRefused

FOLDER = "packed"
_KEYS = {"top", "files", "problems", "hidden"}
_AGAIN = "Copy the file again if you can."


class Packs:
    """The packed folders of one update. Use as a context manager.

    Args:
        home: `.sitegen`, where it is remembered what they hold.
        reader: changes with this code and with what is redacted.
    """

    def __init__(self, home: Path, reader: str) -> None:
        self._home, self._reader = home / FOLDER, reader
        self._seen: dict[str, Source] = {}
        self._there: set[str] = set()
        self._temporary: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._temporary is not None:
            self._temporary.cleanup()

    @property
    def _place(self) -> Path:
        """The temporary folder, made where it is needed. Raises ArchiveError."""
        if self._temporary is None:
            try:
                self._temporary = tempfile.TemporaryDirectory(prefix="sitegen-", ignore_cleanup_errors=True)
            except OSError as error:
                raise ArchiveError(
                    f"cannot unpack packed folders: {error.strerror}. Name a folder you may write in TMPDIR."
                ) from error
        return Path(self._temporary.name)

    def __call__(self, path: str, file: Path, size: int, mtime_ns: int) -> Listing | None:
        """What a packed folder holds, None where the file is no tar. Raises ArchiveError."""
        if not NAMED.search(file.name):
            return None
        state = f"{self._reader}\0{path}\0{size}\0{mtime_ns}"
        key = hashlib.sha256(state.encode("utf-8", "surrogatepass")).hexdigest()[:24]
        self._seen[key] = Source(path, file, size)
        held = self._remembered(key) or self._looked_at(key)
        if held is None:
            del self._seen[key]
            return None
        folder = self._place / key
        files = (
            Found(f"{path}/{name}", folder / held["top"] / name, n, mtime_ns, ready=partial(self._ready, key))
            for name, n in held["files"]
        )
        problems = (Problem(**each) for each in held["problems"])
        return Listing(tuple(files), tuple(problems), tuple(held["hidden"]))

    def provide(self, files: Iterable[Path]) -> None:
        """Unpack again what was only remembered of the archives that these files are in."""
        for file in files if self._temporary is not None else ():
            if file.is_relative_to(self._place):
                self._ready(file.relative_to(self._place).parts[0])

    def prune(self) -> None:
        """Forget the archives that are gone."""
        for file in self._home.iterdir() if self._home.is_dir() else ():
            if file.stem not in self._seen:
                file.unlink(missing_ok=True)

    def _remembered(self, key: str) -> dict[str, Any] | None:
        try:
            held: dict[str, Any] = orjson.loads((self._home / f"{key}.json").read_bytes())
        except (OSError, ValueError):
            return None
        return held if isinstance(held, dict) and held.keys() == _KEYS else None

    def _looked_at(self, key: str) -> dict[str, Any] | None:
        source = self._seen[key]
        if not holds_tar(source):
            return None
        problems = self._ready(key)
        top = _top(self._place / key)
        found = listed(self._place / key / top, source.path)
        skip = len(source.path) + 1
        held = {
            "top": top,
            "files": [[each.path[skip:], each.size] for each in found.files],
            "problems": [asdict(each) for each in (*problems, *found.problems)],
            "hidden": found.hidden,
        }
        write_atomically(self._home / f"{key}.json", orjson.dumps(held), durable=False)
        return held

    def _ready(self, key: str) -> tuple[Problem, ...]:
        """Unpack an archive unless it is; what is wrong with it."""
        if key in self._there:
            return ()
        self._there.add(key)
        source, folder = self._seen[key], self._place / key
        try:
            return unpack(source, folder / "files")
        except SourceRefused as error:
            problem = Problem(source.path, None, error.kind, str(error), error.hint)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            problem = Problem(source.path, None, "unreadable", f"could not be unpacked: {reason}", _AGAIN)
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "files").mkdir(parents=True, exist_ok=True)  # nothing of it is read
        return (problem,)


def _top(folder: Path) -> str:
    """The one folder that holds everything, unless its name says that it is part of a run."""
    held = list((folder / "files").iterdir())
    single = len(held) == 1 and held[0].is_dir() and not is_inside(held[0].name)
    return f"files/{held[0].name}" if single else "files"
