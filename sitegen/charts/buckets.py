"""Rows to columns of pixels: min, max and median of each, so that no extreme is lost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sitegen.charts.frame import Size
from sitegen.charts.paths import pieces
from sitegen.charts.plot import Plot, positions
from sitegen.model import Floats, Ints

_ROWS = 3  # fewest rows in a bucket: below that a band says nothing
_SMOOTHED = 10  # fewer columns are drawn as they are
_GAP = 2.5  # usual distances between rows that make a gap


@dataclass(frozen=True, slots=True)
class Course:
    """Where rows lie from left to right. Metrics logged at the same steps share one.

    Args:
        breaks: (m,), the line is lifted before this column.
        starts: (m,), first row of each column; every row is a column of its own where not `banded`.
        ends: (m,), one behind the last row.
        bucket: (n,), number of each row's column.
        at: (m,), positions of the columns.
    """

    x: Floats  # (n,), positions of the rows
    breaks: NDArray[np.bool_]
    starts: Ints
    ends: Ints
    bucket: Ints
    at: Floats
    banded: bool


@dataclass(frozen=True, slots=True)
class Columns:
    """m columns from left to right, in the units of the values given."""

    x: Floats
    low: Floats
    high: Floats
    middle: Floats  # median, lightly smoothed
    breaks: NDArray[np.bool_]  # the line is lifted before this column
    banded: bool  # False where every column is a row


def course(steps: Ints, non_finite: Ints, plot: Plot, size: Size) -> Course:
    """Course of rising `steps` (n,), n >= 1, over `plot`.

    Args:
        steps: of the rows.
        non_finite: steps of NaN and infinities, between which the line must break.
        plot: where they are drawn.
        size: says up to how many rows stay as they are, and how many columns others get.
    """
    ends = plot.frame.first, plot.frame.last
    return _course(
        steps.astype(np.int64).tobytes(), non_finite.astype(np.int64).tobytes(), ends, plot.width, size
    )


@lru_cache(maxsize=64)  # a page draws all its metrics over a few courses
def _course(rows: bytes, lost: bytes, ends: tuple[int, int], width: int, size: Size) -> Course:
    steps = np.frombuffer(rows, dtype=np.int64)
    x, breaks = positions(steps, ends, width), gaps(steps, np.frombuffer(lost, dtype=np.int64))
    n = steps.size
    if n <= size.raw:
        alone = np.arange(n)
        return Course(x, breaks, alone, alone + 1, alone, x, False)
    count = max(1, min(size.buckets, n // _ROWS))
    bucket = np.minimum((x * (count / width)).astype(np.int64), count - 1)
    starts = np.concatenate(([0], np.flatnonzero(np.diff(bucket)) + 1))
    after = np.append(starts[1:], n)
    return Course(x, breaks[starts], starts, after, bucket, (x[starts] + x[after - 1]) / 2, True)


def columns(course: Course, y: Floats) -> Columns:
    """Columns of `y` (n,) >= 0, a value per row of `course` in the drawing's units, clipped to its height."""
    if not course.banded:
        return Columns(course.at, y, y, y, course.breaks, False)
    return Columns(
        x=course.at,
        low=np.minimum.reduceat(y, course.starts),
        high=np.maximum.reduceat(y, course.starts),
        middle=_smooth(_medians(y, course), course.breaks),
        breaks=course.breaks,
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


def _medians(y: Floats, course: Course) -> Floats:
    """Median per column, by one sort: the number of the column leads the key, the value trails it."""
    room = float(y.max()) + 1.0
    key = np.sort(course.bucket * room + y)
    last = course.starts + course.ends - 1  # twice the middle place
    both = key[last // 2] + key[(last + 1) // 2]
    return np.asarray(both / 2 - course.bucket[course.starts] * room)


def _smooth(middle: Floats, breaks: NDArray[np.bool_]) -> Floats:
    """Median of 5 columns, then mean of 3: noise goes, jumps stay sharp. Never across a break."""
    out = middle.copy()
    for a, b in pieces(breaks):
        if b - a >= _SMOOTHED:
            wide = _wider(_wider(middle[a:b]))
            near = np.array([wide[at : at + b - a] for at in range(5)])
            near.sort(axis=0)
            wide = _wider(near[2])
            out[a:b] = (wide[:-2] + wide[1:-1] + wide[2:]) / 3
    return out


def _wider(values: Floats) -> Floats:
    """`values` (n,) with its ends repeated, (n + 2,)."""
    return np.concatenate((values[:1], values, values[-1:]))
