"""Several sources, one run: which records make up which row.

Every source is cut into segments first. A segment joins an attempt that is already known when the two share
steps and their values agree, or when they log different metrics over the same steps; otherwise it is an
attempt of its own. Attempts in order of time are the segments of the run, and within one a step is one row.
The source with most records goes first, so that a FileLogger file that a resume overwrote
finds the console log's second segment to join.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sitegen.archive.agree import same
from sitegen.archive.segments import Names, Split, split
from sitegen.archive.spool import Spool
from sitegen.archive.stage import Records, Staged
from sitegen.model import Floats, Ints, Segment

SAMPLE = 40  # steps compared to see whether two segments agree
PAIRS = 4_000  # segments compared with each other; sources with more are compared one segment with its like
_RANK = {"filelogger": 0, "seed-metrics": 1, "seed-debug": 3}  # whose value wins; others 2


@dataclass(frozen=True, slots=True)
class Plan:
    """Rows of a run, n of them, in order of time, and the records (m of them, by row) that fill them."""

    segment: Ints  # (n,)
    step: Ints  # (n,)
    live: NDArray[np.bool_]  # (n,) no later segment rewrote this step
    time: Floats  # (n,)
    line: Ints  # (n,)
    cut: NDArray[np.bool_]  # (n,)
    source: tuple[str, ...]  # (n,) names of the sources, joined by ", "
    row: Ints  # (m,) ascending; within a row the record whose value wins comes first
    origin: Ints  # (m,) number of the source
    parts: Ints  # (m,)
    index: Ints  # (m,)
    segments: tuple[Segment, ...]


@dataclass
class _Attempt:
    steps: Ints
    origin: list[tuple[int, int]]  # (source, segment) that make it up
    places: dict[int, tuple[int, int]] = field(
        default_factory=dict
    )  # sampled lookups: step -> (source, record)
    reason: str = "start"

    def has(self, step: int) -> bool:
        i = int(np.searchsorted(self.steps, step))
        return i < len(self.steps) and int(self.steps[i]) == step


def plan(staged: Sequence[Staged], spool: Spool) -> Plan:
    """Rows of a run from its sources."""
    splits = [split(each, _names_of(each, spool)) for each in staged]
    attempts, number = _attempts(staged, splits, spool)
    rank = _order(staged, attempts)
    return _rows(staged, splits, number, rank, [attempts[i] for i in np.argsort(rank)])


def values_at(staged: Staged, record: int, spool: Spool) -> dict[str, float]:
    """Finite values of one record."""
    part = spool.get(int(staged.records.parts[record]))
    column = part.values[:, int(staged.records.index[record])]
    return {name: float(v) for name, v in zip(part.names, column, strict=True) if v == v}


def _names_of(staged: Staged, spool: Spool) -> Names:
    return lambda record: frozenset(values_at(staged, record, spool))


def _attempts(
    staged: Sequence[Staged], splits: Sequence[Split], spool: Spool
) -> tuple[list[_Attempt], list[Ints]]:
    """Attempts, and for each source the attempt of each record."""
    alone = [s for s, each in enumerate(splits) if each.reasons]
    if len(alone) == 1:
        return _alone(alone[0], staged, splits)
    attempts: list[_Attempt] = []
    number = [np.zeros(len(each.records.steps), dtype=np.int64) for each in staged]
    biggest = sorted(range(len(staged)), key=lambda s: (-len(staged[s].records.steps), staged[s].file.path))
    for s in biggest:
        known = len(attempts)
        few = known * len(splits[s].reasons) <= PAIRS
        groups = _groups(splits[s].segment)
        for segment, reason in enumerate(splits[s].reasons):
            where = groups[segment]
            others = range(known) if few else range(min(segment, known), min(segment + 1, known))
            joined = _joined({i: _likeness(staged, s, where, attempts[i], spool) for i in others})
            if not joined:
                attempts.append(
                    _Attempt(np.unique(staged[s].records.steps[where]), [(s, segment)], reason=reason)
                )
                number[s][where] = len(attempts) - 1
            else:
                number[s][where] = _spread(staged[s].records.steps[where], joined, attempts)
            for i in np.unique(number[s][where]):
                mine = where[number[s][where] == i]
                _grow(attempts[int(i)], s, segment, staged[s].records.steps[mine], mine)
    return attempts, number


def _groups(segment: Ints) -> list[Ints]:
    """Positions of each segment's records."""
    order = np.argsort(segment, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(segment[order])) + 1)


