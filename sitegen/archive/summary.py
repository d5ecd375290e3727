"""Summary of every metric over the live rows, built while row groups stream by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sitegen.archive.extras import KINDS, Extras
from sitegen.archive.gather import masked_last
from sitegen.metrics import glossary
from sitegen.model import Floats, Ints, MetricSummary

STEP_SECONDS = ("timing_s/step", "timing/step", "perf/time_per_step", "train/time(s)")


class Summing:
    """Running n, first, last, min, max, sum and the steps of the extremes, for all metrics at once."""

    def __init__(self, names: tuple[str, ...]) -> None:
        k = len(names)
        self._names = names
        self._n = np.zeros(k, dtype=np.int64)
        self._first, self._last = np.full(k, np.nan), np.full(k, np.nan)
        self._low, self._high = np.full(k, np.inf), np.full(k, -np.inf)
        self._low_step, self._high_step = np.zeros(k, dtype=np.int64), np.zeros(k, dtype=np.int64)
        self._sum = np.zeros(k)
        self._non_finite = np.zeros(k, dtype=np.int64)

    def add(self, values: Floats, steps: Ints) -> None:
        """Add live rows: `values` (metrics, rows) with NaN for absent."""
        if not values.size:
            return
        values = np.ascontiguousarray(values)  # the order of a sum's terms, and its last digit, follow memory
        present = ~np.isnan(values)
        count = present.sum(axis=1)
        some = count > 0
        rows = np.arange(len(values))
        first = values[rows, np.argmax(present, axis=1)]
        self._first = np.where((self._n == 0) & some, first, self._first)
        self._last = np.where(some, masked_last(values), self._last)
        at_low = _over(np.argmin, values, present, np.inf)
        at_high = _over(np.argmax, values, present, -np.inf)
        low, high = values[rows, at_low], values[rows, at_high]
        self._low_step = np.where(low < self._low, steps[at_low], self._low_step)
        self._high_step = np.where(high > self._high, steps[at_high], self._high_step)
        self._low, self._high = np.fmin(self._low, low), np.fmax(self._high, high)
        with np.errstate(over="ignore", invalid="ignore"):
            self._sum += _over(np.sum, values, present, 0.0)
        self._n += count

    def extras(self, extras: Extras, live: NDArray[np.bool_]) -> None:
        """Count non-finite values of live rows; `live` is by row of the run."""
        counted = extras.names[(extras.kinds == KINDS.index("non_finite")) & live[extras.rows]]
        self._non_finite += np.bincount(counted, minlength=len(self._names))

    def result(self) -> tuple[MetricSummary, ...]:
        """One summary per metric, by name as logged."""
        known = glossary()
        keys = known.canonical(self._names)
        return tuple(self._one(i, name, keys.get(name, name)) for i, name in enumerate(self._names))

    def _one(self, i: int, name: str, key: str) -> MetricSummary:
        n = int(self._n[i])
        metric = glossary().by_name(name)
        better = metric.better if metric else "neither"
        best, step = {
            "up": (self._high[i], self._high_step[i]),
            "down": (self._low[i], self._low_step[i]),
        }.get(better, (None, None))
        odd = int(self._non_finite[i])
        if not n:
            return MetricSummary(name, key, 0, None, None, None, None, None, None, None, odd)
        mean = float(self._sum[i]) / n
        return MetricSummary(
            name=name,
            metric=key,
            n=n,
            first=float(self._first[i]),
            last=float(self._last[i]),
            min=float(self._low[i]),
            max=float(self._high[i]),
            mean=mean if np.isfinite(mean) else None,
            best=None if best is None else float(best),
            best_step=None if step is None else int(step),
            non_finite=odd,
        )


def _over(find: Callable[..., Any], values: Floats, present: NDArray[np.bool_], absent: float) -> Any:
    """`find` per metric, with `absent` for NaN; most metrics have none and are not copied."""
    result = find(values, axis=1)
    gaps = np.flatnonzero(~present.all(axis=1))
    if len(gaps):
        result[gaps] = find(np.where(present[gaps], values[gaps], absent), axis=1)
    return result


class Spent:
    """Sums of the metrics that hold a step's seconds, over all rows: rewritten ones were paid for too."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._places = {name: names.index(name) for name in STEP_SECONDS if name in names}
        self.totals: dict[str, float] = {}

    def add(self, values: Floats) -> None:
        """Add rows: `values` (metrics, rows) with NaN for absent."""
        for name, place in self._places.items():
            present = values[place][~np.isnan(values[place])]
            if len(present):
                with np.errstate(over="ignore", invalid="ignore"):
                    self.totals[name] = self.totals.get(name, 0.0) + float(present.sum())
