"""The same runs, logged badly: sparse, rounded, with holes, with few metrics, seen soon after the onset."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping

import numpy as np

from tests.detection.habits import modern
from tests.detection.incidents import KINDS, OF_THE_LOG
from tests.detection.trace import Label, Trace

#: Rows that an incident must keep: the shortest window that rules look through.
LEAST = 5


def sparse(trace: Trace) -> None:
    """Every tenth step is logged."""
    trace.keep(trace.steps % (10 * trace.setup.stride) == 0)


def rounded(trace: Trace) -> None:
    """Three decimals."""
    trace.metrics = {name: np.round(values, 3) for name, values in trace.metrics.items()}


def holes(trace: Trace) -> None:
    """30 % of the rows are lost, here and there."""
    rng = np.random.default_rng(zlib.crc32(trace.name.encode()))
    trace.keep(rng.random(trace.rows) >= 0.3)


def few_metrics(trace: Trace) -> None:
    """Half of the metrics are not logged; those that an incident shows in are."""
    shown = tuple(part for label in trace.labels for part in KINDS[label.kind].reads)
    rng = np.random.default_rng(zlib.crc32(trace.name.encode()))
    trace.metrics = {
        name: values
        for name, values in trace.metrics.items()
        if rng.random() < 0.5 or modern(name).startswith((*shown, "critic/score/mean"))
    }


def early(trace: Trace) -> None:
    """The log ends 20 % of the run after the onset, and is still being written."""
    onset = min((label.first for label in trace.labels if not label.whole), default=None)
    if onset is None:
        return
    last = int(np.searchsorted(trace.steps, onset)) + trace.setup.rows // 5
    if last < trace.rows - 1:
        trace.end_at(last)
        trace.growing = True


VARIANTS: Mapping[str, Callable[[Trace], None]] = {
    "every-tenth": sparse,
    "three-decimals": rounded,
    "holes": holes,
    "few-metrics": few_metrics,
    "early": early,
}
#: Sizes (steps, stride) that leave enough rows; None = as drawn.
SIZES: Mapping[str, tuple[int, int] | None] = {"every-tenth": (1000, 1)}

#: What such a log cannot show: a learning rate of 0.000; what happens every few steps, seen every tenth.
HIDDEN: Mapping[str, frozenset[str]] = {
    "three-decimals": frozenset({"rate-jump", "rate-zero"}),
    "every-tenth": frozenset({"periodic-stalls"}),
}


def degrade(trace: Trace, variant: str) -> Trace | None:
    """`trace` as logged by `variant`, changed in place; None where its incident cannot be seen so."""
    hidden = OF_THE_LOG | HIDDEN.get(variant, frozenset())
    if any(label.kind in hidden for label in trace.labels):
        return None
    VARIANTS[variant](trace)
    if not trace.rows or not all(_visible(label, trace) for label in trace.labels):
        return None
    trace.true_of_log = ("LOG-01",) if variant == "holes" else ()
    trace.name = f"{trace.name}-{variant}"
    return trace


def _visible(label: Label, trace: Trace) -> bool:
    there = (trace.steps >= label.first) & (trace.steps <= label.last)
    return int(there.sum()) >= LEAST or (label.hard and bool(there.any()))
