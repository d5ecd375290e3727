"""Rows to columns of pixels: min, max and median of each, so that no extreme is lost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from sitegen.charts.frame import Size
from sitegen.charts.paths import pieces
from sitegen.model import Floats, Ints

_ROWS = 3  # fewest rows in a bucket: below that a band says nothing
_SMOOTHED = 10  # fewer columns are drawn as they are
_GAP = 2.5  # usual distances between rows that make a gap


@dataclass(frozen=True, slots=True)
class Columns:
    """m columns from left to right, in the units of the values given."""

    x: Floats
    low: Floats
    high: Floats
    middle: Floats  # median, lightly smoothed
    breaks: NDArray[np.bool_]  # the line is lifted before this column
    banded: bool  # False where every column is a row


def columns(x: Floats, y: Floats, gaps: NDArray[np.bool_], width: float, size: Size) -> Columns:
    """Bucket points (n,), n >= 1, x rising within [0, width], y >= 0, into the columns of `size`.

    Args:
        x: positions.
        y: values already in the drawing's units, clipped to its height.
        gaps: True where the line must not reach the point from the one before.
        width: of the plot, > 0.
        size: says up to how many rows stay as they are, and how many columns others get.
    """
    n = x.size
    if n <= size.raw:
        return Columns(x, y, y, y, gaps, False)
    count = max(1, min(size.buckets, n // _ROWS))
    bucket = np.minimum((x * (count / width)).astype(np.int64), count - 1)
    starts = np.concatenate(([0], np.flatnonzero(np.diff(bucket)) + 1))
    ends = np.append(starts[1:], n)
    breaks = gaps[starts]
    return Columns(
        x=(x[starts] + x[ends - 1]) / 2,
        low=np.minimum.reduceat(y, starts),
        high=np.maximum.reduceat(y, starts),
        middle=_smooth(_medians(y, bucket, starts, ends), breaks),
        breaks=breaks,
        banded=True,
    )


def gaps(steps: Ints, non_finite: Ints) -> NDArray[np.bool_]:
    """Where a line over rising `steps` (n,) must break: rows are missing, or a NaN or inf lies between."""
    out = np.zeros(steps.size, dtype=bool)
    if steps.size < 2:
        return out
    distance = np.diff(steps)
    if steps.size > 3:
        out[1:] = distance > _GAP * np.median(distance)
    if non_finite.size:
        seen = np.searchsorted(np.sort(non_finite), steps)
        out[1:] |= np.diff(seen) > 0
    return out


def _medians(y: Floats, bucket: Ints, starts: Ints, ends: Ints) -> Floats:
    """Median per bucket, by one sort: the bucket number leads the key, the value trails it."""
    room = float(y.max()) + 1.0
    key = np.sort(bucket * room + y)
    middle = (starts + ends - 1) / 2
    both = key[np.floor(middle).astype(np.int64)] + key[np.ceil(middle).astype(np.int64)]
    return both / 2 - bucket[starts] * room


def _smooth(middle: Floats, breaks: NDArray[np.bool_]) -> Floats:
    """Median of 5 columns, then mean of 3: noise goes, jumps stay sharp. Never across a break."""
    out = middle.copy()
    for a, b in pieces(breaks):
        if b - a >= _SMOOTHED:
            steady = np.sort(sliding_window_view(_wider(_wider(middle[a:b])), 5), axis=1)[:, 2]
            wide = _wider(steady)
            out[a:b] = (wide[:-2] + wide[1:-1] + wide[2:]) / 3
    return out


def _wider(values: Floats) -> Floats:
    """`values` (n,) with its ends repeated, (n + 2,)."""
    return np.concatenate((values[:1], values, values[-1:]))
