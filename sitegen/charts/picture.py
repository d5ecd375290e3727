"""A picture of metrics: smallest, largest and median of each bucket, rounded to less than a pixel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sitegen.charts.pack import planes
from sitegen.charts.rowplan import Plan
from sitegen.model import Floats, Ints

_FINE = 1024.0  # rounding steps in the height of what most values fill
_OCTAVE = 128.0  # rounding steps per doubling, where values span decades
_DECADES = 2000.0
_MOST = 2.0**30  # a rounded number beyond would not fit 31 bits

Code = str | float  # "l" logarithms, "d" doubles, or the rounding step of a linear scale


@dataclass(frozen=True, slots=True)
class Picture:
    """Buckets of some metrics.

    Args:
        data: which buckets have a value (bits), the rounded numbers and those that cannot be rounded.
        codes: per metric how its numbers were rounded.
        size: bytes of a rounded number, 2 or 4.
    """

    data: bytes
    codes: tuple[Code, ...]
    size: int


def picture(values: Floats, plan: Plan) -> Picture:
    """The picture of `values` (metrics, rows), NaN where a row lacks a metric."""
    low, high, middle = _buckets(values, plan)
    codes = _codes(values[:, : plan.live], np.fmax(np.abs(low), np.abs(high)))
    there = ~np.isnan(low)
    whole = [k for k, code in enumerate(codes) if code == "d"]
    numbers = np.stack([_rounded(part, codes) for part in (low, high, middle)])
    numbers[1:] -= numbers[0]
    numbers[0] = _zigzag(np.diff(_filled(numbers[0], there), prepend=0, axis=1))
    numbers[:, ~there] = 0
    exact = np.stack([part[whole] for part in (low, high, middle)]).astype("<f8")
    size = 2 if int(numbers.max(initial=0)) < 1 << 16 else 4
    blob = np.packbits(there).tobytes() + planes(numbers.astype(f"<u{size}")) + planes(exact)
    return Picture(blob, tuple(codes), size)


def _buckets(values: Floats, plan: Plan) -> tuple[Floats, Floats, Floats]:
    starts, sizes = plan.edges()
    if bool((sizes == 1).all()):
        return values, values, values
    within = np.arange(int(sizes.max()))
    rows = starts[:, None] + np.minimum(within, sizes[:, None] - 1)
    spread = np.where(within < sizes[:, None], values[:, rows], np.nan)  # (metrics, buckets, rows of one)
    ordered = np.sort(spread, axis=2)  # NaN comes last
    known = np.isfinite(ordered).sum(axis=2)
    last = np.maximum(known - 1, 0)

    def at(place: Ints) -> Floats:
        return np.take_along_axis(ordered, place[:, :, None], axis=2)[:, :, 0]

    return ordered[:, :, 0], at(last), at(last // 2) / 2 + at((last + 1) // 2) / 2


def _codes(values: Floats, sizes: Floats) -> list[Code]:
    """How to round each metric of `values` (metrics, rows) whose buckets reach `sizes` (metrics, buckets)."""
    ordered = np.sort(values, axis=1)  # NaN comes last
    known = np.isfinite(values).sum(axis=1)
    cut = np.where(known >= 8, np.maximum(1, known // 100), 0)
    metrics = np.arange(len(values))

    def at(place: Ints) -> Floats:
        return np.asarray(ordered[metrics, np.clip(place, 0, max(0, values.shape[1] - 1))])

    least, most = at(np.zeros_like(known)), at(known - 1)
    span = at(known - 1 - cut) - at(cut)
    span = np.where(span > 0, span, most - least)
    usable = (known > 0) & (span > 1e-290) & (span < 1e290)
    step = 2.0 ** np.floor(np.log2(np.where(usable, span, 1.0) / _FINE))
    usable &= np.fmax.reduce(sizes, axis=1) < _MOST * step
    decades = (known > 0) & (least > 1e-300) & (most > least * _DECADES)
    return ["l" if decades[k] else float(step[k]) if usable[k] else "d" for k in metrics]


def _rounded(part: Floats, codes: list[Code]) -> Ints:
    """Whole numbers (metrics, buckets), 0 where there is none."""
    scale = np.array([1.0 if code in ("d", "l") else float(code) for code in codes])[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.rint(part / scale)
        for k, code in enumerate(codes):
            if code == "l":
                out[k] = np.rint(np.log2(np.maximum(part[k], 1e-320)) * _OCTAVE)
            elif code == "d":
                out[k] = 0
    return np.asarray(np.where(np.isnan(out), 0.0, out).astype(np.int64))


def _filled(numbers: Ints, there: NDArray[np.bool_]) -> Ints:
    """Absent numbers repeat the one before, so that they cost nothing."""
    at = np.maximum.accumulate(np.where(there, np.arange(numbers.shape[1]), 0), axis=1)
    return np.asarray(np.take_along_axis(numbers, at, axis=1), dtype=np.int64)


def _zigzag(numbers: Ints) -> Ints:
    return np.asarray((numbers << 1) ^ (numbers >> 63), dtype=np.int64)
