"""From values to a y axis: what range to show, where to put ticks, what is beyond the border."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sitegen.charts.labels import human, tick_labels
from sitegen.model import Floats

_REACH = 1.5  # spans of the core that still belong to the picture
_LOG_RATIO = 2000.0  # a positive core over more than three decades reads better on a log axis
_WIDEST = 7  # characters of a label
_HUGE, _TINY = 1e300, 1e-300  # doubles beyond leave no room to subtract, add up and divide


@dataclass(frozen=True, slots=True)
class Axis:
    """A y axis. `lo < hi` are in axis units (log10 of the value where `log`)."""

    lo: float
    hi: float
    ticks: tuple[float, ...]  # in axis units
    labels: tuple[str, ...]
    offset: str = ""  # added to every label where the numbers would be too long
    log: bool = False

    def units(self, values: Floats) -> Floats:
        """`values` (n,) in axis units; on a log axis values <= 0 lie below the border."""
        if not self.log:
            return within(values)
        floor = 10.0 ** (self.lo - 1.0)
        return np.asarray(np.log10(np.maximum(within(values), floor)))


def within(values: Floats) -> Floats:
    """`values` (n,) as a picture can count with them: at most 1e300 in size, and 0 below 1e-300."""
    sizes = np.abs(values)
    if not (sizes > _HUGE).any() and not (sizes < _TINY).any():
        return values
    clipped = np.clip(values, -_HUGE, _HUGE)
    return np.where(np.abs(clipped) < _TINY, 0.0, clipped)


def axis(values: Floats, also: Iterable[float] = (), ticks: int = 4) -> Axis:
    """The axis for finite `values` (n,), n >= 1, that also shows the numbers `also` (thresholds)."""
    values = within(values)
    lo, hi = robust_range(values)
    extra = within(np.array([x for x in also if math.isfinite(x)])).tolist()
    lo, hi = min([lo, *extra]), max([hi, *extra])
    if _is_log(values, lo, hi):
        return _log_axis(lo, hi)
    if lo == hi:
        return _flat_axis(lo)
    if 0 < lo < 0.35 * (hi - lo):
        lo = 0.0
    pad = 0.04 * (hi - lo)
    low = lo if lo == 0 else lo - pad
    at, step = nice_ticks(low, hi + pad, ticks)
    if not at:  # the range is at the end of what doubles can tell apart
        return _flat_axis(lo + (hi - lo) / 2)
    labels, offset = tick_labels(at, step)
    return Axis(low, hi + pad, tuple(at), tuple(labels), offset)


def robust_range(values: Floats) -> tuple[float, float]:
    """Smallest and largest value worth the height of a chart.

    The first step and lone spikes (at most 1 % of the values at either side) are left out when
    they lie further than 1.5 spans of the rest from it; charts mark them at the border.
    """
    ordered = np.sort(values)
    n = ordered.size
    cut = max(1, n // 100) if n >= 8 else 0
    low, high = float(ordered[cut]), float(ordered[n - 1 - cut])
    reach = _REACH * (high - low)
    if reach <= 0:
        return float(ordered[0]), float(ordered[-1])
    first = int(np.searchsorted(ordered, low - reach))
    last = int(np.searchsorted(ordered, high + reach, "right")) - 1
    return float(ordered[first]), float(ordered[last])


def nice_ticks(lo: float, hi: float, count: int) -> tuple[list[float], float]:
    """About `count` multiples of 1, 2, 2.5 or 5 x 10^n in [lo, hi], and their distance."""
    raw = (hi - lo) / max(count, 1)
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(nice * size for nice in (1.0, 2.0, 2.5, 5.0, 10.0) if nice * size >= raw * 0.999)
    first, last = math.ceil(lo / step - 1e-9), math.floor(hi / step + 1e-9)
    if first == last and step > 0:
        step /= 2
        first, last = math.ceil(lo / step - 1e-9), math.floor(hi / step + 1e-9)
    return [k * step for k in range(first, last + 1)][: count * 4], step


def step_ticks(first: int, last: int, count: int) -> list[int]:
    """Steps to label on an x axis: both ends and nice multiples that keep clear of them."""
    if first == last:
        return [first]
    inner, _ = nice_ticks(first, last, count)
    clear = (last - first) / (count * 2.2)
    whole = [int(x) for x in inner if x == int(x) and first + clear <= x <= last - clear]
    return [first, *whole, last]


def _is_log(values: Floats, lo: float, hi: float) -> bool:
    if lo <= 0 or hi / lo < _LOG_RATIO:
        return False
    return float(np.quantile(values, 0.25)) * 30 < hi and bool((values > 0).all())


def _log_axis(lo: float, hi: float) -> Axis:
    low, high = math.log10(lo) - 0.05, math.log10(hi) + 0.05
    every = max(1, math.ceil((high - low) / 4))
    decades = range(math.ceil(low), math.floor(high) + 1, every)
    labels = tuple(_decade(k) for k in decades)
    return Axis(low, high, tuple(float(k) for k in decades), labels, log=True)


def _decade(k: int) -> str:
    if -3 <= k <= 2:
        return f"{10.0**k:.{max(0, -k)}f}"
    return {3: "1k", 4: "10k", 5: "100k", 6: "1M"}.get(k, f"1e{k}")


def _flat_axis(value: float) -> Axis:
    half = abs(value) / 2 or 1.0
    texts = (human(value, digits).replace("\u202f", "") for digits in (3, 2, 1))
    label = next((text for text in texts if len(text) <= _WIDEST), human(value, 1))
    return Axis(value - half, value + half, (value,), (label,))
