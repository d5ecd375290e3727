"""Columns of a table -> which of them make a sample.

verl's table for W&B has a row per validation: `step, input_1, output_1, score_1, input_2, …`. Others have a
row per sample, under the names that dumps of generations use.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sitegen.ingest.generations import holds_sample

Places = tuple[tuple[str, int], ...]  # key of a record, column of the table
_NUMBERED = re.compile(r"(.+?)_(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Shape:
    """Where the samples of a row lie, and what all samples of a row share."""

    samples: tuple[Places, ...]
    shared: Places = ()

    def records(self, row: Sequence[object]) -> Iterator[Mapping[str, object]]:
        """The samples of a row as records, in the order of their numbers; empty cells are no sample."""
        shared = _taken(row, self.shared)
        for places in self.samples:
            own = _taken(row, places)
            if any(value is not None for value in own.values()):
                yield {**shared, **own}


def shape(columns: Sequence[str]) -> Shape | None:
    """The shape of a table with these columns; None for one that holds no samples."""
    if holds_sample(columns):
        return Shape((_places(enumerate(columns)),))
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
    return Shape(whole, common) if whole else None


def _places(found: Iterable[tuple[int, str]]) -> Places:
    places: dict[str, int] = {}
    for at, key in found:
        places.setdefault(key, at)
    return tuple(places.items())


def _taken(row: Sequence[object], places: Places) -> dict[str, object]:
    return {key: row[at] for key, at in places if at < len(row)}
