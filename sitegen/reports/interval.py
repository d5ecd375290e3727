"""A mean of few numbers and how sure it is: Student's t, without tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

SHARE = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """Mean of `n` numbers; `half` = half the width of its 95 % confidence interval."""

    n: int
    mean: float
    half: float

    @property
    def low(self) -> float:
        """Lower end."""
        return self.mean - self.half

    @property
    def high(self) -> float:
        """Upper end."""
        return self.mean + self.half


def interval(values: Sequence[float]) -> Interval:
    """Mean and interval of two finite numbers or more: t x s / sqrt(n). Raises ValueError for fewer."""
    n = len(values)
    if n < 2:
        raise ValueError("an interval takes two numbers or more")
    mean = math.fsum(values) / n
    spread = math.sqrt(math.fsum((one - mean) ** 2 for one in values) / (n - 1))
    return Interval(n, mean, quantile(n - 1) * spread / math.sqrt(n))


@cache
def quantile(df: int) -> float:
    """The t within which `SHARE` of Student's distribution with `df` degrees of freedom lies, to 1e-9."""
    low, high = 0.0, 20.0  # df = 1 has 12.7
    while high - low > 1e-10:
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle, df) < SHARE else (low, middle)
    return (low + high) / 2


def within(t: float, df: int) -> float:
    """P(|T| < t) for whole `df` >= 1, by the finite series (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(df))
    cosine = math.cos(angle)
    if df % 2:
        term, total = cosine, cosine if df > 1 else 0.0
        for k in range(3, df - 1, 2):
            term *= (k - 1) / k * cosine * cosine
            total += term
        return 2 / math.pi * (angle + math.sin(angle) * total)
    term = total = 1.0
    for k in range(2, df - 1, 2):
        term *= (k - 1) / k * cosine * cosine
        total += term
    return math.sin(angle) * total
