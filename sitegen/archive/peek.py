"""A look at the first records of a source: enough to see whether two files log one training or two."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from sitegen.archive import requeue
from sitegen.archive.agree import same
from sitegen.archive.requeue import NONE, Job
from sitegen.archive.segments import only_validates
from sitegen.ingest import Format
from sitegen.ingest.source import Source
from sitegen.model import Rows

BYTES = 4 << 20  # read at most
RECORDS = 12  # steps looked at
ENOUGH = 4  # equal values that are not whole numbers and make two sources one run


class Relation(Enum):
    """What two sources have to do with each other."""

    CONTRADICT = "contradict"  # two trainings
    AGREE = "agree"  # the same values: one training logged twice
    COMPLETE = "complete"  # the same steps, other metrics
    APART = "apart"  # nothing in common that could tell


@dataclass(frozen=True, slots=True)
class Peek:
    """First steps of a source: step -> name -> finite value."""

    format: str
    steps: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    first: int | None = None  # step that was trained first
    names: tuple[str | None, str | None] = (None, None)  # trainer.project_name, trainer.experiment_name
    traced: bool = False  # it holds traces: there are no rows to compare
    job: Job = NONE


def peek(source: Source, form: Format) -> Peek:
    """Look at a source. What cannot be read leaves an empty peek; reading it in full will tell."""
    steps: dict[int, dict[str, float]] = {}
    first: int | None = None
    traced = False
    project = experiment = called = None
    config: dict[str, str] = {}
    size = BYTES if source.size is None else min(source.size, BYTES)
    try:
        for batch in form.read(replace(source, size=size, notes=[])):
            project = project or batch.config.get("trainer.project_name")
            experiment = experiment or batch.config.get("trainer.experiment_name")
            called = called or batch.facts.get("experiment")
            config.update(batch.config)
            if batch.rows is not None and len(batch.rows.steps):
                first = int(batch.rows.steps[0]) if first is None else first
                _take(batch.rows, steps)
            traced = traced or (bool(batch.spans) and not steps)
            if len(steps) >= RECORDS or traced:
                break
    except Exception:  # noqa: S110 - any fault shows up when the source is read in full
        pass
    if first and steps.get(first) and only_validates(frozenset(steps[first])):
        first += 1  # it resumed from the checkpoint that it validates; what begins validates at step 0
    names = (project, experiment or (called if traced else None))
    return Peek(form.NAME, steps, first, names, traced, requeue.job(source, config))


def _take(rows: Rows, steps: dict[int, dict[str, float]]) -> None:
    last = -1
    for i, step in enumerate(rows.steps.tolist()):
        if step < last or (step not in steps and len(steps) >= RECORDS):
            return
        last = step
        values = steps.setdefault(step, {})
        for name, column in rows.columns.items():
            if column[i] == column[i]:
                values[name] = float(column[i])


def relation(a: Peek, b: Peek) -> Relation:
    """Compare two sources."""
    if a.traced or b.traced:
        return Relation.AGREE if _called(a) and _called(a) == _called(b) else Relation.APART
    if any(x and y and x != y for x, y in zip(a.names, b.names, strict=True)):
        return Relation.CONTRADICT
    if requeue.attempts(a.job, b.job) and a.names == b.names and a.names[1]:
        return Relation.APART
    shared = sorted(a.steps.keys() & b.steps.keys())
    if not shared or a.first is None or b.first is None:
        return Relation.APART
    common = [(s, name) for s in shared for name in sorted(a.steps[s].keys() & b.steps[s].keys())]
    pairs = [(a.steps[s][name], b.steps[s][name]) for s, name in common]
    together = a.first == b.first or max(a.first, b.first) <= 1
    if not pairs:
        return Relation.CONTRADICT if a.format == b.format and together else Relation.COMPLETE
    found = _compared(np.array(pairs), together)
    if found is Relation.AGREE and all(name.startswith("val") for _, name in common):
        return Relation.APART  # two trainings of one model begin with the same validation
    return found


def _called(one: Peek) -> str:
    """Name of the experiment, without what trackers replace in it."""
    return re.sub(r"[\W_]+", "-", one.names[1] or "").lower()


def _compared(pairs: np.ndarray, together: bool) -> Relation:
    """Counters and constants are alike in any two runs; what decides is values with a fraction.

    A third of them may differ before the sources count as two trainings: one bad value is a conflict
    to be told, not a second run.
    """
    mine, other = pairs[:, 0], pairs[:, 1]
    match = same(mine, other)
    telling = ~match | (mine != np.rint(mine))
    unlike, alike = int((~match).sum()), int((match & telling).sum())
    if unlike > (unlike + alike) / 3:
        return Relation.CONTRADICT if together else Relation.APART
    return Relation.AGREE if alike >= ENOUGH or (alike and len(pairs) <= 2 * ENOUGH) else Relation.APART
