"""Plan -> rows: fetches values from the spool, a row group at a time, and settles disagreements.

Within a row the records come in order of trust. An absent value is filled from the next record. Two values
of one source: the last one wins ("repeat"). Two sources: one value written with different precision is one
value, the finer is kept; really different ones keep the first and tell ("conflict").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sitegen.archive.agree import finer, same
from sitegen.archive.merge import Plan
from sitegen.archive.spool import Part, Spool
from sitegen.model import Floats, Ints

CELLS = 1 << 21  # values per row group: 16 MB


@dataclass(frozen=True, slots=True)
class Extra:
    """What one finite column cannot hold."""

    kind: str  # "non_finite", "repeat" or "conflict"
    segment: int
    step: int
    name: str
    raw: str
    value: float | None
    source: str
    live: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Rows `first` to `first + n` of a run: `values[j, i]` is metric j (in the order of `Gatherer.names`)."""

    first: int
    values: Floats  # (metrics, n), NaN = absent
    extras: tuple[Extra, ...]


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
        found: set[str] = set()
        seen: set[tuple[str, ...]] = set()
        for number in np.unique(self.plan.parts).tolist():
            part = self.spool.get(number)
            if part.names not in seen:
                seen.add(part.names)
                found.update(part.names)
            found.update(each.name for each in part.non_finite)
        self.names = tuple(sorted(found))
        self._place = {name: i for i, name in enumerate(self.names)}

    def groups(self) -> Iterator[Group]:
        """Row groups in order; at least one when there are rows."""
        size = max(64, min(8192, CELLS // max(1, len(self.names))))
        for first in range(0, len(self.plan.step), size):
            yield self._group(first, min(first + size, len(self.plan.step)))

    def _group(self, first: int, end: int) -> Group:
        values = np.full((len(self.names), end - first), np.nan)
        span = slice(*np.searchsorted(self.plan.row, [first, end]))
        row = self.plan.row[span]
        layer = np.arange(len(row)) - np.searchsorted(row, row)
        extras: list[Extra] = []
        non_finite: dict[tuple[int, str], dict[str, int]] = {}
        for depth in range(int(layer.max()) + 1 if len(layer) else 0):
            records = np.flatnonzero(layer == depth) + span.start
            for number in dict.fromkeys(self.plan.parts[records].tolist()):
                mine = records[self.plan.parts[records] == number]
                part = self.spool.get(number)
                self._fill(values, first, mine, part, depth, extras)
                self._non_finite(mine, part, non_finite)
        extras += self._spelled(non_finite)
        return Group(first, values, tuple(extras))

    def _columns(self, names: tuple[str, ...]) -> Ints:
        if names not in self._maps:
            if len(self._maps) > 256:
                self._maps.clear()
            self._maps[names] = np.array([self._place[name] for name in names], dtype=np.int64)
        return self._maps[names]

    def _fill(
        self, values: Floats, first: int, records: Ints, part: Part, depth: int, extras: list[Extra]
    ) -> None:
        if not part.names:
            return
        where = np.ix_(self._columns(part.names), self.plan.row[records] - first)
        block = part.values[:, self.plan.index[records]]
        if depth == 0:
            values[where] = block
            return
        old = values[where]
        values[where] = self._settled(old, block, records, part, extras)

    def _settled(self, old: Floats, new: Floats, records: Ints, part: Part, extras: list[Extra]) -> Floats:
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
        for j, i in np.argwhere(lost):
            value = old[j, i] if repeated[i] else new[j, i]
            self._disagree(bool(repeated[i]), int(records[i]), part.names[j], float(value), extras)
        return result

    def _disagree(self, repeat: bool, record: int, name: str, value: float, extras: list[Extra]) -> None:
        plan = self.plan
        row = int(plan.row[record])
        other = self.paths[int(plan.origin[record])]
        kept = other if repeat else self.paths[int(plan.origin[int(np.searchsorted(plan.row, row))])]
        kind = "repeat" if repeat else "conflict"
        step = int(plan.step[row])
        extras.append(
            Extra(kind, int(plan.segment[row]), step, name, repr(value), value, other, bool(plan.live[row]))
        )
        noted = self.disagreements.setdefault(
            (kind, kept, other), Disagreement(kind, (kept, other), 0, step, name)
        )
        noted.values += 1

    def _non_finite(self, records: Ints, part: Part, found: dict[tuple[int, str], dict[str, int]]) -> None:
        if not part.non_finite:
            return
        place = dict(zip(self.plan.index[records].tolist(), records.tolist(), strict=True))
        for each in part.non_finite:
            record = place.get(each.row)
            if record is not None:
                raws = found.setdefault((int(self.plan.row[record]), each.name), {})
                raws.setdefault(each.raw, record)

    def _spelled(self, found: dict[tuple[int, str], dict[str, int]]) -> Iterator[Extra]:
        """One entry per spelling; "null" goes where another source says what it was."""
        plan = self.plan
        for (row, name), raws in sorted(found.items()):
            for raw in [raw for raw in raws if raw != "null"] or ["null"]:
                yield Extra(
                    "non_finite", int(plan.segment[row]), int(plan.step[row]), name, raw, None,
                    self.paths[int(plan.origin[raws[raw]])], bool(plan.live[row]),
                )  # fmt: skip


def masked_last(values: NDArray[np.float64]) -> Floats:
    """Last value of each row of a matrix that is not NaN."""
    present = ~np.isnan(values)
    last = values.shape[1] - 1 - np.argmax(present[:, ::-1], axis=1)
    result: Floats = values[np.arange(len(values)), last]
    return result
