"""How many runs are made into relations at a time: as many as fit in memory side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sitegen.store import frames
from sitegen.store.frames import Shelf

#: 60 000 rows with every column that cards name are some 90 MB of tables, twice that while they are made;
#: several processes may hold such a portion.
ROWS = 60_000
RUNS = 200


def portions(shelf: Shelf, runs: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """`runs` in their order, cut so that no portion has more than ROWS rows or RUNS runs.

    A run that is longer than that is a portion of its own.
    """
    portion: list[str] = []
    rows = 0
    for run in runs:
        more = min(shelf.run(run).steps, frames.ROWS)
        if portion and (rows + more > ROWS or len(portion) == RUNS):
            yield tuple(portion)
            portion, rows = [], 0
        portion.append(run)
        rows += more
    if portion:
        yield tuple(portion)
