"""MLflow's file store: `mlruns/<experiment>/<run>/` with a file per metric, parameter and tag.

The run's `meta.yaml` is the file that is claimed. A metric file holds `milliseconds value step` per line; NaN
and infinities are spelled out. Values of all files are brought together in the order of time.
"""

from __future__ import annotations

import heapq
import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from sitegen.errors import Problem
from sitegen.ingest import samples
from sitegen.ingest.jsonfaults import Faults
from sitegen.ingest.mlflow_names import mangled, restored
from sitegen.ingest.mlflow_run import SYSTEM, called, described, empty, seconds, system
from sitegen.ingest.source import Source
from sitegen.model import Batch

__all__ = ["NAME", "beside", "mangled", "named", "read", "sniff"]

NAME = "mlflow-files"
_RUN = re.compile(rb"^run_(?:id|uuid): ", re.MULTILINE)
_FIELD = re.compile(r"^(\w+): (.*)$", re.MULTILINE)
_STATUS = {"1": "RUNNING", "2": "SCHEDULED", "3": "FINISHED", "4": "FAILED", "5": "KILLED"}
_TEXT = 1 << 16  # bytes of a parameter or tag that are read
_BLOCKS = 16 << 20  # bytes of all metric files that are in memory at once
_TOLD = 20  # metric files with faults told one by one

Value = tuple[
    int, int, int, int, float
]  # ms, place among the values of this ms in its file, file, step, value


def sniff(path: str, head: bytes) -> bool:
    """Whether this is the `meta.yaml` of a run."""
    return path.rpartition("/")[2] == "meta.yaml" and _RUN.search(head) is not None


def beside(path: str) -> tuple[str, ...]:
    """Metrics, parameters and tags of the run, and what its experiment is called."""
    run = path.rpartition("/")[0]
    store = run.rpartition("/")[0]
    experiment = f"{store}/meta.yaml" if store else "meta.yaml"
    return (*(f"{run}/{kind}/" if run else f"{kind}/" for kind in ("metrics", "params", "tags")), experiment)


def named(source: Source) -> tuple[str, int]:
    """What the run is called, below its experiment, and when it began (Unix milliseconds, 0 = unknown)."""
    run = _about(source)
    began = run["started"]
    return called(run["experiment"], run["name"]), began if isinstance(began, int) else 0


def read(source: Source) -> Iterator[Batch]:
    """What is known about the run, then its values by time."""
    run = _about(source)
    yield described(source.path, run, _texts(source, "params"), dict(_texts(source, "tags")))
    yield from _Values(source).batches()


def _about(source: Source) -> dict[str, object]:
    meta = _fields(source)
    experiment = source.member(beside(source.path)[-1])
    return {
        "run_id": meta.get("run_id") or meta.get("run_uuid"),
        "name": meta.get("run_name") or meta.get("name"),
        "user": meta.get("user_id"),
        "status": _STATUS.get(meta.get("status", ""), meta.get("status")),
        "stage": meta.get("lifecycle_stage"),
        "started": _whole(meta.get("start_time", "")),
        "ended": _whole(meta.get("end_time", "")),
        "experiment": _fields(experiment).get("name") if experiment else None,
    }


def _fields(source: Source) -> dict[str, str]:
    """The entries of a flat YAML file; quotes are taken off."""
    text = source.head(_TEXT).decode("utf-8", "replace")
    found = {key: value.strip() for key, value in _FIELD.findall(text)}
    plain = {key: value[1:-1] if value[:1] in "'\"" else value for key, value in found.items()}
    return {key: value for key, value in plain.items() if value not in ("null", "~", "")}


def _whole(text: str) -> int | None:
    return int(text) if text.isdigit() and len(text) < 16 else None


def _texts(source: Source, kind: str) -> list[tuple[str, str]]:
    """(name, text) of the files below `params/` or `tags/`."""
    folder = _folder(source, kind)
    found = []
    for each in source.members:
        if each.path.startswith(folder):
            text = Source(each.path, each.file, each.size).head(_TEXT).decode("utf-8", "replace")
            found.append((each.path.removeprefix(folder), text))
    return found


