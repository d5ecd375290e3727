"""Rows of a batch of runs as numpy columns: what the engine needs beyond a card's answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sitegen.model import Floats, Ints
from sitegen.store import Store

#: Columns of `steps` that are always fetched.
ALWAYS = ("step", "segment", "warm", "w")


@dataclass(frozen=True, slots=True)
class RowData:
    """Columns of `steps`, ordered by run and row. Row r of a run lies at `start[run] + r - 1`."""

    start: Mapping[str, int]
    count: Mapping[str, int]
    step: Ints
    segment: Ints
    warm: NDArray[np.bool_]
    w: Ints
    metrics: Mapping[str, Floats]  # NaN where the row does not carry the metric

    def place(self, run: str) -> slice:
        """Where the rows of `run` lie."""
        first = self.start.get(run, 0)
        return slice(first, first + self.count.get(run, 0))

    def carries(self, run: str, metric: str) -> bool:
        """Whether `run` has a finite value of `metric`."""
        return bool(np.isfinite(self.metrics[metric][self.place(run)]).any())


def load(store: Store, metrics: Iterable[str]) -> RowData:
    """Fetch `metrics` of every run of the store."""
    names = sorted(set(metrics))
    listed = ", ".join(("run", *ALWAYS, *(f'"{name}"' for name in names)))
    table = store.table(f"SELECT {listed} FROM steps ORDER BY run, row")  # noqa: S608
    runs = table["run"].to_numpy()
    found, first, counts = np.unique(runs, return_index=True, return_counts=True)
    return RowData(
        start={str(run): int(at) for run, at in zip(found, first, strict=True)},
        count={str(run): int(n) for run, n in zip(found, counts, strict=True)},
        step=table["step"].to_numpy().astype(np.int64),
        segment=table["segment"].to_numpy().astype(np.int64),
        warm=table["warm"].to_numpy().astype(np.bool_),
        w=table["w"].to_numpy().astype(np.int64),
        metrics={name: table[name].to_numpy().astype(np.float64, copy=False) for name in names},
    )
