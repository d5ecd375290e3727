"""Calls of W&B Weave as its API streams them and its page exports them: one JSON object per line.

verl's rollouts carry what they are (`step`, `sample_index`, `rollout_n`, `validate`, `experiment_name`) in
`attributes`. An export may hold several experiments: the first is read, the others are told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain

from sitegen.errors import Problem
from sitegen.ingest import generations, jsonl, tracesource
from sitegen.ingest.jsonfaults import Faults
from sitegen.ingest.source import Source
from sitegen.ingest.tracespans import About, kind_of
from sitegen.model import Batch, TraceSpan

NAME = "weave"
_KEYS = {"id", "op_name", "trace_id", "started_at", "inputs"}
_TAGS = ("step", "sample_index", "rollout_n", "validate")
_HINT = "Export each experiment into a file of its own, filtered by attributes.experiment_name."


def sniff(path: str, head: bytes) -> bool:
    """Whether the first line is a call."""
    if b'"op_name"' not in head or not head.lstrip().startswith(b"{"):
        return False
    found, _ = jsonl.objects(head, limit=1)
    return any(each.keys() >= _KEYS for each in found) or _cut(head)


def _cut(head: bytes) -> bool:
    """Whether a call begins whose line is longer than the head."""
    return b"\n" not in head and all(
        f'"{key}"'.encode() in head for key in ("op_name", "trace_id", "started_at")
    )


def read(source: Source) -> Iterator[Batch]:
    """All calls of the first experiment."""
    faults = Faults(source.path)
    calls = _Calls()
    found = calls.spans(source, faults)
    first = next(found, None)
    yield tracesource.described(calls.experiment or "", calls.project)
    yield from tracesource.batches(chain([first] if first else [], found))
    problems = faults.problems()
    if calls.others:
        named = ", ".join(f"{n} of {name[:60]}" for name, n in sorted(calls.others.items())[:5])
        what = f"calls of other experiments than {calls.experiment} were left out: {named}"
        problems = (*problems, Problem(source.path, None, "unsupported", what, _HINT))
    if problems:
        yield Batch(problems=problems)


class _Calls:
    """Calls of one file, and what they say of the run."""

    def __init__(self) -> None:
        self.experiment: str | None = None
        self.project = ""
        self.others: Counter[str] = Counter()

    def spans(self, source: Source, faults: Faults) -> Iterator[TraceSpan]:
        """The calls, line by line. Raises SourceRefused and OSError."""
        with source.open() as stream:
            for first, lines in jsonl.stretches(stream, faults):
                for number, line in enumerate(lines, first):
                    if line.strip() and (found := self._call(line, number, faults)) is not None:
                        yield found

    def _call(self, line: bytes, number: int, faults: Faults) -> TraceSpan | None:
        try:
            call = jsonl.loads(line)
        except ValueError:
            faults.torn(number, last=False, kept=False)
            return None
        if not isinstance(call, dict) or not isinstance(call.get("op_name"), str):
            faults.bad(number, "it is no call")
            return None
        attributes = call["attributes"] if isinstance(call.get("attributes"), dict) else {}
        name = str(attributes.get("experiment_name") or "")
        self.experiment = name if self.experiment is None else self.experiment
        if name != self.experiment:
            self.others[name] += 1
            return None
        self.project = self.project or str(call.get("project_id") or "").rpartition("/")[2]
        return _span(call, attributes)


def _span(call: Mapping[str, object], attributes: Mapping[str, object]) -> TraceSpan:
    tags = {key: str(attributes[key]) for key in _TAGS if attributes.get(key) is not None}
    about = About(str(call.get("trace_id") or call.get("id")), tags)
    name = _name(str(call["op_name"]))
    start, end = _seconds(call.get("started_at")), _seconds(call.get("ended_at"))
    error = generations.text(call.get("exception"))
    return TraceSpan(
        trace=about.trace,
        step=about.whole("step"),
        sample=about.whole("sample_index"),
        rollout=about.whole("rollout_n"),
        validation=about.validation,
        span=str(call.get("id") or ""),
        parent=str(call["parent_id"]) if call.get("parent_id") else None,
        name=name,
        kind=kind_of(name, ""),
        start_s=start,
        duration_s=None if start is None or end is None or end < start else end - start,
        status="error" if error else "ok" if end is not None else "open",
        arguments=generations.text(call.get("inputs")),
        result=generations.text(call.get("output")),
        error=error,
        attributes={str(key): value for key, value in attributes.items() if key not in _TAGS},
    )


def _name(op: str) -> str:
    """`ToolAgentLoop.run` of `weave:///team/project/op/ToolAgentLoop.run:<digest>`."""
    return op.rpartition("/op/")[2].partition(":")[0] if op.startswith("weave:///") else op


def _seconds(value: object) -> float | None:
    """Unix seconds of an ISO time; without a zone it is UTC."""
    try:
        time = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
