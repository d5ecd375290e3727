"""Answers grow, shrink, are cut off, come back empty."""

from __future__ import annotations

import numpy as np

from tests.detection.curves import Curves
from tests.detection.incidents.kind import Kind, Place
from tests.detection.incidents.score import SCORE


def blow_up(curves: Curves, place: Place) -> None:
    """Answers grow far beyond their start and more and more of them hit the limit."""
    up = curves.ramp(place.first, 0.15 * curves.rows)
    curves["length"] *= 1 + (place.force * curves["length"][0] / curves["length"][place.first] - 1) * up
    curves["cut"] += min(0.6, 0.1 * (place.force - 0.8)) * up


def collapse(curves: Curves, place: Place) -> None:
    """Answers shrink to a fraction, and with them goes part of the score."""
    down = curves.ramp(place.first, max(4.0, 0.06 * curves.rows))
    curves["length"] *= (place.force * curves["length"][0] / curves["length"][place.first]) ** down
    gain = curves["right"][: place.first].max() - curves["right"][0]
    for name in ("right", "val"):
        curves[name] = np.clip(curves[name] - down * gain * min(0.9, 0.3 / place.force**0.5), 0, 1)


def truncation(curves: Curves, place: Place) -> None:
    """The share of answers that are cut off rises."""
    up = curves.ramp(place.first, 0.1 * curves.rows)
    curves["cut"] += (place.force - curves["cut"]) * up
    curves["length"] *= 1 + 0.15 * up


def aborted(curves: Curves, place: Place) -> None:
    """Rollouts come back without a single token."""
    curves["aborted"] = place.force * curves.ramp(place.first, 5)


LENGTH = ("response_length/", *SCORE)
KINDS = (
    Kind(
        "length-blow-up",
        ("LEN-01", "LEN-03"),
        (1.8, 2.5, 4),
        blow_up,
        reads=LENGTH,
        after=(0.35, 0.6),
        also=("REW-05", "TIM-01", "TIM-04", "THR-01", "LEN-04"),
    ),
    Kind(
        "length-collapse",
        ("LEN-02", "REW-05"),
        (0.4, 0.2, 0.05),
        collapse,
        reads=LENGTH,
        also=("VAL-02", "VAL-01", "GRP-01", "KL-06", "ENT-05", "THR-01", "LEN-04"),
    ),
    Kind(
        "truncation",
        ("LEN-03",),
        (0.14, 0.3, 0.6),
        truncation,
        also=("LEN-01",),
        reads=LENGTH,
        after=(0.3, 0.6),
    ),
    Kind("aborted-rollouts", ("LEN-07",), (0.03, 0.08, 0.3), aborted, reads=("response/aborted_ratio",)),
)
