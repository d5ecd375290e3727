"""Plan -> rows: fetches values from the spool, a row group at a time, and settles disagreements.

Within a row the records come in order of trust. An absent value is filled from the next record. Two values
of one source: the last one wins ("repeat"). Two sources: one value written with different precision is one
value, the finer is kept; really different ones keep the first and tell ("conflict").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sitegen.archive.agree import Bools, finer, same
from sitegen.archive.extras import KINDS, NUMBER, Extras, not_finite
from sitegen.archive.merge import Plan
from sitegen.archive.spool import Part, Spool
from sitegen.model import Floats, Ints

CELLS = 1 << 21  # values per row group at most: 16 MB
ROWS = 1 << 14  # rows per row group at most
EXTRAS = 500_000  # entries that may wait for the end of a row group


@dataclass(frozen=True, slots=True)
class Group:
    """Rows `first` to `first + n` of a run: `values[j, i]` is metric j (in the order of `Gatherer.names`)."""

    first: int
    values: Floats  # (metrics, n), NaN = absent
    extras: Extras


@dataclass
class Disagreement:
    """Values of one metric and step that differ, counted per pair of sources."""

    kind: str
    sources: tuple[str, str]  # kept, other
    values: int = 0
    step: int = 0
    name: str = ""


@dataclass
class Gatherer:
    """Makes row groups of a plan. Iterate `groups` once; `disagreements` is complete afterwards."""

    plan: Plan
    spool: Spool
    paths: Sequence[str]
    names: tuple[str, ...] = ()
    disagreements: dict[tuple[str, str, str], Disagreement] = field(default_factory=dict)
    _place: dict[str, int] = field(default_factory=dict)
    _maps: dict[tuple[str, ...], Ints] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names = tuple(sorted(self.spool.names))
        self._place = {name: i for i, name in enumerate(self.names)}

    def groups(self) -> Iterator[Group]:
        """Row groups in order; at least one when there are rows."""
        size = max(64, min(ROWS, CELLS // max(1, len(self.names))))
        for first in range(0, len(self.plan.step), size):
            yield from self._group(first, min(first + size, len(self.plan.step)))

    def _group(self, first: int, end: int) -> Iterator[Group]:
        """The group of some rows, after groups of no rows that hold extras when there are very many."""
        values = np.full((len(self.names), end - first), np.nan)
        span = slice(*np.searchsorted(self.plan.row, [first, end]).tolist())
        extras: list[Extras] = []
        waiting = 0
        for depth, records in _layers(self.plan.row[span], span.start):
            for part, mine in self._by_part(records):
                waiting += self._fill(values, first, mine, part, depth, extras)
            if waiting > EXTRAS:
                yield Group(first, values[:, :0], Extras.joined(extras))
                extras, waiting = [], 0
        odd = [self._odd(mine, part) for part, mine in self._by_part(np.arange(span.start, span.stop))]
        extras.append(not_finite(*(np.concatenate(each) for each in zip(*odd, strict=True))))
        yield Group(first, values, Extras.joined(extras))

    def _by_part(self, records: Ints) -> Iterator[tuple[Part, Ints]]:
        """Records by the part that holds their values."""
        numbers = self.plan.parts[records]
        for number in dict.fromkeys(numbers.tolist()):
            yield self.spool.get(number), records[numbers == number]

    def _columns(self, names: tuple[str, ...]) -> Ints:
        if names not in self._maps:
            if len(self._maps) > 256:
                self._maps.clear()
            self._maps[names] = np.array([self._place[name] for name in names], dtype=np.int64)
        return self._maps[names]

    def _fill(
        self, values: Floats, first: int, records: Ints, part: Part, depth: int, extras: list[Extras]
    ) -> int:
        """Put a part's values of `records` into their rows; returns how many values gave way to others."""
        if not part.names:
            return 0
        names, rows = self._columns(part.names), _span(self.plan.row[records] - first)
        where = (names, rows) if isinstance(rows, slice) else np.ix_(names, rows)
        block = part.values[:, _span(self.plan.index[records])]
        if depth == 0:
            values[where] = block
            return 0
        before = len(extras)
        values[where] = self._settled(values[where], block, records, part, extras)
        return sum(len(each) for each in extras[before:])

    def _settled(self, old: Floats, new: Floats, records: Ints, part: Part, extras: list[Extras]) -> Floats:
        """Values to keep of two blocks (metrics, records)."""
        absent = np.isnan(old)
        result = np.where(absent, new, old)
        both = ~absent & ~np.isnan(new)
        if not both.any():
            return result
        repeated = self.plan.origin[records] == self.plan.origin[records - 1]
        alike = same(old, new)
        better = both & alike & finer(old, new) & ~repeated
        replaced = both & repeated & (old != new)
        result = np.where(better | replaced, new, result)
        lost = replaced | (both & ~alike & ~repeated)
        if lost.any():
            self._disagree(lost, np.where(repeated, old, new), repeated, records, part, extras)
        return result

    def _disagree(
        self, lost: Bools, values: Floats, repeated: Bools, records: Ints, part: Part, extras: list[Extras]
    ) -> None:
        """Note values (metrics, records) that gave way."""
        plan = self.plan
        j, i = np.nonzero(lost)
        rows, origins = plan.row[records[i]], plan.origin[records[i]]
        kinds = np.where(repeated[i], KINDS.index("repeat"), KINDS.index("conflict"))
        raws = np.full(len(rows), NUMBER, dtype=np.int64)
        extras.append(Extras(kinds, rows, self._columns(part.names)[j], raws, values[j, i], origins))
        kept = np.where(repeated[i], origins, plan.origin[np.searchsorted(plan.row, rows)])
        for key in dict.fromkeys(zip(kinds.tolist(), kept.tolist(), origins.tolist(), strict=True)):
            mine = np.flatnonzero((kinds == key[0]) & (kept == key[1]) & (origins == key[2]))
            first = int(mine[np.argmin(rows[mine])])
            step, name = int(plan.step[rows[first]]), part.names[int(j[first])]
            paths = (self.paths[key[1]], self.paths[key[2]])
            known = self.disagreements.setdefault(
                (KINDS[key[0]], *paths), Disagreement(KINDS[key[0]], paths, 0, step, name)
            )
            known.values += len(mine)

    def _odd(self, records: Ints, part: Part) -> tuple[Ints, Ints, Ints, Ints]:
        """Rows, metrics, spellings and sources of a part's non-finite values that `records` carry."""
        place = np.full(part.values.shape[1], -1, dtype=np.int64)
        place[self.plan.index[records]] = records
        record = place[part.odd.rows]
        there = record >= 0
        record = record[there]
        names = self._columns(part.odd.table)[part.odd.names[there]]
        return self.plan.row[record], names, part.odd.raws[there], self.plan.origin[record]


def _layers(row: Ints, start: int) -> Iterator[tuple[int, Ints]]:
    """First records of all rows, then their second ones, and so on; `row` ascends, numbers begin at start."""
    layer = np.arange(len(row)) - np.searchsorted(row, row)
    order = np.argsort(layer, kind="stable")
    ends = np.searchsorted(layer[order], np.arange(int(layer.max(initial=-1)) + 2))
    for depth, (a, b) in enumerate(pairwise(ends.tolist())):
        yield depth, order[a:b] + start


def _span(places: Ints) -> slice | Ints:
    """Places that follow one another as a slice, which is copied several times as fast."""
    if len(places) and (np.diff(places) == 1).all():
        return slice(int(places[0]), int(places[-1]) + 1)
    return places


def masked_last(values: NDArray[np.float64]) -> Floats:
    """Last value of each row of a matrix that is not NaN."""
    present = ~np.isnan(values)
    last = values.shape[1] - 1 - np.argmax(present[:, ::-1], axis=1)
    result: Floats = values[np.arange(len(values)), last]
    return result
