"""Where phases begin and end, against runs whose climb has a known shape.

`python -m tests.detection.borders` prints how far off the borders are, in % of the run. A climb begins where
the curve without noise has left its first level and ends where it has reached its last one, each by
`MARGIN` of the rise; a straight climb begins and ends at its corners.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from sitegen import rules
from sitegen.model import Floats, Phase, PhaseName
from tests.detection.curves import healthy
from tests.detection.noise import observe
from tests.detection.profiles import PROFILES, RL, Rng, setup
from tests.detection.simulate import SEEDS
from tests.detection.trace import Trace
from tests.detection.write import Shelf

#: Share of the rise at which a bent climb has begun, and that is left when it ends.
MARGIN = 0.075
SHAPES = ("linear", "logistic", "saturating", "late-saturating")
SIZES = ((100, 1), (150, 1), (250, 1), (400, 1), (1000, 1), (5000, 1), (5000, 10))
#: Phases that come after a climb.
RESTED = (PhaseName.PLATEAU, PhaseName.CONVERGED)


@dataclass(frozen=True, slots=True)
class Climb:
    """A healthy run with one climb, which lasts from row `first` to row `last` (1-based)."""

    shape: str
    trace: Trace
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Off:
    """How far off the borders of one run are, in % of the run, late = positive; None = not found."""

    shape: str
    rows: int
    begin: float | None
    end: float | None
    stretches: int  # of all phases


def climb(shape: str, seed: int, margin: float = MARGIN) -> Climb:
    """The run of this shape and seed."""
    rng = np.random.default_rng([zlib.crc32(f"climb {shape}".encode()), seed])
    profile = PROFILES[RL[int(rng.integers(len(RL)))]]
    drawn = setup(profile, rng, SIZES[int(rng.integers(len(SIZES)))])
    curves = healthy(drawn, rng)
    risen, first, last = _risen(shape, curves.part, rng)
    low = rng.uniform(0.05, 0.35)
    curves["right"] = low + rng.uniform(0.25, 0.6) * risen
    curves["val"] = 0.95 * curves["right"]
    if shape != "linear":
        first, last = _crossings(risen, margin)
    trace = observe(curves, f"{shape}-{seed:04}")
    return Climb(shape, trace, first, last)


def _risen(shape: str, part: Floats, rng: Rng) -> tuple[Floats, int, int]:
    """The climb from 0 to 1, and its corners if it has some."""
    if shape == "linear":
        first = rng.uniform(0.15, 0.35)
        last = first + rng.uniform(0.12, 0.45)
        n = len(part)
        return np.clip((part - first) / (last - first), 0, 1), round(first * n), round(last * n)
    if shape == "logistic":
        middle, steep = rng.uniform(0.25, 0.55), rng.uniform(9, 30)
        bent = 1 / (1 + np.exp(-steep * (part - middle)))
    else:
        late = rng.uniform(0.12, 0.35) if shape == "late-saturating" else 0.0
        bent = 1 - np.exp(-rng.uniform(4, 14) * np.clip(part - late, 0, None))
    return (bent - bent[0]) / (bent[-1] - bent[0]), 1, len(part)


def _crossings(risen: Floats, margin: float) -> tuple[int, int]:
    return int(np.argmax(risen >= margin)) + 1, int(np.argmax(risen >= 1 - margin)) + 1


def measure(climbs: Iterable[Climb]) -> list[Off]:
    """Find the phases of the runs and compare. The runs are healthy, so that no other rule is asked."""
    known = list(climbs)
    catalog = [rule for rule in rules.catalog() if rule.kind == "phase"]
    with TemporaryDirectory() as folder:
        shelf = Shelf(Path(folder), [one.trace for one in known])
        found = rules.evaluate(shelf, shelf.runs(), catalog)
    return [_off(one, found[one.trace.name].phases) for one in known]


def _off(one: Climb, phases: Sequence[Phase]) -> Off:
    row = {int(step): at for at, step in enumerate(one.trace.steps, start=1)}
    n = one.trace.rows
    climbs = [phase for phase in phases if phase.phase is PhaseName.CLIMB]
    begin = end = None
    if climbs:
        longest = max(climbs, key=lambda phase: phase.last - phase.first)
        before = [phase for phase in phases if phase.last < longest.first]
        waited = any(phase.phase is PhaseName.EXPLORATION for phase in before)
        begin = 100 * (row[longest.first] - one.first) / n if waited else None
        rested = [phase for phase in phases if phase.phase in RESTED and phase.first > longest.last]
        end = 100 * (row[rested[0].first] - one.last) / n if rested else None
    return Off(one.shape, n, begin, end, len(phases))


def _summary(values: Sequence[float | None]) -> str:
    found = np.array([value for value in values if value is not None])
    if not len(found):
        return f"{'-':>34}  of {len(values)}"
    size = np.abs(found)
    return (
        f"{np.median(found):+6.1f} {np.median(size):6.1f} {np.percentile(size, 90):6.1f} "
        f"{100 * np.mean(size <= 3):5.0f} %  {len(found)} of {len(values)}"
    )


def table(offs: Sequence[Off]) -> Iterator[str]:
    """Median with its sign, median and 90th percentile of the size, share within 3 %, how many were found."""
    groups: Mapping[str, list[Off]] = {shape: [one for one in offs if one.shape == shape] for shape in SHAPES}
    yield f"{'':24} median   |median| p90  within 3 %"
    for shape, each in groups.items():
        if each:
            yield f"{shape:16} begin  {_summary([one.begin for one in each])}"
            yield f"{shape:16} end    {_summary([one.end for one in each])}"
            yield f"{shape:16} phases {np.mean([one.stretches for one in each]):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.detection.borders", description=__doc__)
    parser.add_argument("--runs", type=int, default=20, help="seeds of every shape")
    parser.add_argument("--seeds", choices=sorted(SEEDS), default="test")
    parser.add_argument("--margin", type=float, default=MARGIN)
    asked = parser.parse_args()
    used = range(SEEDS[asked.seeds].start, SEEDS[asked.seeds].start + asked.runs)
    offs = measure(climb(shape, seed, asked.margin) for seed in used for shape in SHAPES)
    sys.stdout.write("\n".join(table(offs)) + "\n")


if __name__ == "__main__":
    main()
