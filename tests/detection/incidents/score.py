"""The score: jumps, collapses, decays, never moves, dies."""

from __future__ import annotations

import numpy as np

from tests.detection.curves import Curves
from tests.detection.incidents.kind import Kind, Place


def _room(curves: Curves, highest: float = 0.5) -> None:
    """Press the curve of the score below `highest`, so that something is left to gain."""
    factor = min(1.0, highest / float(curves["right"].max()))
    curves["right"] *= factor
    curves["val"] *= factor


def stair(curves: Curves, place: Place) -> None:
    """The mean mark jumps within one step and stays: another reward, another source of data."""
    _room(curves)
    jump = max(place.force * curves.noise(place.first), 0.025 * place.force)
    curves["right"] = np.clip(curves["right"] + jump * curves.ramp(place.first, 1), 0, 0.97)


def _lose(curves: Curves, place: Place, rows: float) -> None:
    start, peak = float(curves["right"][0]), float(curves["right"][: place.first].max())
    floor = peak - place.force * (peak - min(start, 0.5 * peak))
    down = curves.ramp(place.first, rows)
    for name in ("right", "val"):
        curves[name] = np.clip(curves[name] * (1 - down) + np.minimum(floor, curves[name]) * down, 0.0, 1.0)


def collapse(curves: Curves, place: Place) -> None:
    """Within a few steps most of what was learned is gone."""
    _lose(curves, place, place.rng.uniform(2, 8))


def decay(curves: Curves, place: Place) -> None:
    """What was learned goes bit by bit over a quarter of the run."""
    _lose(curves, place, 0.25 * curves.rows)


def standstill(curves: Curves, place: Place) -> None:
    """The score never leaves its start."""
    level = place.rng.uniform(0.08, 0.45)
    curves["right"] = level + place.force * curves.noise(0) * curves.part
    curves["val"] = level * 0.95
    curves["entropy"] = curves["entropy"][0] * (1 - 0.1 * curves.part)
    curves["length"] = curves["length"][0]
    if "kl" in curves:
        curves["kl"] = 0.001 + 0.01 * curves.part


def too_hard(curves: Curves, place: Place) -> None:
    """Nearly every answer is wrong from the first step to the last."""
    standstill(curves, Place(0, place.last, 0.0, place.rng))
    curves["right"] = place.force
    curves["val"] = place.force


def dead_reward(curves: Curves, place: Place) -> None:
    """The reward server is down: every answer gets the lowest mark, nothing can be learned from it."""
    gone = curves.bump(place.first, place.last)
    curves["right"] *= 1 - gone
    curves["signal"] *= 1 - gone
    curves["grad"] *= 1 - gone + 1e-9


def restless(curves: Curves, place: Place) -> None:
    """The score swings far more than sampling noise explains."""
    curves["unrest"] = 1 + (place.force - 1) * curves.bump(place.first, place.last)


AFTERMATH = ("VAL-01", "VAL-02", "GRP-01", "GRP-02", "KL-06", "GRD-03", "REW-11", "REW-08", "REW-10")
SCORE = ("critic/score", "critic/rewards")
KINDS = (
    Kind(
        "stair-jump",
        ("REW-01",),
        (6, 10, 16),
        stair,
        lasts=5,
        after=(0.3, 0.75),
        also=("VAL-01", "VAL-02", "REW-03", "REW-11"),
        reads=SCORE,
    ),
    Kind("reward-collapse", ("REW-05",), (0.75, 0.95, 1.3), collapse, also=AFTERMATH, hard=True, reads=SCORE),
    Kind(
        "reward-decay", ("REW-05",), (0.75, 0.95, 1.3), decay, also=AFTERMATH, reads=SCORE, after=(0.4, 0.6)
    ),
    Kind(
        "standstill",
        ("REW-06",),
        (0.5, 0.25, 0.0),
        standstill,
        whole=True,
        also=("GRP-01", "VAL-03", "KL-01", "KL-06"),
        reads=SCORE,
    ),
    Kind(
        "too-hard",
        ("GRP-01", "REW-06"),
        (0.02, 0.012, 0.004),
        too_hard,
        whole=True,
        profiles=("grpo", "gspo", "lora"),
        also=("VAL-03", "KL-01", "REW-08"),
        reads=SCORE,
    ),
    Kind(
        "dead-reward",
        ("REW-08", "REW-05", "GRP-02"),
        (12, 25, 60),
        dead_reward,
        force_is_rows=True,
        hard=True,
        also=(*AFTERMATH, "REW-01", "GRD-01", "GRD-02"),
        reads=(*SCORE, "critic/advantages", "actor/grad_norm"),
    ),
    Kind(
        "restless-score",
        ("REW-11",),
        (3, 5, 8),
        restless,
        also=("REW-05", "REW-01"),
        reads=SCORE,
        after=(0.4, 0.6),
    ),
)
