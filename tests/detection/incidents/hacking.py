"""The reward is gamed: what is measured goes up, what was wanted does not."""

from __future__ import annotations

import numpy as np

from tests.detection.curves import Curves
from tests.detection.incidents.kind import Kind, Place
from tests.detection.incidents.score import SCORE, _room
from tests.detection.profiles import WITH_KL
from tests.detection.trace import Trace


def hack(curves: Curves, place: Place) -> None:
    """The score climbs on while the policy leaves the reference and answers change their shape."""
    _room(curves, 0.6)
    up = curves.ramp(place.first, 0.12 * curves.rows)
    before = float(curves["right"][place.first])
    curves["right"] = np.clip(curves["right"] + up * (0.95 - before) * min(1.0, 0.25 * place.force), 0, 0.97)
    curves["val"] *= 1 - up * min(0.6, 0.1 * place.force)
    if "kl" in curves:
        curves["kl"] *= 1 + (place.force - 1) * up
    shape = 1 / (1 + 0.4 * place.force) if place.rng.random() < 0.5 else min(2.5, 1 + 0.3 * place.force)
    curves["length"] *= 1 + (shape - 1) * up
    curves["entropy"] *= 1 - 0.5 * up


def unwatched(trace: Trace, place: Place) -> None:
    """The run never validates."""
    trace.metrics = {name: values for name, values in trace.metrics.items() if not name.startswith("val-")}


SIDES = (
    "KL-05",
    "KL-06",
    "KL-03",
    "REW-01",
    "REW-02",
    "LEN-01",
    "LEN-02",
    "LEN-03",
    "LEN-04",
    "ENT-01",
    "ENT-02",
    "ENT-05",
    "ENT-06",
    "REW-05",
    "GRD-01",
    "THR-03",
    "THR-01",
)
WATCHED = (*SCORE, "actor/kl_loss", "actor/reward_kl_penalty", "response_length/mean", "actor/entropy")
KINDS = (
    Kind(
        "hacking",
        ("REW-03", "VAL-01", "VAL-02"),
        (2.2, 3.5, 6.0),
        hack,
        also=SIDES,
        profiles=WITH_KL,
        after=(0.35, 0.6),
        reads=(*WATCHED, "val-core"),
    ),
    Kind(
        "hacking-unwatched",
        ("REW-03",),
        (2.2, 3.5, 6.0),
        hack,
        unwatched,
        also=SIDES,
        profiles=WITH_KL,
        after=(0.35, 0.6),
        reads=WATCHED,
    ),
    Kind(
        "hacking-without-kl",
        ("VAL-01", "VAL-02"),
        (2.2, 3.5, 6.0),
        hack,
        also=SIDES,
        profiles=("dapo",),
        after=(0.35, 0.6),
        reads=(*SCORE, "val-core"),
    ),
)