def _folder(source: Source, kind: str) -> str:
    run = source.path.rpartition("/")[0]
    return f"{run}/{kind}/" if run else f"{kind}/"


@dataclass
class _Values:
    """Metric files of one run."""

    source: Source
    readings: int = 0
    problems: list[Problem] = field(default_factory=list)

    def batches(self) -> Iterator[Batch]:
        """Rows, and what could not be read."""
        faults = Faults(self.source.path)
        any_rows = False
        for batch in samples.batches(samples.records(self._samples()), faults):
            any_rows = True
            yield batch
        if not any_rows and not self.problems:
            self.problems.append(empty(self.source.path))
        problems = (*faults.problems(), *self._told(), *system(self.source.path, self.readings))
        if problems:
            yield Batch(problems=problems)

    def _samples(self) -> Iterator[samples.Sample]:
        folder = _folder(self.source, "metrics")
        files = [Source(m.path, m.file, m.size) for m in self.source.members if m.path.startswith(folder)]
        names = [restored(each.path.removeprefix(folder)) for each in files]
        block = max(1 << 12, min(1 << 16, _BLOCKS // max(1, len(files))))
        streams = []
        for i, (each, name) in enumerate(zip(files, names, strict=True)):
            if name.startswith(SYSTEM):
                self.readings += sum(1 for _ in self._values(each, i, block))
            else:
                streams.append(self._values(each, i, block))
        for time, _, i, step, value in heapq.merge(*streams):
            yield seconds(time), step, names[i], value

    def _values(self, metric: Source, number: int, block: int) -> Iterator[Value]:
        """Values of one file. What is no value is counted and told once per file."""
        last, place, bad, line = 0, 0, 0, 0
        first_bad = 0
        for line, text in enumerate(_lines(metric, block), 1):
            try:
                time, value, step = _parsed(text)
            except ValueError:
                bad, first_bad = bad + 1, first_bad or line
                continue
            # A clock that was set back does not change the order in which the file was written.
            place = place + 1 if time <= last else 0
            last = max(last, time)
            yield last, place, number, step, value
        if bad:
            self._tell(metric.path, first_bad, bad, line)
        elif not line:
            self.problems.append(Problem(metric.path, None, "empty", "the metric has no value"))

    def _tell(self, path: str, first: int, bad: int, lines: int) -> None:
        if bad == 1 and first == lines:
            what = "the last line is torn and was left out"
            self.problems.append(Problem(path, first, "truncated", what, "Copy the file again if you can."))
        else:
            what = f"{bad} lines are no value: expected `milliseconds value step`"
            self.problems.append(Problem(path, first, "malformed", what))

    def _told(self) -> list[Problem]:
        found = sorted(self.problems, key=lambda each: each.path)
        if len(found) > _TOLD:
            rest = f"{len(found) - _TOLD} more metric files have faults"
            found = [*found[:_TOLD], Problem(self.source.path, None, "too-many", rest)]
        return found


def _parsed(line: bytes) -> tuple[int, float, int]:
    """Milliseconds, value and step; old versions write no step, new ones the data set behind it."""
    if not line.endswith(b"\n"):
        raise ValueError  # a number that lost its last digits is still a number
    time, value, *more = line.split()
    step = int(more[0]) if more else 0
    if not -(1 << 53) <= step <= 1 << 53 or not 0 <= int(time) < 1 << 53:
        raise ValueError
    return int(time), float(value), step


def _lines(source: Source, block: int) -> Iterator[bytes]:
    """Lines with their ends. The file is open only while a block is read: there may be a thousand of them."""
    at, rest = 0, b""
    size = source.size if source.size is not None else math.inf
    while at < size:
        try:
            with Source(source.path, source.file).raw() as stream:
                stream.seek(at)
                chunk = stream.read(int(min(block, size - at)))
        except OSError:  # gone since it was listed
            break
        if not chunk:
            break
        at += len(chunk)
        *whole, rest = io.BytesIO(rest + chunk).readlines() if chunk else [rest]
        yield from whole
        if rest.endswith(b"\n"):
            yield rest
            rest = b""
        elif len(rest) > 1 << 16:
            rest = b"?"  # no value is as long
    if rest:
        yield rest