def _alone(s: int, staged: Sequence[Staged], splits: Sequence[Split]) -> tuple[list[_Attempt], list[Ints]]:
    """The common case: one source holds all records, its segments are the attempts."""
    nothing = np.empty(0, dtype=np.int64)
    attempts = [_Attempt(nothing, [(s, i)], reason=reason) for i, reason in enumerate(splits[s].reasons)]
    return attempts, [splits[s].segment if i == s else nothing for i in range(len(staged))]


def _grow(attempt: _Attempt, source: int, segment: int, steps: Ints, records: Ints) -> None:
    attempt.steps = np.union1d(attempt.steps, steps)
    if (source, segment) not in attempt.origin:
        attempt.origin.append((source, segment))
    for step, record in zip(steps.tolist(), records.tolist(), strict=True):
        attempt.places.setdefault(step, (source, record))


def _joined(likeness: Mapping[int, tuple[int, int] | None]) -> list[int]:
    """Attempts that a segment is part of, given (like, unlike) values shared with each, None for no overlap.

    A third may differ (a conflict, to be told), unless another attempt matches without any difference.
    """
    found = {i: each[1] for i, each in likeness.items() if each is not None and each[1] <= sum(each) / 3}
    exact = [i for i, unlike in found.items() if unlike == 0]
    return exact or list(found)


def _likeness(
    staged: Sequence[Staged], s: int, where: Ints, attempt: _Attempt, spool: Spool
) -> tuple[int, int] | None:
    """Values that records `where` of source `s` share with an attempt: (like, unlike)."""
    steps = staged[s].records.steps[where]
    shared = np.flatnonzero(np.isin(steps, attempt.steps))
    if not len(shared):
        beside = steps[0] <= attempt.steps[-1] and steps[-1] >= attempt.steps[0]
        return (0, 0) if beside else None
    picked = shared[np.unique(np.linspace(0, len(shared) - 1, SAMPLE).astype(int))]
    like = unlike = 0
    for i in picked:
        source, record = attempt.places[int(steps[i])]
        mine = values_at(staged[s], int(where[i]), spool)
        other = values_at(staged[source], record, spool)
        names = sorted(mine.keys() & other.keys())
        match = same(np.array([mine[n] for n in names]), np.array([other[n] for n in names]))
        like += int(match.sum())
        unlike += int((~match).sum())
    return like, unlike


def _spread(steps: Ints, joined: list[int], attempts: list[_Attempt]) -> Ints:
    """Attempt for each step: the last one whose range holds it, else the last that begins before it."""
    result = np.full(len(steps), joined[0], dtype=np.int64)
    for i in joined:
        result[steps >= attempts[i].steps[0]] = i
    return result


def _order(staged: Sequence[Staged], attempts: Sequence[_Attempt]) -> NDArray[np.int64]:
    """Rank of each attempt in time: by the source it was seen in, then by its place in that source."""
    with_records = [s for s in range(len(staged)) if len(staged[s].records.steps)]
    begun = {s: _begun(staged[s]) for s in with_records}
    timed = all(time is not None for time in begun.values())
    by_age = sorted(
        with_records,
        key=lambda s: (
            begun[s] if timed else 0.0,
            staged[s].file.first_step,
            natural(staged[s].file.path),
        ),
    )
    age = {s: i for i, s in enumerate(by_age)}
    keys = [min((age[s], segment) for s, segment in attempt.origin) for attempt in attempts]
    rank = np.empty(len(attempts), dtype=np.int64)
    rank[sorted(range(len(attempts)), key=lambda i: keys[i])] = np.arange(len(attempts))
    return rank


def _begun(staged: Staged) -> float | None:
    times = staged.records.times[np.isfinite(staged.records.times)]
    logged = [line.time for line in staged.log_lines if line.time is not None]
    known = [*times[:1].tolist(), *logged[:1]]
    return min(known) if known else None


def natural(path: str) -> list[tuple[int, int | str]]:
    """Sort key in which `log.10` comes after `log.9`."""
    parts = re.split(r"(\d+)", path)
    return [(0, int(p)) if p.isdigit() and p.isascii() else (1, p) for p in parts]


