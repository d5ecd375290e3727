"""Which segments of several sources are one attempt of a run.

A segment joins an attempt that is known already when the two share steps and their values agree, or when they
log different metrics over the same steps; otherwise it is an attempt of its own. One that says it resumed
from a checkpoint of the other is an attempt of its own whatever its values. The source with most records goes
first, so that a FileLogger file that a resume overwrote finds the console log's second segment to join. Logs
of the processes of one job are one attempt whatever each of them measured.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sitegen.archive import ranks
from sitegen.archive.agree import same
from sitegen.archive.segments import Names, Split, only_validates, rewrites
from sitegen.archive.spool import Spool
from sitegen.archive.stage import Staged
from sitegen.model import Ints

SAMPLE = 40  # steps compared to see whether two segments agree
PAIRS = 4_000  # segments compared with each other; sources with more are compared one segment with its like


@dataclass
class Attempt:
    steps: Ints
    origin: list[tuple[int, int]]  # (source, segment) that make it up
    places: dict[int, tuple[int, int]] = field(
        default_factory=dict
    )  # sampled lookups: step -> (source, record)
    reason: str = "start"

    def has(self, step: int) -> bool:
        i = int(np.searchsorted(self.steps, step))
        return i < len(self.steps) and int(self.steps[i]) == step


def joined_attempts(
    staged: Sequence[Staged], splits: Sequence[Split], spool: Spool
) -> tuple[list[Attempt], list[Ints]]:
    """Attempts, and for each source the attempt of each record."""
    alone = [s for s, each in enumerate(splits) if each.reasons]
    if len(alone) == 1:
        return _alone(alone[0], staged, splits)
    attempts: list[Attempt] = []
    number = [np.zeros(len(each.records.steps), dtype=np.int64) for each in staged]
    jobs = ranks.siblings(each.file.path for each in staged)
    biggest = sorted(range(len(staged)), key=lambda s: (-len(staged[s].records.steps), staged[s].file.path))
    for s in biggest:
        known = len(attempts)
        few = known * len(splits[s].reasons) <= PAIRS
        groups = _groups(splits[s].segment)
        for segment, reason in enumerate(splits[s].reasons):
            where = groups[segment]
            others = range(known) if few else range(min(segment, known), min(segment + 1, known))
            near = [i for i in others if not _apart(staged, s, where, reason, attempts[i])]
            likeness = {i: _likeness(staged, s, where, attempts[i], spool) for i in near}
            joined = _joined(likeness, staged[s].records.steps[where], attempts)
            if not joined and (job := jobs.get(staged[s].file.path)):
                joined = [i for i in others if _of_job(attempts[i], segment, job, jobs, staged)][:1]
            if not joined and len(where) == 1 and only_validates(names_of(staged[s], spool)(int(where[0]))):
                joined = [i for i in others if attempts[i].has(int(staged[s].records.steps[where[0]]))]
            if not joined:
                attempts.append(
                    Attempt(np.unique(staged[s].records.steps[where]), [(s, segment)], reason=reason)
                )
                number[s][where] = len(attempts) - 1
            else:
                number[s][where] = _spread(staged[s].records.steps[where], joined, attempts)
                if len(joined) > 1:
                    _settle(staged, s, where, joined, attempts, number[s], spool)
            for i in np.unique(number[s][where]):
                mine = where[number[s][where] == i]
                _grow(attempts[int(i)], s, segment, staged[s].records.steps[mine], mine)
    return attempts, number


def _of_job(
    attempt: Attempt, segment: int, job: str, jobs: Mapping[str, str], staged: Sequence[Staged]
) -> bool:
    """Whether another process of the job wrote the same segment into an attempt."""
    return any(
        number == segment and jobs.get(staged[source].file.path) == job for source, number in attempt.origin
    )


def hand_back(
    staged: Sequence[Staged],
    splits: Sequence[Split],
    attempts: Sequence[Attempt],
    number: Sequence[Ints],
    rank: Ints,
    spool: Spool,
) -> None:
    """Give the validation that a resumed log begins with to the attempt it resumed from, in `number`.

    It measures the weights of the checkpoint; in a row of its own it would rewrite a step trained before. A
    tracker's new file does not say that it resumed, but a training that begins validates at step 0.
    """
    for s, each in enumerate(splits):
        groups = _groups(each.segment) if len(each.segment) else []
        for where, reason in zip(groups, each.reasons, strict=False):
            first, own = int(where[0]), int(number[s][where[-1]])
            step = int(staged[s].records.steps[first])
            alone = len(where) == 1 or number[s][first] != own
            if alone or not (reason == "resume" or (reason == "start" and step > 0)):
                continue  # first of all: a log may fall back tens of thousands of times
            before = [i for i, a in enumerate(attempts) if rank[i] < rank[own] and a.has(step)]
            if before and only_validates(names_of(staged[s], spool)(first)):
                number[s][first] = max(before, key=lambda i: int(rank[i]))


def _alone(s: int, staged: Sequence[Staged], splits: Sequence[Split]) -> tuple[list[Attempt], list[Ints]]:
    """The common case: one source holds all records, its segments are the attempts."""
    nothing = np.empty(0, dtype=np.int64)
    attempts = [Attempt(nothing, [(s, i)], reason=reason) for i, reason in enumerate(splits[s].reasons)]
    return attempts, [splits[s].segment if i == s else nothing for i in range(len(staged))]


def _groups(segment: Ints) -> list[Ints]:
    """Positions of each segment's records."""
    order = np.argsort(segment, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(segment[order])) + 1)


