"""Entropy runs out, falls off a cliff, explodes."""

from __future__ import annotations

import numpy as np

from tests.detection.curves import Curves
from tests.detection.incidents.divergence import _flat_from
from tests.detection.incidents.kind import Kind, Place
from tests.detection.incidents.score import SCORE


def exhaustion(curves: Curves, place: Place) -> None:
    """Entropy decays to next to nothing and the score stays where it is."""
    _flat_from(curves, place.first - 10)
    curves["right"] *= 0.8
    curves["val"] *= 0.8
    level = place.force * float(curves["entropy"][0])
    now = float(curves["entropy"][place.first])
    down = curves.ramp(place.first, max(10.0, 0.1 * curves.rows))
    curves["entropy"] *= np.exp(np.minimum(0, np.log(level / now)) * down)


def cliff(curves: Curves, place: Place) -> None:
    """Entropy loses most of itself within three steps; the score does not care."""
    _flat_from(curves, place.first - 25)
    curves["entropy"] *= 1 + (place.force - 1) * curves.ramp(place.first, 3)


def explosion(curves: Curves, place: Place) -> None:
    """Entropy multiplies within some fifteen steps, answers get longer, the score falls."""
    up = curves.ramp(place.first, 15)
    curves["entropy"] *= 1 + (place.force - 1) * up
    curves["right"] *= 1 - 0.08 * place.force * up
    curves["val"] *= 1 - 0.08 * place.force * up
    curves["length"] *= 1 + 0.05 * place.force * up


def creep(curves: Curves, place: Place) -> None:
    """Entropy rises above its start over a third of the run, while the score sinks."""
    up = curves.ramp(place.first, 0.35 * curves.rows)
    target = place.force * float(curves["entropy"][0])
    curves["entropy"] += (target - curves["entropy"]) * up
    for name in ("right", "val"):
        curves[name] *= 1 - 0.4 * up


AFTERMATH = ("REW-05", "VAL-02", "VAL-01", "LEN-01", "LEN-03", "GRP-01", "KL-06", "REW-10")
ENTROPY = ("actor/entropy", *SCORE)
KINDS = (
    Kind(
        "entropy-exhausted",
        ("ENT-01", "ENT-02", "ENT-05"),
        (0.04, 0.02, 0.005),
        exhaustion,
        reads=ENTROPY,
        also=("ENT-06", "KL-06"),
        after=(0.35, 0.6),
    ),
    Kind(
        "entropy-cliff",
        ("ENT-02", "ENT-01", "ENT-05"),
        (0.35, 0.2, 0.06),
        cliff,
        reads=ENTROPY,
        also=("ENT-06", "KL-06"),
    ),
    Kind("entropy-explosion", ("ENT-03",), (2.5, 4, 8), explosion, hard=True, also=AFTERMATH, reads=ENTROPY),
    Kind(
        "entropy-creep", ("ENT-03",), (1.7, 2.5, 4), creep, also=AFTERMATH, reads=ENTROPY, after=(0.35, 0.5)
    ),
)
