"""Several sources, one run: which records make up which row.

Every source is cut into segments, segments of several sources are joined into attempts. The attempts in
order of time are the segments of the run, and within one a step is one row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sitegen.archive.attempts import Attempt, hand_back, joined_attempts, names_of, order
from sitegen.archive.segments import Split, split
from sitegen.archive.spool import Spool
from sitegen.archive.stage import Records, Staged
from sitegen.model import Floats, Ints, Segment, SourceFile

# whose value wins. Those with every digit come first, float32 last
_RANK = {"filelogger": 0, "seed-metrics": 1, "wandb": 1, "seed-debug": 3, "tensorboard": 3}


_OTHERS = 2


def trusted(files: Sequence[SourceFile]) -> list[SourceFile]:
    """Sources in the order in which their values count."""
    return sorted(files, key=lambda each: _RANK.get(each.format, _OTHERS))


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


def plan(staged: Sequence[Staged], spool: Spool) -> Plan:
    """Rows of a run from its sources."""
    splits = [split(each, names_of(each, spool)) for each in staged]
    found, number = joined_attempts(staged, splits, spool)
    rank = order(staged, found)
    hand_back(staged, splits, found, number, rank, spool)
    return _rows(staged, splits, number, rank, [found[i] for i in np.argsort(rank)])


def _rows(
    staged: Sequence[Staged],
    splits: Sequence[Split],
    number: Sequence[Ints],
    rank: NDArray[np.int64],
    attempts: Sequence[Attempt],
) -> Plan:
    records = [each.records for each in staged]
    origin = np.repeat(np.arange(len(staged)), [len(r.steps) for r in records])
    segment = rank[np.concatenate(number)] if len(attempts) else np.empty(0, dtype=np.int64)
    step = _all(records, "steps").astype(np.int64)
    priority = np.array(
        [_RANK.get(each.file.format, _OTHERS) * len(staged) + i for i, each in enumerate(staged)]
    )
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
    segment: Ints, step: Ints, attempts: Sequence[Attempt], staged: Sequence[Staged]
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
