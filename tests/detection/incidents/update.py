"""The update of the policy: clipping, its loss, its learning rate, the groups it is fed."""

from __future__ import annotations

import numpy as np

from tests.detection.curves import Curves
from tests.detection.incidents.divergence import _flat_from
from tests.detection.incidents.kind import Kind, Place
from tests.detection.trace import Trace


def clipping(curves: Curves, place: Place) -> None:
    """A large share of the tokens is outside the clip range."""
    curves["clip"] += (place.force - curves["clip"]) * curves.ramp(place.first, 5)


def dual_clip(curves: Curves, place: Place) -> None:
    """The lower bound of dual clipping is busy."""
    curves["clip_low"] += place.force * curves.ramp(place.first, 5)


def loss_spike(trace: Trace, place: Place) -> None:
    """The policy loss of a few steps is many times the usual."""
    values = trace.metrics["actor/pg_loss"]
    usual = float(np.nanmedian(np.abs(values[: place.first])))
    values[place.first : place.last + 1] = -usual * place.force


def rate_jump(curves: Curves, place: Place) -> None:
    """The learning rate is multiplied from one step to the next: a resume with another setting."""
    curves["lr"] *= 1 + (place.force - 1) * curves.ramp(place.first, 1)


def rate_zero(curves: Curves, place: Place) -> None:
    """The learning rate is zero long before the end."""
    _flat_from(curves, place.first)
    curves["lr"] *= 1 - curves.ramp(place.first, place.force)


def starving(curves: Curves, place: Place) -> None:
    """Dynamic sampling must generate more and more batches to fill one."""
    curves["tries"] *= 1 + (place.force - 1) * curves.ramp(place.first, 0.15 * curves.rows)


#: GSPO clips an eighth of its tokens on a good day.
UNCLIPPED = ("ppo", "grpo", "dapo", "lora")
KINDS = (
    Kind(
        "clipping", ("ACT-05",), (0.13, 0.35, 0.6), clipping, profiles=UNCLIPPED, reads=("actor/pg_clipfrac",)
    ),
    Kind("dual-clip", ("ACT-07",), (0.015, 0.05, 0.15), dual_clip, reads=("actor/pg_clipfrac_lower",)),
    Kind("loss-spike", ("ACT-01",), (15, 40, 150), None, loss_spike, lasts=2, reads=("actor/pg_loss",)),
    Kind("rate-jump", ("ACT-09",), (4, 12, 50), rate_jump, reads=("actor/lr",)),
    Kind("rate-zero", ("ACT-09",), (20, 5, 1), rate_zero, reads=("actor/lr",), also=("GRD-03",)),
    Kind(
        "sampling-starves",
        ("GRP-03",),
        (2.2, 3, 4.5),
        starving,
        profiles=("dapo",),
        reads=("train/num_gen_batches",),
    ),
)
