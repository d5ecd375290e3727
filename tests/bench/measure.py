"""What a measure returns, and where it works."""

from __future__ import annotations

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


def seconds(work: Callable[[], object], times: int = 1) -> float:
    """Best of `times`."""
    found = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return min(found)


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
