"""The log itself is damaged: gaps, rewinds, metrics that vanish, torn lines."""

from __future__ import annotations

import numpy as np

from tests.detection.incidents.kind import Kind, Place
from tests.detection.profiles import RL
from tests.detection.trace import Trace

EVERYONE = (*RL, "sft")


def gap(trace: Trace, place: Place) -> None:
    """A stretch of steps is not in the log."""
    rows = np.arange(trace.rows)
    trace.keep((rows < place.first) | (rows > place.last))


def rewind(trace: Trace, place: Place) -> None:
    """The counter goes back to where the incident begins, and nothing says why."""
    back = min(int(place.force), trace.rows - place.first)
    trace.again_from(place.first + back - 1, back, place.rng)


def restarts(trace: Trace, place: Place) -> None:
    """The run is restarted again and again within a few dozen steps."""
    for _ in range(int(place.force)):
        trace.again_from(place.first + 3, 4, place.rng)


def vanished_metric(trace: Trace, place: Place) -> None:
    """Metrics that every row carried are not there any more."""
    for name in ("actor/grad_norm", "actor/entropy", "actor/pg_loss")[: int(place.force)]:
        trace.metrics[name][place.first :] = np.nan


def torn(trace: Trace, place: Place) -> None:
    """Lines all over the log have lost their end."""
    rows = np.flatnonzero(place.rng.random(trace.rows) < place.force)
    trace.torn = [int(row) for row in rows] or [trace.rows // 2]
    for name in list(trace.metrics)[len(trace.metrics) // 2 :]:
        trace.metrics[name][trace.torn] = np.nan


KINDS = (
    Kind("step-gap", ("LOG-01",), (5, 15, 30), None, gap, force_is_rows=True, profiles=EVERYONE, reads=("",)),
    Kind("step-rewind", ("LOG-02",), (3, 10, 30), None, rewind, lasts=1, profiles=RL, reads=("",)),
    Kind("restart-loop", ("RUN-08", "LOG-02"), (3, 4, 6), None, restarts, lasts=8, profiles=RL, reads=("",)),
    Kind("vanished-metric", ("LOG-05",), (1, 2, 3), None, vanished_metric, reads=("",)),
    Kind("torn-lines", ("LOG-04",), (0.05, 0.1, 0.25), None, torn, whole=True, also=("LOG-05",), reads=("",)),
)
