"""The KL to the reference and of the update."""

from __future__ import annotations

import numpy as np

from tests.detection.curves import Curves
from tests.detection.incidents.kind import Kind, Place
from tests.detection.incidents.score import SCORE
from tests.detection.profiles import RL, WITH_KL


def _flat_from(curves: Curves, row: int) -> None:
    """Nothing is gained after `row`."""
    at = max(row, 0)
    for name in ("right", "val"):
        curves[name][at:] = curves[name][at]


def jump(curves: Curves, place: Place) -> None:
    """Within three steps the KL is several times what it was, and falls back only slowly."""
    up = curves.ramp(place.first, 3)
    back = np.exp(-np.maximum(0, np.arange(curves.rows) - place.last) / 15)
    curves["kl"] *= 1 + (place.force - 1) * up * back


def explosion(curves: Curves, place: Place) -> None:
    """The KL explodes within a few steps and the score goes with it."""
    up = curves.ramp(place.first, 5)
    curves["kl"] *= place.force**up
    for name in ("right", "val"):
        curves[name] *= 1 - 0.8 * curves.ramp(place.first + 2, 8)
    curves["grad"] *= 1 + 4 * up


def runaway(curves: Curves, place: Place) -> None:
    """The score has stopped rising, the KL grows on, faster and faster."""
    _flat_from(curves, place.first - curves.rows // 10)
    left = (np.arange(curves.rows) - place.first).clip(0) / max(1, curves.rows - place.first)
    curves["kl"] *= place.force**left


def update_kl(curves: Curves, place: Place) -> None:
    """Each update moves the policy far more than usual."""
    up = curves.ramp(place.first, 3)
    level = max(0.02, place.force * float(curves["update_kl"][place.first]))
    curves["update_kl"] += (level - curves["update_kl"]) * up
    curves["clip"] *= 1 + 3 * up


def pinned_controller(curves: Curves, place: Place) -> None:
    """The adaptive coefficient of the KL penalty grows and grows."""
    curves["kl_coef"] = 0.001 * place.force ** curves.ramp(place.first, 100)


KL = ("actor/kl_loss", "actor/reward_kl_penalty")
KINDS = (
    Kind(
        "kl-jump",
        ("KL-05",),
        (3.5, 6, 15),
        jump,
        also=("KL-06", "KL-03", "GRD-01", "REW-03", "REW-10"),
        lasts=25,
        profiles=WITH_KL,
        reads=KL,
    ),
    Kind(
        "kl-explosion",
        ("KL-05",),
        (30, 200, 3000),
        explosion,
        hard=True,
        profiles=WITH_KL,
        reads=(*KL, *SCORE),
        also=(
            "KL-03",
            "KL-04",
            "KL-06",
            "REW-05",
            "GRD-01",
            "GRD-02",
            "GRD-05",
            "VAL-01",
            "VAL-02",
            "GRP-01",
            "REW-08",
            "REW-10",
        ),
    ),
    Kind(
        "kl-runaway",
        ("KL-06", "KL-03", "KL-04"),
        (5, 12, 40),
        runaway,
        profiles=WITH_KL,
        reads=(*KL, *SCORE),
        also=("KL-05", "REW-03", "REW-10"),
        after=(0.45, 0.6),
    ),
    Kind(
        "update-kl",
        ("KL-08",),
        (40, 150, 600),
        update_kl,
        also=("ACT-05", "GRD-01"),
        profiles=RL,
        reads=("actor/ppo_kl",),
    ),
    Kind(
        "kl-controller",
        ("KL-10",),
        (15, 60, 300),
        pinned_controller,
        lasts=100,
        profiles=("ppo",),
        after=(0.3, 0.45),
        reads=("actor/reward_kl_penalty_coeff",),
    ),
)