def _grow(attempt: Attempt, source: int, segment: int, steps: Ints, records: Ints) -> None:
    attempt.steps = np.union1d(attempt.steps, steps)
    if (source, segment) not in attempt.origin:
        attempt.origin.append((source, segment))
    for step, record in zip(steps.tolist(), records.tolist(), strict=True):
        attempt.places.setdefault(step, (source, record))


def _joined(
    likeness: Mapping[int, tuple[int, int] | None], steps: Ints, attempts: Sequence[Attempt]
) -> list[int]:
    """Attempts that a segment is part of, given (like, unlike) values shared with each, None for no overlap.

    A third may differ (a conflict, to be told), unless another attempt matches without any difference. Both
    count where the segment goes on behind the one that matches: a tracker that keeps the first of a step
    logged twice has no step that falls.
    """
    found = {i: each[1] for i, each in likeness.items() if each is not None and each[1] <= sum(each) / 3}
    exact = [i for i, unlike in found.items() if unlike == 0]
    if not exact:
        return list(found)
    rest = np.setdiff1d(steps, np.concatenate([attempts[i].steps for i in exact]))
    return [i for i in found if i in exact or np.isin(rest, attempts[i].steps).any()]


def _apart(staged: Sequence[Staged], s: int, where: Ints, reason: str, attempt: Attempt) -> bool:
    """Whether one of the two resumed from a checkpoint that the other wrote, whatever their values."""
    if "resume" not in (reason, attempt.reason):
        return False
    form = staged[s].file.format
    alike = any(staged[source].file.format == form for source, _ in attempt.origin)
    steps = np.unique(staged[s].records.steps[where])
    return rewrites(reason, steps, attempt.steps, alike) or rewrites(
        attempt.reason, attempt.steps, steps, alike
    )


def _likeness(
    staged: Sequence[Staged], s: int, where: Ints, attempt: Attempt, spool: Spool
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


def values_at(staged: Staged, record: int, spool: Spool) -> dict[str, float]:
    """Finite values of one record."""
    part = spool.get(int(staged.records.parts[record]))
    column = part.values[:, int(staged.records.index[record])]
    return {name: float(v) for name, v in zip(part.names, column, strict=True) if v == v}


def names_of(staged: Staged, spool: Spool) -> Names:
    """Names that a record of a source carries."""
    return lambda record: frozenset(values_at(staged, record, spool))


def _spread(steps: Ints, joined: list[int], attempts: list[Attempt]) -> Ints:
    """Attempt for each step: the last one whose range holds it, else the last that begins before it."""
    result = np.full(len(steps), joined[0], dtype=np.int64)
    for i in joined:
        result[steps >= attempts[i].steps[0]] = i
    return result


def _settle(
    staged: Sequence[Staged],
    s: int,
    where: Ints,
    joined: Sequence[int],
    attempts: Sequence[Attempt],
    number: Ints,
    spool: Spool,
) -> None:
    """Of the attempts that trained a step give each record to the last whose values it has, in `number`.

    A tracker that keeps the first of a step logged twice holds values of an attempt and goes on in the next.
    """
    for record in where.tolist():
        step = int(staged[s].records.steps[record])
        holding = [i for i in joined if step in attempts[i].places]
        if len(holding) > 1:
            mine = values_at(staged[s], record, spool)
            fits = [i for i in holding if _unlike(mine, staged, attempts[i].places[step], spool) == 0]
            number[record] = fits[-1] if fits else number[record]


def _unlike(mine: Mapping[str, float], staged: Sequence[Staged], place: tuple[int, int], spool: Spool) -> int:
    """How many values differ from those of the record of another source at `place`."""
    other = values_at(staged[place[0]], place[1], spool)
    names = sorted(mine.keys() & other.keys())
    return int((~same(np.array([mine[n] for n in names]), np.array([other[n] for n in names]))).sum())


def order(staged: Sequence[Staged], attempts: Sequence[Attempt]) -> NDArray[np.int64]:
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
    return min((*times[:1].tolist(), *staged.times), default=None)


def natural(path: str) -> list[tuple[int, int | str]]:
    """Sort key in which `log.10` comes after `log.9`."""
    parts = re.split(r"(\d+)", path)
    return [(0, int(p)) if p.isdigit() and p.isascii() else (1, p) for p in parts]
