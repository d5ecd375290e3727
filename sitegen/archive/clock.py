"""When a run began and ended, and whether it ended by itself, as far as its logs can tell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sitegen.archive.merge import Plan
from sitegen.archive.stage import Staged

LATE = 0.8  # share of the rows that must lie before the last one with a time


def span(staged: Sequence[Staged], rows: Plan) -> tuple[float | None, float | None]:
    """Unix seconds of the first and the last time stamp.

    The end is None when the last stamp says nothing about the last step: many logs show the time while they
    start and never again.
    """
    known = np.flatnonzero(np.isfinite(rows.time))
    times = [*rows.time[known].tolist(), *(t for each in staged for t in each.times)]
    if not times:
        return None, None
    to_the_end = len(known) > 1 and known[-1] >= LATE * (len(rows.step) - 1)
    covered = not len(rows.step) or to_the_end or any(map(_timed_after_last, staged))
    return min(times), max(times) if covered else None


def _timed_after_last(staged: Staged) -> bool:
    lines = staged.records.lines
    last = int(lines[-1]) if len(lines) else None
    return last is not None and any(line.time is not None and line.line > last for line in staged.log_lines)


def finished(staged: Staged) -> bool:
    """Whether the log says that training ended by itself, and logs no further step after that."""
    steps = staged.records.steps
    return any(
        line.kind == "finished" and (not len(steps) or (line.step is not None and line.step >= steps[-1]))
        for line in staged.log_lines
    )
