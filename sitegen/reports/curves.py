"""The series of one run, asked for by canonical key and reduced to the rows that count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sitegen.metrics import glossary
from sitegen.model import Floats, Ints, Series

_Marks = NDArray[np.bool_]


class Curves:
    """Series of one run by canonical key. All series of a run have the same rows.

    Live rows are those that no later segment rewrote, in order of step.
    """

    def __init__(self, series: Mapping[str, Series]) -> None:
        self.series = series
        self._by_key = {one.metric: one for one in series.values()}
        anyone = next(iter(series.values()), None)
        live = np.zeros(0, dtype=np.bool_) if anyone is None else anyone.live
        steps = np.zeros(0, dtype=np.int64) if anyone is None else anyone.steps
        kept = np.flatnonzero(live)
        self._rows = kept[np.argsort(steps[kept], kind="stable")]
        self.steps: Ints = steps[self._rows]  # steps of live rows, ascending
        lost = None if anyone is None else anyone.cut
        self.cut: _Marks = np.zeros(len(kept), dtype=np.bool_) if lost is None else lost[self._rows]
        self.rewritten = int(len(live) - len(kept))

    def __iter__(self) -> Iterator[Series]:
        return iter(self.series.values())

    def by_key(self, key: str) -> Series | None:
        """The series whose canonical key, or own name, is `key`."""
        return self._by_key.get(key)

    def values(self, key: str) -> Floats:
        """Values of the live rows, NaN where a row lacks the metric; all NaN where the run does."""
        series = self._by_key.get(key)
        return np.full(len(self.steps), np.nan) if series is None else series.values[self._rows]

    def points(self, series: Series) -> tuple[Ints, Floats]:
        """Live (steps, values) of one series without its gaps."""
        values = series.values[self._rows]
        there = np.isfinite(values)
        return self.steps[there], values[there]

    def present(self, key: str) -> bool:
        """Whether any live row carries a finite value of `key`."""
        return bool(np.isfinite(self.values(key)).any())


def in_units(series: Mapping[str, Series], gpus: int | None) -> dict[str, Series]:
    """`series` with values in the units of their metrics: `actor/lr(1e-4)` times 1e-4, and so on."""
    scales = {name: glossary().scale(name, gpus) for name in series}
    return {
        name: one if scales[name] == 1.0 else replace(one, values=one.values * scales[name])
        for name, one in series.items()
    }
