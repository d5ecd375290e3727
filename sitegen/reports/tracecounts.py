"""Numbers of all spans of traces.parquet, read in pieces: trajectories, tools, calls to look at."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from sitegen.reports.trajectories import ToolView, TrajectoryFacts

CALLS = 5  # slowest and failed calls of a tool
TOOLS = 200  # tools told one by one
_NUMBERS = [
    "trace", "step", "sample", "rollout", "validation", "span", "kind", "tool", "status", "start_s",
    "duration_s",
]  # fmt: skip
REST = "(all other tools)"


@dataclass(frozen=True, slots=True, order=True)
class Call:
    """A tool call: slower ones are greater."""

    seconds: float
    row: int  # in the file
    trace: str
    tool: str
    step: int | None


@dataclass(slots=True)
class _Tool:
    durations: array[float] = field(default_factory=lambda: array("d"))
    calls: int = 0
    failed: int = 0
    open: int = 0
    slow: list[Call] = field(default_factory=list)  # a heap
    failures: list[Call] = field(default_factory=list)  # the first ones

    def view(self, name: str) -> ToolView:
        values = np.frombuffer(self.durations) if self.durations else np.empty(0)
        p50, p95 = (float(x) for x in np.percentile(values, [50, 95])) if len(values) else (None, None)
        longest = float(values.max()) if len(values) else None
        return ToolView(name, self.calls, self.failed, self.open, p50, p95, longest)


@dataclass(slots=True)
class _Trace:
    step: int | None
    sample: int | None
    rollout: int | None
    validation: bool
    first: int  # row in the file
    last: int
    spans: int = 0
    turns: int = 0
    calls: int = 0
    failed: int = 0
    errors: int = 0
    begun: float = np.inf
    ended: float = -np.inf

    def facts(self, trace: str) -> TrajectoryFacts:
        known = self.ended >= self.begun
        seconds = self.ended - self.begun if known else None
        return TrajectoryFacts(
            trace, self.step, self.sample, self.rollout, self.validation,
            self.spans, self.turns, self.calls, self.failed, self.errors, seconds,
        )  # fmt: skip


class Counts:
    """All trajectories and tools of a file."""

    def __init__(self, path: Path) -> None:
        self._traces: dict[str, _Trace] = {}
        self._tools: dict[str, _Tool] = {}
        at = 0
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(8192, columns=_NUMBERS, use_threads=False):
                columns = [batch.column(name).to_pylist() for name in _NUMBERS]
                for row in zip(*columns, strict=True):
                    self._add(at, *row)
                    at += 1

    def traces(self) -> list[TrajectoryFacts]:
        """In the order of the file."""
        return [each.facts(name) for name, each in self._traces.items()]

    def rows(self, trace: str) -> tuple[int, int]:
        """Between which rows of the file a trajectory lies, both inclusive."""
        return self._traces[trace].first, self._traces[trace].last

    def start(self, trace: str) -> float | None:
        """When a trajectory began, Unix seconds."""
        begun = self._traces[trace].begun
        return begun if np.isfinite(begun) else None

    def tools(self) -> tuple[ToolView, ...]:
        """By calls, the most first."""
        found = sorted(self._tools.items(), key=lambda each: (-each[1].calls, each[0]))
        return tuple(tool.view(name) for name, tool in found)

    def slowest(self) -> list[Call]:
        """Of each tool the slowest calls; the slowest first."""
        return sorted((call for tool in self._tools.values() for call in tool.slow), reverse=True)

    def failed(self) -> list[Call]:
        """Of each tool the first calls that failed, in the order of the file."""
        return sorted(self._failures(), key=lambda call: call.row)

    def _failures(self) -> Iterator[Call]:
        for tool in self._tools.values():
            yield from tool.failures

    def _add(
        self, at: int, name: str, step: int | None, sample: int | None, rollout: int | None, validation: bool,
        span: str, kind: str, tool: str | None, status: str, start: float | None, seconds: float | None,
    ) -> None:  # fmt: skip
        trace = self._traces.get(name)
        if trace is None:
            trace = self._traces[name] = _Trace(step, sample, rollout, validation, at, at)
        trace.last = at
        trace.spans += 1
        trace.turns += kind == "llm"
        trace.errors += status == "error"
        if start is not None:
            trace.begun = min(trace.begun, start)
            trace.ended = max(trace.ended, start + (seconds or 0.0))
        if tool is not None:
            trace.calls += 1
            trace.failed += status == "error"
            self._call(Call(seconds or 0.0, at, name, tool, step), status, seconds)

    def _call(self, call: Call, status: str, seconds: float | None) -> None:
        name = call.tool if call.tool in self._tools or len(self._tools) < TOOLS else REST
        tool = self._tools.setdefault(name, _Tool())
        tool.calls += 1
        tool.failed += status == "error"
        tool.open += status == "open"
        if status == "error" and len(tool.failures) < CALLS:
            tool.failures.append(call)
        if seconds is not None:
            tool.durations.append(seconds)
            (heapq.heappush if len(tool.slow) < CALLS else heapq.heappushpop)(tool.slow, call)