def _rows(
    staged: Sequence[Staged],
    splits: Sequence[Split],
    number: Sequence[Ints],
    rank: NDArray[np.int64],
    attempts: Sequence[_Attempt],
) -> Plan:
    records = [each.records for each in staged]
    origin = np.repeat(np.arange(len(staged)), [len(r.steps) for r in records])
    segment = rank[np.concatenate(number)] if len(attempts) else np.empty(0, dtype=np.int64)
    step = _all(records, "steps").astype(np.int64)
    priority = np.array([_RANK.get(each.file.format, 2) * len(staged) + i for i, each in enumerate(staged)])
    place = np.arange(len(step))
    order = np.lexsort((place, priority[origin], step, segment)) if len(step) else place
    segment, step, origin = segment[order], step[order], origin[order]
    opens = np.ones(len(step), dtype=bool)
    opens[1:] = (np.diff(segment) != 0) | (np.diff(step) != 0)
    starts = np.flatnonzero(opens)
    rows_segment, rows_step = segment[starts], step[starts]
    names = [each.file.path for each in staged]
    bounds = np.append(starts, len(step))
    return Plan(
        segment=rows_segment,
        step=rows_step,
        live=_live(rows_segment, rows_step),
        time=np.fmin.reduceat(_all(records, "times")[order], starts) if len(starts) else np.empty(0),
        line=_all(records, "lines")[order][starts].astype(np.int64),
        cut=_cut(staged, _all(records, "cut")[order].astype(np.bool_), origin, bounds),
        source=_contributors(names, origin, bounds),
        row=np.cumsum(opens) - 1,
        origin=origin,
        parts=_all(records, "parts")[order].astype(np.int64),
        index=_all(records, "index")[order].astype(np.int64),
        segments=_segments(rows_segment, rows_step, attempts, staged),
    )


def _all(records: Sequence[Records], name: str) -> NDArray[Any]:
    """One array of all sources' records."""
    return np.concatenate([np.empty(0, dtype=np.int64), *(getattr(each, name) for each in records)])


def _live(segment: Ints, step: Ints) -> NDArray[np.bool_]:
    """Rows whose step no later segment has."""
    live = np.ones(len(step), dtype=np.bool_)
    order = np.lexsort((segment, step))
    live[order[:-1]] = np.diff(step[order]) != 0
    return live


def _cut(staged: Sequence[Staged], cut: NDArray[np.bool_], origin: Ints, bounds: Ints) -> NDArray[np.bool_]:
    """Rows that lost their end: a cut record, and no whole one of another source that logs everything."""
    result = np.zeros(len(bounds) - 1, dtype=np.bool_)
    if not len(cut) or not cut.any():
        return result
    row_of = np.repeat(np.arange(len(result)), np.diff(bounds))
    for row in np.unique(row_of[cut]):
        span = slice(bounds[row], bounds[row + 1])
        lost = set(origin[span][cut[span]].tolist())
        others = set(origin[span].tolist()) - lost
        result[row] = not any(staged[s].file.format != "seed-debug" for s in others)
    return result


def _contributors(names: Sequence[str], origin: Ints, bounds: Ints) -> tuple[str, ...]:
    if len(names) == 1:
        return (names[0],) * (len(bounds) - 1)
    sources = origin.tolist()
    ends = bounds.tolist()
    known: dict[tuple[int, ...], str] = {}
    result = []
    for a, b in pairwise(ends):
        key = tuple(sources[a:b])
        if key not in known:
            known[key] = ", ".join(dict.fromkeys(names[s] for s in key))
        result.append(known[key])
    return tuple(result)


def _segments(
    segment: Ints, step: Ints, attempts: Sequence[_Attempt], staged: Sequence[Staged]
) -> tuple[Segment, ...]:
    found = []
    edges = np.searchsorted(segment, np.arange(len(attempts) + 1))
    for i, attempt in enumerate(attempts):
        a, b = int(edges[i]), int(edges[i + 1])
        source, number = attempt.origin[0]
        reason = attempt.reason
        if number == 0 and i > 0 and reason == "start":
            reason = "new file"
        path = staged[source].file.path
        found.append(Segment(i, int(step[a]), int(step[b - 1]), b - a, path, reason))
    return tuple(found)
