"""What one finite column cannot hold: values that were not finite, repeats and conflicts.

Kept as arrays, not as objects: a log in which every value is NaN has millions of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sitegen.model import Floats, Ints, NonFinite

KINDS = ("non_finite", "repeat", "conflict")
RAWS = ("nan", "inf", "-inf", "null")
NULL = RAWS.index("null")
NUMBER = len(RAWS)  # raw code of a repeat or conflict: the text of its value


@dataclass(frozen=True, slots=True)
class Odd:
    """Non-finite values of a chunk, k of them, with the names they belong to."""

    rows: Ints  # (k,) record of the chunk
    names: Ints  # (k,) index into `table`
    raws: Ints  # (k,) index into RAWS
    table: tuple[str, ...]

    @classmethod
    def of(cls, found: Sequence[NonFinite]) -> Odd:
        """Arrays of what a reader found."""
        table = tuple(dict.fromkeys(each.name for each in found))
        place = {name: i for i, name in enumerate(table)}
        code = {raw: i for i, raw in enumerate(RAWS)}
        return cls(
            np.array([each.row for each in found], dtype=np.int64),
            np.array([place[each.name] for each in found], dtype=np.int64),
            np.array([code.get(each.raw, NULL) for each in found], dtype=np.int64),
            table,
        )


@dataclass(frozen=True, slots=True)
class Extras:
    """k entries of extras.parquet."""

    kinds: Ints  # (k,) index into KINDS
    rows: Ints  # (k,) row of the run
    names: Ints  # (k,) index into the run's metrics
    raws: Ints  # (k,) index into RAWS, or NUMBER
    values: Floats  # (k,) NaN for what was not finite
    origins: Ints  # (k,) number of the source

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def joined(cls, parts: Sequence[Extras]) -> Extras:
        """All entries by row, metric and kind; equal ones once."""
        none = np.empty(0, dtype=np.int64)
        kinds, rows, names, raws, origins = (
            np.concatenate([none, *(getattr(part, name) for part in parts)])
            for name in ("kinds", "rows", "names", "raws", "origins")
        )
        values = np.concatenate([np.empty(0), *(part.values for part in parts)])
        order = np.lexsort((np.arange(len(rows)), kinds, names, rows))
        return cls(kinds[order], rows[order], names[order], raws[order], values[order], origins[order])


def not_finite(rows: Ints, names: Ints, raws: Ints, origins: Ints) -> Extras:
    """Entries for non-finite values: each spelling once per row and metric.

    "null", which some formats write for any of them, goes where another source says what it was.
    """
    order = np.lexsort((np.arange(len(rows)), raws, names, rows))
    rows, names, raws, origins = rows[order], names[order], raws[order], origins[order]
    cell_new = np.ones(len(rows), dtype=bool)
    cell_new[1:] = (np.diff(rows) != 0) | (np.diff(names) != 0)
    kept = cell_new.copy()
    kept[1:] |= (np.diff(raws) != 0) & (raws[1:] != NULL)
    return Extras(
        kinds=np.zeros(int(kept.sum()), dtype=np.int64),
        rows=rows[kept],
        names=names[kept],
        raws=raws[kept],
        values=np.full(int(kept.sum()), np.nan),
        origins=origins[kept],
    )
