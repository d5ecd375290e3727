"""Validation goes its own way."""

from __future__ import annotations

import numpy as np

from tests.detection.curves import Curves
from tests.detection.incidents.kind import Kind, Place
from tests.detection.incidents.score import SCORE


def regression(curves: Curves, place: Place) -> None:
    """Validation gets worse; training does not show it."""
    curves["val"] *= 1 - place.force * curves.ramp(place.first, 0.1 * curves.rows)


def left_behind(curves: Curves, place: Place) -> None:
    """Training climbs on, validation stays where it was."""
    low = 0.25
    curves["right"] = low + 0.2 * np.minimum(1, curves.part * curves.rows / max(1, place.first))
    curves["right"] += place.force * curves.ramp(place.first, 0.3 * curves.rows)
    curves["val"] = np.minimum(0.95 * curves["right"], 0.95 * curves["right"][place.first])
    curves["val"] -= 0.1 * place.force * curves.ramp(place.first, 0.3 * curves.rows)


VALIDATION = ("val-core", *SCORE)
KINDS = (
    Kind(
        "validation-regression",
        ("VAL-02", "VAL-01"),
        (0.15, 0.25, 0.5),
        regression,
        reads=VALIDATION,
        after=(0.4, 0.65),
    ),
    Kind(
        "validation-left-behind",
        ("VAL-01", "VAL-02"),
        (0.2, 0.3, 0.45),
        left_behind,
        reads=VALIDATION,
        also=("REW-03",),
        after=(0.35, 0.55),
    ),
)
