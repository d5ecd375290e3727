"""Everything that goes wrong, by name."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from tests.detection.incidents import (
    crash,
    critic,
    divergence,
    entropy,
    gradient,
    hacking,
    length,
    log,
    machine,
    otherhand,
    rollout,
    score,
    update,
    validation,
)
from tests.detection.incidents.kind import STRENGTHS, Kind, Place

ROOMS = (
    score,
    hacking,
    validation,
    divergence,
    entropy,
    gradient,
    length,
    update,
    critic,
    machine,
    rollout,
    log,
    crash,
    otherhand,
)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in chain.from_iterable(room.KINDS for room in ROOMS)}

#: Incidents of the log and of its end: such a log is not made worse.
OF_THE_LOG = frozenset(kind.name for room in (log, crash) for kind in room.KINDS)

__all__ = ["KINDS", "OF_THE_LOG", "STRENGTHS", "Kind", "Place"]
