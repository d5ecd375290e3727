"""Which runs a run is compared with, and what was set differently."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sitegen.archive.settings import same
from sitegen.model import Run
from sitegen.reports.shapes import Compared, Difference

_FACTS = ("remote", "branch", "python", "cuda")  # compared beside every `…_version`


@dataclass(frozen=True, slots=True)
class Peers:
    """Ids of the runs that a run is compared with; None = there is none."""

    baseline: str | None = None
    previous: str | None = None
    lost: str | None = None  # the baseline that run.toml names, where there is no such run


def peers(runs: Iterable[Run]) -> dict[str, Peers]:
    """Peers of all runs of an archive.

    The baseline is the run that run.toml names, by id or alias. The previous run is the last of the same
    project that started before, if there is one of the same experiment then that.
    """
    known = tuple(runs)
    names = {alias: run.id for run in known for alias in run.aliases} | {run.id: run.id for run in known}
    before = _previous(known)
    found = {}
    for run in known:
        baseline = names.get(run.baseline) if run.baseline else None
        lost = run.baseline if run.baseline and (baseline is None or baseline == run.id) else None
        found[run.id] = Peers(None if lost else baseline, before.get(run.id), lost)
    return found


def _previous(runs: Iterable[Run]) -> dict[str, str]:
    """Run -> the one before it, for those that say when they started."""
    projects: dict[str, list[tuple[float, Run]]] = defaultdict(list)
    for run in runs:
        if run.project is not None and run.started_at is not None:
            projects[run.project].append((run.started_at, run))
    found: dict[str, str] = {}
    for members in projects.values():
        last: dict[str | None, str] = {}
        newest = None
        for _, run in sorted(members, key=lambda each: (each[0], each[1].id)):
            if newest is not None:
                found[run.id] = last.get(run.experiment, newest)
            newest = last[run.experiment] = run.id
    return found


def compared(run: Run, others: Mapping[str, Run]) -> tuple[Compared, ...]:
    """`run` beside `others`, relation -> run. One that says nothing about its setup is left out."""
    found = (_against(run, other, relation) for relation, other in others.items())
    return tuple(each for each in found if each is not None)


def _against(run: Run, other: Run, relation: str) -> Compared | None:
    here, there = setup(run), setup(other)
    if not here or not there:
        return None
    keys = sorted(here.keys() | there.keys())
    rows = tuple(Difference(key, here.get(key), there.get(key)) for key in keys)
    single = tuple(row for row in rows if row.here is None or row.there is None)
    return Compared(relation, other.id, other.title, tuple(_differing(rows)), single)


def _differing(rows: Iterable[Difference]) -> Iterator[Difference]:
    for row in rows:
        if row.here is not None and row.there is not None and not same(row.here, row.there):
            yield row


def setup(run: Run) -> dict[str, str]:
    """Settings and facts of a run by name. Facts have no dot in their names."""
    return {**run.config, **_facts(run)}


def _facts(run: Run) -> dict[str, str]:
    said = {"verl_version": run.verl_version, "commit": run.commit, "hardware": run.hardware}
    said |= {key: text for key, text in run.facts.items() if key in _FACTS or key.endswith("_version")}
    return {key: text for key, text in sorted(said.items()) if text}
