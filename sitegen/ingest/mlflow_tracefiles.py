"""Traces in MLflow's file store: `<experiment>/traces/<trace>/`, `artifacts/traces.json` and small files.

All traces of an experiment are one source, which the first of them stands for; its parts are the run names
that verl put into a tag.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sitegen.errors import Problem
from sitegen.ingest import tracesource
from sitegen.ingest.source import Member, Part, Source
from sitegen.ingest.tracespans import About
from sitegen.model import Batch, TraceSpan

NAME = "mlflow-traces"
_SPANS = "artifacts/traces.json"
_TEXT = 1 << 16  # bytes of a tag that are read
_TAG = re.compile(r"(?:^|/)traces/([^/]+)/tags/(.+)$")
_FIELD = re.compile(r"^(\w+): (.*)$", re.MULTILINE)


def sniff(path: str, head: bytes) -> bool:
    """Whether this is what MLflow keeps of a trace."""
    name = path.rpartition("/")[2]
    if name == "trace_info.yaml":
        return re.search(rb"^(?:request_id|trace_id):", head, re.MULTILINE) is not None
    start = head[:4096].lstrip()
    return (
        start.startswith(b"{") and b'"spans"' in start and (b'"trace_id"' in start or b'"context"' in start)
    )


def beside(path: str) -> tuple[str, ...]:
    """All traces of the experiment, and what it is called."""
    store = _store(path)
    return (f"{store}/", f"{store.rpartition('/')[0]}/meta.yaml".lstrip("/")) if store else ()


def _store(path: str) -> str:
    """The folder `traces` of an experiment; "" for a file that lies elsewhere."""
    way = path.split("/")
    for up in (2, 3):  # <trace>/trace_info.yaml, <trace>/artifacts/traces.json
        if len(way) > up and way[-up - 1] == "traces":
            return "/".join(way[:-up])
    return ""


def tags(members: Iterable[Member]) -> dict[str, dict[str, str]]:
    """Trace -> its tags, of files `traces/<trace>/tags/<name>`."""
    found: dict[str, dict[str, str]] = {}
    for each in members:
        match = _TAG.search(each.path)
        if match is not None:
            text = Source(each.path, each.file, each.size).head(_TEXT).decode("utf-8", "replace").strip()
            found.setdefault(match[1], {})[match[2]] = text
    return found


def parts(source: Source) -> tuple[Part, ...]:
    """Traces by the run that they name."""
    names = sorted({each.called for each in _Traces(source).all()})
    return tuple(Part(name or "unnamed", name) for name in names) if names != [""] else ()


def digest(source: Source) -> str:
    """Hash of the files of all traces of the part. Raises OSError."""
    found = hashlib.sha256()
    for trace in _Traces(source).of_part():
        for each in trace.files:
            found.update(each.path.encode("utf-8", "surrogatepass") + b"\0")
            with each.raw() as stream:
                while chunk := stream.read(1 << 20):
                    found.update(chunk)
    return found.hexdigest()


def read(source: Source) -> Iterator[Batch]:
    """All spans of the part, trace after trace by time."""
    traces = _Traces(source)
    found = traces.of_part()
    names = {each.called for each in found}
    yield tracesource.described(names.pop() if len(names) == 1 else "", traces.project())
    problems: list[Problem] = []
    yield from tracesource.batches(_spans(found, problems))
    empty = sum(not each.has_spans for each in found)
    if empty:
        what = f"{empty} traces have no {_SPANS} here"
        problems.append(
            Problem(source.path, None, "missing", what, "Copy the whole folder of the experiment.")
        )
    yield Batch(problems=tracesource.told(problems))


def _spans(traces: list[_Trace], problems: list[Problem]) -> Iterator[TraceSpan]:
    for each in traces:
        for file in each.files:
            if file.path.endswith("/traces.json") or len(each.files) == 1:
                yield from tracesource.of_file(file, each.about(), problems)


@dataclass
class _Trace:
    """Files of one trace."""

    id: str
    files: list[Source] = field(default_factory=list)

    def text(self, name: str) -> str:
        """A small file of the trace; "" where there is none."""
        ending = f"/{self.id}/{name}"
        found = next((each for each in self.files if each.path.endswith(ending)), None)
        return "" if found is None else found.head(_TEXT).decode("utf-8", "replace").strip()

    @property
    def called(self) -> str:
        """The run that verl names."""
        return self.text("tags/experiment_name")

    @property
    def has_spans(self) -> bool:
        """Whether there is a file of spans."""
        return any(each.path.endswith(".json") for each in self.files)

    def time(self) -> tuple[str, str]:
        """What traces are ordered by."""
        said = dict(_FIELD.findall(self.text("trace_info.yaml")))
        return said.get("timestamp_ms") or said.get("request_time") or "", self.id

    def about(self) -> About:
        """The tags."""
        begins = f"/{self.id}/tags/"
        names = (each.path.partition(begins)[2] for each in self.files)
        return About(self.id, {name: self.text(f"tags/{name}") for name in names if name})


class _Traces:
    """Traces that a source stands for."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._store = _store(source.whole)
        self._found: dict[str, _Trace] = {}
        own = Source(source.whole, source.file, source.size)
        members = [Source(each.path, each.file, each.size) for each in source.members]
        for each in sorted([own, *members], key=lambda one: one.path):
            inside = each.path.startswith(f"{self._store}/") if self._store else each is own
            if inside:
                name = each.path[len(self._store) + 1 :].split("/")[0] if self._store else _stem(each.path)
                self._found.setdefault(name, _Trace(name)).files.append(each)

    def all(self) -> list[_Trace]:
        """By time."""
        return sorted(self._found.values(), key=_Trace.time)

    def of_part(self) -> list[_Trace]:
        """Those that name the run of the source's part."""
        wanted = "" if self._source.part == "unnamed" else self._source.part
        return [each for each in self.all() if not self._source.part or each.called == wanted]

    def project(self) -> str:
        """Name of the experiment."""
        meta = self._source.member(f"{self._store.rpartition('/')[0]}/meta.yaml".lstrip("/"))
        text = meta.head(_TEXT).decode("utf-8", "replace") if meta else ""
        name = dict(_FIELD.findall(text)).get("name", "").strip("'\" ")
        return "" if name == "Default" else name


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]
