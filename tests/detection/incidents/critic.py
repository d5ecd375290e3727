"""The critic fails."""

from __future__ import annotations

from sitegen.model import Severity
from tests.detection.curves import Curves
from tests.detection.incidents.divergence import _flat_from
from tests.detection.incidents.kind import Kind, Place

PPO = ("ppo",)
CRITIC = ("critic/v", "critic/grad_norm", "critic/returns", "critic/score")


def useless(curves: Curves, place: Place) -> None:
    """The critic predicts worse than a constant would."""
    up = curves.ramp(place.first, 8)
    curves["ev"] += (place.force - curves["ev"]) * up
    curves["vf_loss"] *= 1 + up


def losing(curves: Curves, place: Place) -> None:
    """The value loss grows through a fifth of the run while nothing is gained."""
    _flat_from(curves, place.first)
    curves["vf_loss"] *= place.force ** curves.ramp(place.first, 0.2 * curves.rows)


def off_scale(curves: Curves, place: Place) -> None:
    """Predicted values are many times the score."""
    curves["vpred"] *= 1 + (place.force - 1) * curves.ramp(place.first, 5)


def exploding(curves: Curves, place: Place) -> None:
    """The gradient of the critic leaves its level by an order of magnitude."""
    curves["critic_grad"] *= 1 + (place.force - 1) * curves.ramp(place.first, 3)


KINDS = (
    Kind(
        "critic-useless",
        ("CRI-01",),
        (-0.15, -0.5, -2.0),
        useless,
        also=("CRI-03", "CRI-04"),
        profiles=PPO,
        reads=CRITIC,
    ),
    Kind(
        "value-loss", ("CRI-03", "CRI-04"), (4, 7, 15), losing, profiles=PPO, reads=CRITIC, after=(0.4, 0.6)
    ),
    Kind("value-scale", ("CRI-06",), (14, 40, 150), off_scale, profiles=PPO, reads=CRITIC),
    Kind(
        "critic-gradient",
        ("CRI-10",),
        (12, 30, 150),
        exploding,
        profiles=PPO,
        reads=CRITIC,
        least=Severity.INFO,
    ),
)
