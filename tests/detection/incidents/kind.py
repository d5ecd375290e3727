"""A kind of incident: what it does to a run, and which rules must see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sitegen.model import Severity
from tests.detection.curves import Curves
from tests.detection.profiles import RL, Rng
from tests.detection.trace import Trace

STRENGTHS = ("low", "medium", "high")


@dataclass(frozen=True, slots=True)
class Place:
    """Rows of an incident, 0-based and inclusive, and how strong it is, as a number of its kind."""

    first: int
    last: int
    force: float
    rng: Rng


Bend = Callable[[Curves, Place], None]
Scar = Callable[[Trace, Place], None]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of incident.

    Args:
        codes: rules that may report it; the first is the one it is meant for.
        forces: the force at low, medium and high strength.
        bend: what it does to the curves, before noise.
        scar: what it does to the log, after noise.
        also: rules that may rightly report what follows from it.
        hard: must never be missed.
        lasts: rows it lasts; a share of the run where below 1; None = to the end.
        force_is_rows: it lasts as many rows as its force says.
        whole: the whole run is like that, there is no onset.
        after: earliest and latest onset, as shares of the run.
        profiles: kinds of run it happens to.
        least: severity a finding must have to count.
        reads: names as logged (or their beginnings) that the incident shows in; a degraded log keeps them.
    """

    name: str
    codes: tuple[str, ...]
    forces: tuple[float, float, float]
    bend: Bend | None = None
    scar: Scar | None = None
    also: tuple[str, ...] = ()
    hard: bool = False
    lasts: float | None = None
    force_is_rows: bool = False
    whole: bool = False
    after: tuple[float, float] = (0.45, 0.7)
    profiles: tuple[str, ...] = RL
    least: Severity = Severity.WARNING
    reads: tuple[str, ...] = ()

    @property
    def sides(self) -> tuple[str, ...]:
        """`also`, and a gradient spike that happened to fall beside a breakdown: GRD-01 links the two."""
        linked = {"KL-05", "ENT-03", "REW-05"} & {*self.codes, *self.also}
        return (*self.also, "GRD-01") if linked else self.also

    def place(self, rows: int, strength: str, rng: Rng) -> Place:
        """Where it happens in a run of `rows`."""
        force = self.forces[STRENGTHS.index(strength)]
        if self.whole:
            return Place(0, rows - 1, force, rng)
        first = max(int(rng.uniform(*self.after) * rows), min(45, rows // 2))
        lasts = force if self.force_is_rows else self.lasts
        if lasts is None:
            return Place(first, rows - 1, force, rng)
        length = lasts if lasts >= 1 else max(8.0, lasts * rows)
        return Place(first, min(rows - 1, first + int(length) - 1), force, rng)
