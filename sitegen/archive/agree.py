"""When two logged numbers are the same number.

One run is often logged twice: three decimals on the console, every digit in a JSONL file, float32 in an
event file. `same` says whether the values can be one value written with different precision, `finer` which of
the two to keep.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sitegen.model import Floats

Bools = NDArray[np.bool_]
_DECIMALS = (3, 4, 6)  # what print formats of trainers leave


def same(a: Floats, b: Floats) -> Bools:
    """Element-wise: equal, or one is the other rounded to 3, 4 or 6 decimals or to float32. Never for NaN."""
    result: Bools = a == b
    if result.all():
        return result
    with np.errstate(over="ignore", invalid="ignore"):
        gap = np.abs(a - b)
        for decimals in _DECIMALS:
            half = 0.5 * 10.0**-decimals * (1 + 1e-9) + 1e-12 * np.abs(a)
            result |= (gap <= half) & (_rounded(a, decimals) | _rounded(b, decimals))
        close = gap <= 1.2e-7 * np.maximum(np.abs(a), np.abs(b))
        result |= close & (_single(a) | _single(b))
    return result


def finer(a: Floats, b: Floats) -> Bools:
    """Element-wise, for values that are `same`: whether `b` is the more precise one.

    0.48 is no number of three decimals when the other is its float32 copy, 0.47999998927: it may be exact.
    """
    coarse_a, coarse_b = _coarseness(a), _coarseness(b)
    result: Bools = (coarse_a > coarse_b) & ~_copies(b, a) | _copies(a, b)
    return result


def _copies(copy: Floats, of: Floats) -> Bools:
    """Whether `copy` is `of` rounded to float32."""
    with np.errstate(over="ignore", invalid="ignore"):
        result: Bools = (of.astype(np.float32).astype(np.float64) == copy) & (copy != of)
    return result


def _coarseness(values: Floats) -> NDArray[np.int64]:
    coarse = np.where(_single(values), 1, 0).astype(np.int64)
    for rank, decimals in enumerate(reversed(_DECIMALS), 2):
        coarse[_rounded(values, decimals)] = rank
    return coarse


def _rounded(values: Floats, decimals: int) -> Bools:
    with np.errstate(over="ignore", invalid="ignore"):  # near the largest double no decimals are left to lose
        scaled = values * 10.0**decimals
        whole = np.rint(scaled)
        near: Bools = np.abs(scaled - whole) <= 1e-9 * np.maximum(np.abs(scaled), 1.0)
    # a tiny number was not rounded: that would have left a plain zero
    result: Bools = near & ((whole != 0) | (values == 0))
    return result


def _single(values: Floats) -> Bools:
    with np.errstate(over="ignore", invalid="ignore"):
        result: Bools = values.astype(np.float32).astype(np.float64) == values
    return result
