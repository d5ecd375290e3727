"""Chunks of step records on their way from a reader to the archive.

Readers hand out chunks; which chunk a value ends up beside is known only when the whole log was read
(a resume rewrites steps). So chunks wait here: in memory up to a budget, the rest in one temporary file.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

import numpy as np

from sitegen.archive.extras import Odd
from sitegen.model import Floats, Rows


@dataclass(frozen=True, slots=True)
class Part:
    """Values of a chunk: `values[j, i]` is metric `names[j]` of record `i` of the chunk, NaN = absent."""

    names: tuple[str, ...]
    values: Floats  # (len(names), records)
    odd: Odd

    @classmethod
    def of(cls, rows: Rows) -> Part:
        """The values of `rows`; its steps, lines and times are kept elsewhere."""
        if not rows.columns:
            return cls((), np.empty((0, len(rows.steps))), Odd.of(rows.non_finite))
        return cls(tuple(rows.columns), np.stack(list(rows.columns.values())), Odd.of(rows.non_finite))


class Spool:
    """Append-only store of parts: `budget` bytes of values in memory, the rest in `file`.

    Use as a context manager: leaving it removes the file.
    """

    def __init__(self, file: Path, budget: int) -> None:
        self._file = file
        self._budget = budget
        self._kept: dict[int, Part] = {}
        self._places: dict[int, tuple[int, int]] = {}  # part -> offset, length in the file
        self._stream: BinaryIO | None = None
        self._cache: dict[int, Part] = {}
        self._count = 0
        self._seen: set[tuple[str, ...]] = set()
        self.names: set[str] = set()  # of all metrics in all parts

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None:
            self._stream.close()
            self._file.unlink(missing_ok=True)

    def add(self, part: Part) -> int:
        """Store a part and return its number."""
        number = self._count
        self._count += 1
        for names in (part.names, part.odd.table):
            if names not in self._seen:
                self._seen.add(names)
                self.names.update(names)
        size = part.values.nbytes + 24 * len(part.odd.rows)
        if size <= self._budget:
            self._budget -= size
            self._kept[number] = part
        else:
            data = pickle.dumps(part, protocol=5)
            if self._stream is None:
                self._stream = self._file.open("w+b")
            self._stream.seek(0, 2)
            self._places[number] = (self._stream.tell(), len(data))
            self._stream.write(data)
        return number

    def get(self, number: int) -> Part:
        """A part by its number. The last few read from the file are remembered."""
        if number in self._kept:
            return self._kept[number]
        if number not in self._cache:
            while len(self._cache) >= 4:
                del self._cache[next(iter(self._cache))]
            self._cache[number] = self._load(number)
        return self._cache[number]

    def _load(self, number: int) -> Part:
        assert self._stream is not None
        offset, length = self._places[number]
        self._stream.seek(offset)
        # Written by this process a moment ago into a file it owns: not foreign data.
        part = pickle.loads(self._stream.read(length))  # noqa: S301
        assert isinstance(part, Part)
        return part
