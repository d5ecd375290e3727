"""What a measure returns, and where it works."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from . import inputs
from .sites import Build, build


@dataclass(frozen=True, slots=True)
class Result:
    """One number against its target; `better`: "up" or "down"; `target` None: the number only informs."""

    name: str
    value: float
    unit: str
    target: float | None
    better: str
    detail: str

    @property
    def met(self) -> bool | None:
        if self.target is None:
            return None
        return self.value >= self.target if self.better == "up" else self.value <= self.target

    def line(self) -> str:
        """For people: name, number, target, how it went, where it comes from."""
        sign = ">=" if self.better == "up" else "<="
        target = "" if self.target is None else f"{sign} {self.target:g}"
        word = {None: "", True: "met", False: "MISSED"}[self.met]
        return f"{self.name:<12} {self.value:9.3g} {self.unit:<3} {target:<8} {word:<7} {self.detail}"


@dataclass(frozen=True, slots=True, order=True)
class Taken:
    """What some work took: seconds by the clock, and of all cores, its child processes included."""

    wall: float
    cpu: float

    def speed(self, megabytes: float) -> str:
        return f"{megabytes / self.wall:.0f} MB/s ({megabytes / self.cpu:.0f} a core)"


def taken(work: Callable[[], object], times: int = 1) -> Taken:
    """Best of `times` by the clock."""
    found = []
    for _ in range(times):
        began, cpu = time.perf_counter(), cpu_seconds()
        work()
        found.append(Taken(time.perf_counter() - began, cpu_seconds() - cpu))
    return min(found)


def cpu_seconds() -> float:
    """Of this process and the children it has waited for."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


@dataclass
class Bench:
    """A folder of inputs at a scale, made when they are first asked for."""

    folder: Path
    scale: float

    def size(self, full: int, least: int = 1) -> int:
        """`full` at the scale of this run."""
        return max(least, round(full * self.scale))

    @cached_property
    def archive(self) -> Path:
        """1 000 runs x 300 steps x 60 metrics, every other one a console log."""
        return inputs.archive(self.folder / "archive", self.size(1000, 4), 300)

    @cached_property
    def cold(self) -> Build:
        """A build of the archive from nothing."""
        return build(self.archive, self.folder / "home", self.folder / "site", fresh=True)

    @cached_property
    def warm(self) -> Build:
        """The same again, with nothing changed."""
        assert self.cold is not None  # comes first
        return build(self.archive, self.folder / "home", self.folder / "site-warm", fresh=False)
