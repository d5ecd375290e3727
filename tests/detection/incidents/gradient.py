"""The gradient spikes, explodes, vanishes, is not a number."""

from __future__ import annotations

import numpy as np

from sitegen.model import Severity
from tests.detection.curves import Curves
from tests.detection.incidents.divergence import _flat_from
from tests.detection.incidents.kind import Kind, Place
from tests.detection.incidents.score import SCORE
from tests.detection.profiles import RL
from tests.detection.trace import Trace

NORM = ("actor/grad_norm", "train/grad_norm")


def burst(trace: Trace, place: Place) -> None:
    """Eight spikes within thirty steps."""
    rows = np.sort(place.rng.choice(np.arange(place.first + 1, place.last + 1), 7, replace=False))
    for name in NORM:
        if name in trace.metrics:
            values = trace.metrics[name]
            usual = float(np.nanmedian(values[: place.first]))
            values[[place.first, *rows]] = usual * place.force * np.exp(place.rng.normal(0, 0.2, 8))


def explosion(curves: Curves, place: Place) -> None:
    """The norm leaves its level by an order of magnitude within three steps, and stays there."""
    curves["grad"] *= 1 + (place.force - 1) * curves.ramp(place.first, 3)


def creep(curves: Curves, place: Place) -> None:
    """The norm grows through the second half of the run."""
    curves["grad"] *= place.force ** curves.ramp(place.first, 0.4 * curves.rows)


def vanishing(curves: Curves, place: Place) -> None:
    """Almost no gradient is left, and nothing is learned any more, though there would be room."""
    _flat_from(curves, place.first)
    curves["right"] *= 0.8
    curves["val"] *= 0.8
    curves["grad"] *= place.force ** curves.ramp(place.first, 5)


def _blank(trace: Trace, place: Place, names: tuple[str, ...], raw: str = "nan") -> None:
    rows = np.arange(place.first, place.last + 1)
    for name in names:
        trace.break_value(name, rows, raw)


def nan_rows(trace: Trace, place: Place) -> None:
    """The gradient is not finite for some steps; verl skips these updates and goes on."""
    _blank(trace, place, NORM)
    trace.say(place.first, "nan_guard", "warning", "WARN: rank 0 grad_norm is not finite: nan")


def inf_loss(trace: Trace, place: Place) -> None:
    """The loss overflows for some steps."""
    _blank(trace, place, ("actor/pg_loss",), "inf")


CORE = (
    "actor/grad_norm",
    "actor/pg_loss",
    "actor/entropy",
    "actor/kl_loss",
    "actor/ppo_kl",
    "critic/vf_loss",
)


def nan_for_good(trace: Trace, place: Place) -> None:
    """Metrics of the update are not a number any more, until the end."""
    _blank(trace, place, CORE[: int(place.force)])


def dead_policy(curves: Curves, place: Place) -> None:
    """What a policy of NaN writes earns nothing."""
    for name in ("right", "val"):
        curves[name] *= 1 - curves.ramp(place.first + 1, 2)


def sft_nan(trace: Trace, place: Place) -> None:
    """The loss of a fine-tuning run is not a number from here on."""
    _blank(trace, place, ("train/loss", "train/grad_norm"))


AFTERMATH = ("REW-05", "REW-08", "VAL-01", "VAL-02", "GRP-01", "GRP-02", "RUN-05", "REW-10")
KINDS = (
    Kind(
        "gradient-burst",
        ("GRD-01", "GRD-02"),
        (5, 9, 16),
        None,
        burst,
        lasts=30,
        reads=NORM,
        profiles=(*RL, "sft"),
    ),
    Kind(
        "gradient-explosion",
        ("GRD-02",),
        (12, 30, 150),
        explosion,
        hard=True,
        also=("GRD-01", "GRD-05"),
        reads=NORM,
        profiles=(*RL, "sft"),
    ),
    Kind(
        "gradient-creep",
        ("GRD-05",),
        (4, 6, 12),
        creep,
        also=("GRD-01", "GRD-02"),
        reads=NORM,
        after=(0.4, 0.5),
    ),
    Kind(
        "gradient-vanishing",
        ("GRD-03", "GRP-02"),
        (0.03, 0.005, 1e-7),
        vanishing,
        also=("GRD-01",),
        reads=(*NORM, *SCORE),
        after=(0.45, 0.6),
    ),
    Kind("gradient-nan", ("GRD-04",), (1, 3, 8), None, nan_rows, force_is_rows=True, hard=True, reads=NORM),
    Kind(
        "loss-inf",
        ("GRD-04",),
        (1, 3, 8),
        None,
        inf_loss,
        force_is_rows=True,
        hard=True,
        reads=("actor/pg_loss",),
    ),
    Kind(
        "nan-for-good",
        ("GRD-04",),
        (2, 4, 6),
        dead_policy,
        nan_for_good,
        also=AFTERMATH,
        hard=True,
        reads=(*CORE, *SCORE),
    ),
    Kind("sft-nan", ("GRD-04",), (1, 1, 1), None, sft_nan, hard=True, profiles=("sft",), reads=("train/",)),
    Kind(
        "gradient-spike-huge",
        ("GRD-01", "GRD-02"),
        (35, 80, 400),
        None,
        lambda trace, place: _spike(trace, place),
        lasts=1,
        least=Severity.WARNING,
        reads=NORM,
    ),
)


def _spike(trace: Trace, place: Place) -> None:
    """One step whose norm is tens of times the usual."""
    values = trace.metrics["actor/grad_norm"]
    values[place.first] = place.force * float(np.nanmedian(values[: place.first]))
