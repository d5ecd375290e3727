"""Columns of a table -> which of them make a sample.

verl's table for W&B has a row per validation: `step, input_1, output_1, score_1, input_2, …`. Others have a
row per sample, under the names that dumps of generations use.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sitegen.ingest.generations import holds_sample

Places = tuple[tuple[str, int], ...]  # key of a record, column of the table
_NUMBERED = re.compile(r"(.+?)_(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Shape:
    """Where the samples of a row lie, and what all samples of a row share."""

    samples: tuple[Places, ...]
    shared: Places = ()
    width: int = 0  # columns

    def gathering(self) -> Gathering:
        """What makes samples of rows that come in stretches."""
        return Gathering(self)

    def records(self, row: Sequence[object]) -> Iterator[Mapping[str, object]]:
        """The samples of a row as records, in the order of their numbers; empty cells are no sample."""
        shared = _taken(row, self.shared)
        for places in self.samples:
            own = _taken(row, places)
            if any(value is not None for value in own.values()):
                yield {**shared, **own}


@dataclass
class Gathering:
    """Samples of a row whose cells come stretch by stretch; only what a sample still lacks is waited for."""

    shape: Shape
    _cells: dict[int, object] = field(default_factory=dict)
    _done: int = 0  # samples of the row at hand

    def records(self, first: int, cells: Sequence[object], last: bool) -> Iterator[Mapping[str, object]]:
        """The samples that are complete with the cells from column `first` on."""
        if first == 0:
            self._cells, self._done = {}, 0
        self._cells.update(enumerate(cells, first))
        seen = first + len(cells)
        while self._done < len(self.shape.samples):
            places = self.shape.samples[self._done]
            if not last and any(at >= seen for _, at in (*places, *self.shape.shared)):
                return
            self._done += 1
            shared = {key: self._cells[at] for key, at in self.shape.shared if at in self._cells}
            own = {key: self._cells.pop(at) for key, at in places if at in self._cells}
            if any(value is not None for value in own.values()):
                yield {**shared, **own}


def shape(columns: Sequence[str]) -> Shape | None:
    """The shape of a table with these columns; None for one that holds no samples."""
    if holds_sample(columns):
        return Shape((_places(enumerate(columns)),), width=len(columns))
    numbered: dict[int, list[tuple[int, str]]] = defaultdict(list)
    shared: list[tuple[int, str]] = []
    for at, column in enumerate(columns):
        if match := _NUMBERED.fullmatch(column):
            numbered[int(match[2])].append((at, match[1]))
        else:
            shared.append((at, column))
    common = _places(shared)
    wide = [_places(found) for _, found in sorted(numbered.items())]
    whole = tuple(own for own in wide if holds_sample([key for key, _ in (*common, *own)]))
    return Shape(whole, common, len(columns)) if whole else None


def _places(found: Iterable[tuple[int, str]]) -> Places:
    places: dict[str, int] = {}
    for at, key in found:
        places.setdefault(key, at)
    return tuple(places.items())


def _taken(row: Sequence[object], places: Places) -> dict[str, object]:
    return {key: row[at] for key, at in places if at < len(row)}
