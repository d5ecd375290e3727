"""Incidents of other runs that look like one: a rule of the same group, curve, and changes beside it.

Two incidents are compared where their rules are of one group (KL, GRD, …). Their likeness is a sum of

    0.35  the rule is the same
    0.35  x correlation of the curves around the onset, each stretched to 16 points before it and 16 after
    0.20  x mean of exp(-|difference|) over the metrics that both tell before and after, in doublings
    0.05  the algorithm is the same, 0.05 the model

and counts from 0.55 on: the same rule with a curve that is half alike, or another rule of the group with
everything alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sitegen.model import Floats, Severity
from sitegen.reports.shapes import IncidentRow

MOST = 5  # incidents that one is compared with on its page
LEAST = 0.55
_RULE, _CURVE, _CHANGES, _SETUP = 0.35, 0.35, 0.2, 0.05
_HALF = 16  # points of a curve before the onset, and after it
_ALIKE = 0.8  # correlation that is worth a word
_ROWS = 128  # compared at a time: bounded memory for thousands of incidents


@dataclass(frozen=True, slots=True)
class Alike:
    """An incident that looks like another one."""

    row: IncidentRow
    likeness: float  # 0-1
    curve: float | None  # correlation of the curves; None where one of them has none
    same_rule: bool


def similar(rows: Sequence[IncidentRow]) -> dict[str, tuple[Alike, ...]]:
    """Incident id -> up to MOST earlier ones of other runs, likest first, one of each run.

    Remarks are left out on both sides. An incident without a date may be earlier than any other.
    """
    groups: dict[str, list[IncidentRow]] = defaultdict(list)
    for row in sorted(rows, key=lambda one: one.id):
        if row.severity > Severity.INFO:
            groups[row.rule.partition("-")[0]].append(row)
    return {name: found for members in groups.values() for name, found in _of_group(members)}


def _of_group(rows: Sequence[IncidentRow]) -> Iterator[tuple[str, tuple[Alike, ...]]]:
    marks = _Marks(rows)
    for first in range(0, len(rows), _ROWS):
        here = np.arange(first, min(first + _ROWS, len(rows)))
        curves, total = marks.compared(here)
        for at, likeness, curve in zip(here.tolist(), total, curves, strict=True):
            yield rows[at].id, tuple(_likest(rows, at, likeness, curve))


def _likest(rows: Sequence[IncidentRow], at: int, likeness: Floats, curves: Floats) -> Iterator[Alike]:
    """The best of each other run; equal ones in the order of their ids."""
    mine, seen = rows[at], {rows[at].run}
    for other in np.argsort(-likeness, kind="stable").tolist():
        row = rows[other]
        if likeness[other] < LEAST or len(seen) > MOST:
            return
        if row.run not in seen and _earlier(row, mine):
            seen.add(row.run)
            curve = float(curves[other])
            yield Alike(
                row, float(likeness[other]), None if np.isnan(curve) else curve, row.rule == mine.rule
            )


def _earlier(row: IncidentRow, than: IncidentRow) -> bool:
    if row.happened_at is None or than.happened_at is None:
        return True
    return row.happened_at <= than.happened_at


class _Marks:
    """What incidents (n,) of one group are compared by."""

    def __init__(self, rows: Sequence[IncidentRow]) -> None:
        self.rule, self.algorithm, self.model = (
            _numbered([getattr(row, name) for row in rows]) for name in ("rule", "algorithm", "model")
        )
        self.curve = np.stack([_curve(row) for row in rows])  # (n, 2 * _HALF), unit length or NaN
        self.changes = _table([row.changes for row in rows])  # (n, metrics), NaN = not told

    def compared(self, here: np.ndarray[tuple[int], np.dtype[np.int64]]) -> tuple[Floats, Floats]:
        """Correlation of curves and likeness of the incidents `here` (m,) with all: (m, n) each."""
        curves = self.curve[here] @ self.curve.T
        apart = np.exp(-np.abs(self.changes[here, None, :] - self.changes[None, :, :]))
        told = ~np.isnan(apart)
        moved = np.where(told, apart, 0.0).sum(axis=2) / np.maximum(told.sum(axis=2), 1)
        total = _RULE * _same(self.rule, here) + _CURVE * np.nan_to_num(np.maximum(curves, 0.0))
        total += _CHANGES * moved
        total += _SETUP * (_same(self.algorithm, here) + _same(self.model, here))
        return curves, np.asarray(total)


def _numbered(words: Sequence[str | None]) -> Floats:
    """A number per word (n,); NaN, which is like nothing, where there is none."""
    known = {word: float(number) for number, word in enumerate(sorted({word for word in words if word}))}
    return np.array([known.get(word or "", np.nan) for word in words], dtype=np.float64)


def _same(numbers: Floats, here: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Floats:
    return np.asarray(numbers[here, None] == numbers[None, :], dtype=np.float64)


def _curve(row: IncidentRow) -> Floats:
    """The spark around the onset as (2 * _HALF,) of mean 0 and length 1; NaN where it says nothing."""
    values = np.array([np.nan if value is None else value for value in row.spark], dtype=np.float64)
    there = np.flatnonzero(np.isfinite(values))
    nothing = np.full(2 * _HALF, np.nan)
    if len(there) < 3:
        return nothing
    place = there / max(1, len(values) - 1)
    at = np.concatenate((np.linspace(0, row.onset, _HALF, endpoint=False), np.linspace(row.onset, 1, _HALF)))
    with np.errstate(over="ignore", invalid="ignore"):  # values near the end of what doubles hold
        line = np.interp(at, place, values[there] / np.abs(values[there]).max(initial=1e-300))
        line -= line.mean()
        length = np.linalg.norm(line)
        return line / length if np.isfinite(length) and length > 1e-12 else nothing


def _table(changes: Sequence[Mapping[str, float]]) -> Floats:
    names = sorted({name for one in changes for name in one})
    return np.array([[one.get(name, np.nan) for name in names] for one in changes], dtype=np.float64).reshape(
        len(changes), len(names)
    )


def why(found: Alike) -> str:
    """What makes it alike, in words."""
    parts = ["same rule"] if found.same_rule else []
    if found.curve is not None and found.curve >= _ALIKE:
        parts.append(f"curve {found.curve:.0%} alike")
    return ", ".join(parts) or "much the same changes"
