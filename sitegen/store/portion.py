"""How many runs are made into relations at a time: as many as fit in memory side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from sitegen.store import frames
from sitegen.store.frames import Shelf

#: 60 000 rows with every column that cards name are some 90 MB of tables, twice that while they are made;
#: several processes may hold such a portion.
ROWS = 60_000
RUNS = 200


def portions(shelf: Shelf, runs: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """`runs` in their order, cut so that no portion has more than ROWS rows or RUNS runs.

    Portions are alike where runs allow it: the largest decides what memory is needed, and a small rest costs
    as much planning as a full one. A run that is longer than a portion is one of its own.
    """
    rows = {run: min(shelf.run(run).steps, frames.ROWS) for run in runs}
    fair = _fair(list(rows.values()))
    portion: list[str] = []
    held = 0
    for run in runs:
        full = held + rows[run] > ROWS or len(portion) == RUNS
        if portion and (full or held + rows[run] / 2 > fair):
            yield tuple(portion)
            portion, held = [], 0
        portion.append(run)
        held += rows[run]
    if portion:
        yield tuple(portion)


def _fair(rows: Sequence[int]) -> float:
    """Rows of each portion if all were alike."""
    count = max(math.ceil(sum(rows) / ROWS), math.ceil(len(rows) / RUNS), 1)
    return sum(rows) / count
