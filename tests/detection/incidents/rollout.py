"""The engine that writes and the trainer that learns disagree."""

from __future__ import annotations

from tests.detection.curves import Curves
from tests.detection.incidents.kind import Kind, Place


def gap(curves: Curves, place: Place) -> None:
    """The two give the same tokens other probabilities, from one step to the next."""
    curves["gap"] += (place.force - curves["gap"]) * curves.ramp(place.first, 3)


def drift(curves: Curves, place: Place) -> None:
    """The disagreement grows with every step."""
    up = curves.ramp(place.first, 0.35 * curves.rows)
    curves["gap"] += (place.force - curves["gap"]) * up
    curves["pearson"] -= place.force * up


def uncorrelated(curves: Curves, place: Place) -> None:
    """The probabilities of the two no longer go together."""
    curves["pearson"] += (place.force - curves["pearson"]) * curves.ramp(place.first, 5)


PROBABILITIES = ("training/rollout",)
KINDS = (
    Kind("rollout-gap", ("ROL-01",), (0.013, 0.025, 0.06), gap, also=("ROL-06",), reads=PROBABILITIES),
    Kind(
        "rollout-drift",
        ("ROL-06", "ROL-01"),
        (0.013, 0.025, 0.06),
        drift,
        also=("ROL-02",),
        reads=PROBABILITIES,
        after=(0.35, 0.5),
    ),
    Kind(
        "rollout-uncorrelated",
        ("ROL-02",),
        (0.98, 0.93, 0.7),
        uncorrelated,
        also=("ROL-01",),
        reads=PROBABILITIES,
    ),
)
