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
)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in chain.from_iterable(room.KINDS for room in ROOMS)}

__all__ = ["KINDS", "STRENGTHS", "Kind", "Place"]
