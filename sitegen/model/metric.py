"""A metric, and its course in one run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sitegen.model.numbers import Floats, Ints


@dataclass(frozen=True, slots=True)
class Series:
    """One metric of one run over all segments, in row order.

    `values` is NaN where the row does not carry the metric. `live` marks rows that no later
    segment rewrote; charts draw the others as forks.
    """

    name: str  # as logged
    metric: str  # canonical key or the name
    steps: Ints
    values: Floats
    segments: Ints
    live: NDArray[np.bool_]
    non_finite: tuple[tuple[int, str], ...] = ()  # (step, "nan"|"inf"|"-inf")
    cut: NDArray[np.bool_] | None = None  # rows whose record lost its end; None: no row did


@dataclass(frozen=True, slots=True)
class Metric:
    """A glossary entry."""

    key: str  # snake case, e.g. "kl_ref"
    title: str  # "Reference KL"
    unit: str  # "nats/token", "" where dimensionless
    better: str  # "up", "down", "band", "neither"
    group: str  # "reward", "kl", "entropy", "policy", "length", "speed", "memory", "validation", …
    meaning: str
    names: tuple[str, ...]  # names as logged, most wanted first; exact
