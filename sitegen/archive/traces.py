"""traces.parquet: every span of the traces of a run, bounded memory, no secrets; and what they count to."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from sitegen.archive.textrows import TextRows, cleaned
from sitegen.ingest.generations import compact
from sitegen.ingest.jsonl import LAST_STEP
from sitegen.model import Batch, Floats, Rows, Traced, TraceSpan
from sitegen.redact import redact, redact_name

NAME = "traces.parquet"
FORMAT = "traces"
TOOLS = 200  # tools with metrics of their own
LONGEST = 80  # characters of a tool's name in the name of a metric
ROWS = 2000  # in a batch

SCHEMA = pa.schema(
    [
        ("trace", pa.string()),
        ("step", pa.int64()),
        ("sample", pa.int64()),
        ("rollout", pa.int64()),
        ("validation", pa.bool_()),
        ("span", pa.string()),
        ("parent", pa.string()),
        ("name", pa.string()),
        ("kind", pa.string()),
        ("tool", pa.string()),
        ("status", pa.string()),
        ("start_s", pa.float64()),  # Unix seconds
        ("duration_s", pa.float64()),
        ("arguments", pa.string()),
        ("result", pa.string()),
        ("error", pa.string()),
        ("attributes", pa.string()),  # JSON object
        ("source", pa.string()),
    ]
)
_TEXTS = ("arguments", "result", "error")


@dataclass
class _Calls:
    """Calls of a tool, or of all tools."""

    ok: int = 0
    failed: int = 0
    n: int = 0
    timed: int = 0
    seconds: float = 0.0

    def add(self, each: TraceSpan) -> None:
        self.n += 1
        self.ok += each.status in ("ok", "unset")
        self.failed += each.status == "error"
        self.timed += each.duration_s is not None
        self.seconds += each.duration_s or 0.0

    @property
    def time(self) -> float | None:
        """Seconds of all calls; None where a tracer kept no times."""
        return self.seconds if self.timed or not self.n else None

    def values(self, prefix: str, calls: str, time: str, rate: str) -> Iterator[tuple[str, float]]:
        yield prefix + calls, float(self.n)
        if self.time is not None:
            yield prefix + time, self.time
        if self.ok + self.failed:  # of a call without an end nobody knows
            yield prefix + rate, self.ok / (self.ok + self.failed)


@dataclass
class _Step:
    """What the traces of one step count to."""

    traces: int = 0
    turns: _Calls = field(default_factory=_Calls)
    calls: _Calls = field(default_factory=_Calls)
    tools: dict[str, _Calls] = field(default_factory=dict)

    def values(self, prefix: str) -> dict[str, float]:
        found = {
            f"{prefix}count": float(self.traces),
            f"{prefix}turns": float(self.turns.n),
        }
        if self.turns.time is not None:
            found[f"{prefix}generate_time_s"] = self.turns.time
        found |= self.calls.values(prefix, "tool_calls", "tool_time_s", "tool_success_rate")
        for tool, calls in self.tools.items():
            found |= calls.values(f"{prefix}tool/{tool}/", "calls", "time_s", "success_rate")
        return found


class Tally:
    """Counts spans by step. Metrics are sums over the trajectories traced, which are a few of all."""

    def __init__(self) -> None:
        self._steps: dict[tuple[int, bool], _Step] = {}
        self._tools: set[str] = set()
        self._counts = Counter[str]()

    def trace(self, first: TraceSpan) -> None:
        """A trace begins with `first`."""
        self._counts["traces"] += 1
        if (step := self._step(first)) is not None:
            step.traces += 1

    def add(self, each: TraceSpan) -> None:
        """Count a span."""
        self._counts["spans"] += 1
        tool = each.tool
        if tool is not None:
            self._counts["calls"] += 1
            self._counts["failed"] += each.status == "error"
        step = self._step(each)
        if step is None:
            return
        if each.kind == "llm":
            step.turns.add(each)
        elif tool is not None:
            step.calls.add(each)
            name = _word(tool)
            if name in self._tools or len(self._tools) < TOOLS:
                self._tools.add(name)
                step.tools.setdefault(name, _Calls()).add(each)

    def _step(self, each: TraceSpan) -> _Step | None:
        if each.step is None or not 0 <= each.step <= LAST_STEP:
            return None
        return self._steps.setdefault((each.step, each.validation), _Step())

    def counts(self) -> tuple[Traced, ...]:
        """What was counted; nothing without a trace."""
        if not self._counts["traces"]:
            return ()
        steps = [step for step, _ in self._steps]
        n = self._counts
        first, last = min(steps, default=None), max(steps, default=None)
        return (Traced(n["traces"], n["spans"], n["calls"], n["failed"], first, last),)

    def batches(self) -> Iterator[Batch]:
        """Metrics by step: `traces/…`, and `traces/val/…` of traces made while validating."""
        steps = sorted({step for step, _ in self._steps})
        for at in range(0, len(steps), ROWS):
            yield Batch(rows=self._rows(steps[at : at + ROWS]))

    def _rows(self, steps: list[int]) -> Rows:
        columns: dict[str, Floats] = {}
        for i, step in enumerate(steps):
            for validation, prefix in ((False, "traces/"), (True, "traces/val/")):
                held = self._steps.get((step, validation))
                for name, value in held.values(prefix).items() if held else ():
                    columns.setdefault(name, np.full(len(steps), math.nan))[i] = value
        return Rows(
            steps=np.array(steps, dtype=np.int64),
            lines=np.zeros(len(steps), dtype=np.int64),
            times=np.full(len(steps), math.nan),
            columns=columns,
        )


def _word(tool: str) -> str:
    """A tool's name as part of the name of a metric."""
    printable = "".join(letter if letter.isprintable() else "?" for letter in tool[:LONGEST])
    return redact_name(printable.replace("/", "_"))[0] or "nameless"


class TraceFile(TextRows):
    """Writer of traces.parquet."""

    def __init__(self, folder: Path) -> None:
        repeated = ("trace", "name", "kind", "tool", "status", "source")
        super().__init__(folder / NAME, SCHEMA, repeated, ("trace", "step", "duration_s"))
        self._owner: dict[str, str] = {}  # trace -> the source that had it first
        self.tally = Tally()

    def add(self, source: str, spans: Iterable[TraceSpan]) -> Counter[str]:
        """Append spans; those of a trace that another source had are the same. Returns secrets by kind."""
        secrets: Counter[str] = Counter()
        for each in spans:
            owner = self._owner.get(each.trace)
            if owner is None:
                self._owner[each.trace] = source
                self.tally.trace(each)
            elif owner != source:
                continue
            self.tally.add(each)
            self.append(_row(source, each, secrets))
        return secrets


def _row(source: str, each: TraceSpan, secrets: Counter[str]) -> dict[str, object]:
    row: dict[str, object] = {name: getattr(each, name) for name in SCHEMA.names if name != "source"}
    for name in _TEXTS:
        row[name], found = redact(getattr(each, name))
        secrets += found
    for name in ("trace", "span", "parent", "name", "tool"):
        if row[name]:
            row[name], found = redact_name(str(row[name]))
            secrets += found
    row["attributes"] = compact(cleaned(dict(each.attributes), secrets))
    row["source"] = source
    return row
