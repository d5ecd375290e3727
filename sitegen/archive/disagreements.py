"""Values that differ between sources, or that a source logged twice, as problems that name both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sitegen.archive import ranks
from sitegen.archive.gather import Disagreement
from sitegen.errors import Problem

_TWO = "If they are two runs, give each a folder of its own."
_JOB = "Each process logs values of its own; extras.parquet has those of the others."


def told(found: Iterable[Disagreement]) -> Iterator[Problem]:
    """A problem per pair of sources; the processes of one job are told together."""
    listed = list(found)
    jobs = ranks.siblings(path for each in listed for path in each.sources)
    processes: dict[str, list[Disagreement]] = {}
    for each in listed:
        kept, other = each.sources
        if each.kind == "repeat":
            what = f"a step was logged again with other values; the last was kept: {_where(each)}"
            yield Problem(kept, None, "repeat", what)
        elif kept in jobs and jobs[kept] == jobs.get(other):
            processes.setdefault(kept, []).append(each)
        else:
            what = f"differs from {kept}, whose values were kept: {_where(each)}"
            yield Problem(other, None, "conflict", what, _TWO)
    for kept, several in processes.items():
        yield _process(kept, several)


def _process(kept: str, several: list[Disagreement]) -> Problem:
    values, first = sum(each.values for each in several), several[0]
    others = first.sources[1] if len(several) == 1 else f"{len(several)} other processes of the job"
    where = f"the first is {first.name} at step {first.step} of {first.sources[1]}"
    what = f"{others} logged {values} other values, {where}; those of this file are shown"
    return Problem(kept, None, "conflict", what, _JOB)


def _where(each: Disagreement) -> str:
    place = f"{each.name} at step {each.step}"
    return f"1 value, {place}" if each.values == 1 else f"{each.values} values, the first is {place}"
