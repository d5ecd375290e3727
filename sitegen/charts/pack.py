"""Numbers to the bytes that assets/charts/data.js reads.

The overview holds smallest, largest and median value of each bucket, rounded to less than a pixel of a chart;
the exact part holds every value as it is. Both are zlib streams of byte planes: all first bytes, all
second bytes, …, which packs numbers that are near each other.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sitegen.charts.rowplan import Plan
from sitegen.model import Floats, Ints

_FINE = 1024.0  # rounding steps in the height of what most values fill
_OCTAVE = 128.0  # rounding steps per doubling, where values span decades
_DECADES = 2000.0
_CHUNK = 1 << 16  # bytes of numbers that are fetched together
_MOST = 2.0**30  # a rounded number beyond would not fit 31 bits
_ABSENT = np.int32(-(2**31))

Code = str | float  # "l" logarithms, "d" doubles, or the rounding step of a linear scale


@dataclass(frozen=True, slots=True)
class Overview:
    """Buckets of all metrics.

    Args:
        data: bytes of the blob.
        codes: per metric how its numbers were rounded.
    """

    data: bytes
    codes: tuple[Code, ...]


@dataclass(frozen=True, slots=True)
class Exact:
    """Every value of all metrics.

    Args:
        chunks: zlib streams, several metrics each.
        places: per metric (chunk, offset in it, "m" thousandths or "d" doubles).
    """

    chunks: tuple[bytes, ...]
    places: tuple[tuple[int, int, str], ...]


def planes(numbers: NDArray[np.generic]) -> bytes:
    """All first bytes of `numbers` (little-endian), all second ones, and so on."""
    whole = np.ascontiguousarray(numbers).reshape(-1)
    return np.ascontiguousarray(whole.view(np.uint8).reshape(whole.size, whole.itemsize).T).tobytes()


def squeezed(data: bytes) -> bytes:
    """A zlib stream of `data`.

    Planes of measured numbers have runs to find and hardly anything else: a search for longer repeats
    takes four times as long and saves 4 %.
    """
    made = zlib.compressobj(1, zlib.DEFLATED, 15, 9, zlib.Z_RLE)
    return made.compress(data) + made.flush()


def steps(numbers: Ints) -> bytes:
    """(n,) steps as planes of the distances between them, as doubles."""
    return planes(np.diff(numbers, prepend=0).astype("<f8"))


def overview(values: Floats, plan: Plan) -> Overview:
    """Smallest, largest and median of each bucket of `values` (metrics, rows)."""
    low, high, middle = _buckets(values, plan)
    codes = _codes(values[:, : plan.live], np.fmax(np.abs(low), np.abs(high)))
    there = ~np.isnan(low)
    whole = [k for k, code in enumerate(codes) if code == "d"]
    numbers = np.stack([_rounded(part, codes) for part in (low, high, middle)])
    numbers[1:] -= numbers[0]
    numbers[0] = _zigzag(np.diff(_filled(numbers[0], there), prepend=0, axis=1))
    numbers[:, ~there] = 0
    exact = np.stack([part[whole] for part in (low, high, middle)]).astype("<f8")
    blob = np.packbits(there).tobytes() + planes(numbers.astype("<u4")) + planes(exact)
    return Overview(blob, tuple(codes))


def exact(values: Floats) -> Exact:
    """Every value of `values` (metrics, rows), NaN where a row lacks it."""
    count, rows = values.shape
    several = max(1, _CHUNK // max(1, 8 * rows))
    thousandths = _in_thousandths(values)
    chunks: list[bytes] = []
    places: list[tuple[int, int, str]] = []
    for at in range(0, count, several):
        parts, offset = [], 0
        for k in range(at, min(at + several, count)):
            kind = "m" if thousandths[k] else "d"
            parts.append(_milli(values[k]) if kind == "m" else planes(values[k].astype("<f8")))
            places.append((len(chunks), offset, kind))
            offset += len(parts[-1])
        chunks.append(squeezed(b"".join(parts)))
    return Exact(tuple(chunks), tuple(places))


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
    return np.asarray(np.nan_to_num(out, nan=0.0).astype(np.int64))


def _filled(numbers: Ints, there: NDArray[np.bool_]) -> Ints:
    """Absent numbers repeat the one before, so that they cost nothing."""
    at = np.maximum.accumulate(np.where(there, np.arange(numbers.shape[1]), 0), axis=1)
    return np.asarray(np.take_along_axis(numbers, at, axis=1), dtype=np.int64)


def _zigzag(numbers: Ints) -> Ints:
    return np.asarray((numbers << 1) ^ (numbers >> 63), dtype=np.int64)


def _in_thousandths(values: Floats) -> NDArray[np.bool_]:
    """(metrics,) whether all values of a metric are whole thousandths, as console logs print them."""
    with np.errstate(invalid="ignore", over="ignore"):
        whole = np.rint(values * 1000.0)
        fits = ((whole / 1000.0 == values) & (np.abs(whole) < _MOST)) | np.isnan(values)
        return np.asarray(fits.all(axis=1) & ~(np.signbit(values) & (values == 0)).any(axis=1))


def _milli(row: Floats) -> bytes:
    whole = np.where(np.isnan(row), 0, np.rint(row * 1000.0)).astype(np.int32)
    whole[np.isnan(row)] = _ABSENT
    return planes(whole.astype("<i4"))
