"""Shapes that a score takes when it goes from one level to another, as a matrix to project curves on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from sitegen.model import Floats

#: Buckets a curve is cut into before it is compared.
BUCKETS = 100
#: Share of its height at which a bent rise has begun, and that is left when it ends.
MARGIN = 0.075


@dataclass(frozen=True, slots=True)
class Shapes:
    """Rises between two levels.

    Args:
        units: (shapes, BUCKETS), each row with mean 0 and length 1.
        first: (shapes,), where the rise begins, as a share of the width.
        last: (shapes,), where it ends.
    """

    units: Floats
    first: Floats
    last: Floats


@cache
def shapes() -> Shapes:
    """Straight rises with two corners, saturating ones with one, S-shaped ones with none."""
    at = (np.arange(BUCKETS) + 0.5) / BUCKETS
    rows, first, last = [], [], []
    corners = np.arange(0, BUCKETS + 1, 2) / BUCKETS
    for begin in corners:
        for end in corners[corners > begin]:
            rows.append(np.clip((at - begin) / (end - begin), 0, 1))
            first.append(begin)
            last.append(end)
    for bent in (*_saturating(at), *_logistic(at)):
        share = (bent - bent[0]) / (bent[-1] - bent[0])
        rows.append(bent)
        first.append(float(np.interp(MARGIN, share, at)))
        last.append(float(np.interp(1 - MARGIN, share, at)))
    raw = np.array(rows)
    centred = raw - raw.mean(axis=1, keepdims=True)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    return Shapes((centred / length).astype(np.float32), np.array(first), np.array(last))


def _saturating(at: Floats) -> list[Floats]:
    """1 - exp(-k (x - a)) after a."""
    return [
        1 - np.exp(-k * np.clip(at - begin, 0, None)) + 1e-9 * at
        for begin in np.arange(0, 0.9, 0.02)
        for k in np.geomspace(2.5, 80, 24)
    ]


def _logistic(at: Floats) -> list[Floats]:
    """1 / (1 + exp(-k (x - m)))."""
    return [
        1 / (1 + np.exp(-np.clip(k * (at - middle), -60, 60))) + 1e-9 * at
        for middle in np.arange(0.02, 1, 0.02)
        for k in np.geomspace(6, 100, 14)
    ]
