"""What MLflow keeps beside the values of a run, in a database and in a file store alike."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from sitegen.errors import Problem
from sitegen.ingest.settings import from_slashes
from sitegen.model import Batch

CUTS = (6000, 8000, 500, 250)  # lengths at which versions of MLflow cut a parameter
LARGEST = 1.7976931348623157e308  # stands for infinity in a database
EXTREMES = (LARGEST, -LARGEST)
SYSTEM = "system/"  # hardware readings: their step is a count of readings
_TAGS = {
    "mlflow.source.git.commit": "commit",
    "mlflow.source.git.repoURL": "remote",
    "mlflow.source.git.branch": "branch",
    "mlflow.source.name": "source",
    "mlflow.user": "user",
    "mlflow.note.content": "note",
}


def called(experiment: object, run: object) -> str:
    """`<experiment>/<run>`, "" for a run without a name. A slash within a name is none of the path."""
    if not run:
        return ""
    return "/".join(str(each).replace("/", "_") for each in (experiment, run) if each not in (None, ""))


def number(value: object, is_nan: object = 0) -> object:
    """A value as it was logged: a database holds NaN as a flag and infinity as the largest number."""
    if is_nan:
        return math.nan
    if isinstance(value, float) and abs(value) == LARGEST:
        return math.copysign(math.inf, value)
    return value


def seconds(milliseconds: object) -> float:
    """Unix seconds, NaN for what is no time."""
    if isinstance(milliseconds, (int, float)) and 0 < milliseconds < 1e14:
        return milliseconds / 1000
    return math.nan


def described(
    path: str,
    run: Mapping[str, object],
    params: Iterable[tuple[str, str]],
    tags: Mapping[str, str],
) -> Batch:
    """Settings and facts. `run` has run_id, name, experiment, user, status, stage, started and ended (ms)."""
    params = list(params)
    facts = {fact: tags[tag] for tag, fact in _TAGS.items() if tags.get(tag)}
    said = {
        "run_id": run.get("run_id"),
        "title": run.get("name") or tags.get("mlflow.runName"),
        "experiment": run.get("name") or tags.get("mlflow.runName"),
        "project": run.get("experiment"),
        "user": run.get("user"),
        "tracker_status": run.get("status"),
    }
    facts |= {key: str(value) for key, value in said.items() if value}
    for key, value in (("first_time", run.get("started")), ("last_time", run.get("ended"))):
        if math.isfinite(time := seconds(value)):
            facts[key] = str(time)
    return Batch(config=from_slashes(params), facts=facts, problems=tuple(_problems(path, run, params)))


def _problems(path: str, run: Mapping[str, object], params: Iterable[tuple[str, str]]) -> Iterable[Problem]:
    if run.get("stage") == "deleted":
        yield Problem(
            path, None, "deleted", "this run was deleted in MLflow; what it holds was read all the same"
        )
    cut = [key for key, value in params if len(value) in CUTS]
    if cut:
        shown = ", ".join(key.replace("/", ".") for key in cut[:5]) + (", …" if len(cut) > 5 else "")
        what = f"MLflow cuts long settings; these have exactly its length and may lack their end: {shown}"
        yield Problem(path, None, "cut", what, "The console log or Hydra's config.yaml has them whole.")


def system(path: str, values: int) -> tuple[Problem, ...]:
    """The problem that tells of hardware readings, if there are any."""
    if not values:
        return ()
    what = f"{values} hardware readings (system/…) belong to no training step and were left out"
    return (Problem(path, None, "left-out", what),)


def empty(path: str) -> Problem:
    """The problem of a run without a value: a try that never began, or one that failed at once."""
    what = "the run has no values: MLflow made it and nothing was logged to it"
    return Problem(path, None, "empty", what, "A failed start leaves such runs; delete it in MLflow.")
