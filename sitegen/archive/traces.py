"""traces.parquet: every span of the traces of a run, bounded memory, no secrets; and what they count to."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sitegen.ingest.generations import compact
from sitegen.ingest.jsonl import LAST_STEP
from sitegen.model import Batch, Floats, Rows, Traced, TraceSpan
from sitegen.redact import redact, redact_name, redact_value

NAME = "traces.parquet"
FORMAT = "traces"
GROUP = 8 << 20  # characters of a row group, about
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
    seconds: float = 0.0

    def add(self, each: TraceSpan) -> None:
        self.n += 1
        self.ok += each.status in ("ok", "unset")
        self.failed += each.status == "error"
        self.seconds += each.duration_s or 0.0

    def values(self, prefix: str, calls: str, time: str, rate: str) -> Iterator[tuple[str, float]]:
        yield prefix + calls, float(self.n)
        yield prefix + time, self.seconds
        if self.ok + self.failed:  # of a call without an end nobody knows
            yield prefix + rate, self.ok / (self.ok + self.failed)


@dataclass
class _Step:
    """What the traces of one step count to."""

    traces: int = 0
    turns: int = 0
    generating: float = 0.0
    calls: _Calls = field(default_factory=_Calls)
    tools: dict[str, _Calls] = field(default_factory=dict)

    def values(self, prefix: str) -> dict[str, float]:
        found = {
            f"{prefix}count": float(self.traces),
            f"{prefix}turns": float(self.turns),
            f"{prefix}generate_time_s": self.generating,
        }
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
            step.turns += 1
            step.generating += each.duration_s or 0.0
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


class TraceFile:
    """Writer of traces.parquet, which is made with the first span. Use as a context manager."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / NAME
        self._writer: pq.ParquetWriter | None = None
        self._columns: dict[str, list[object]] = {name: [] for name in SCHEMA.names}
        self._held = 0
        self._owner: dict[str, str] = {}  # trace -> the source that had it first
        self.tally = Tally()

    def __enter__(self) -> TraceFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._flush()
        if self._writer is not None:
            self._writer.close()

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
            self._append(source, each, secrets)
            if self._held > GROUP:
                self._flush()
        return secrets

    def _append(self, source: str, each: TraceSpan, secrets: Counter[str]) -> None:
        row: dict[str, object] = {name: getattr(each, name) for name in SCHEMA.names if name != "source"}
        for name in _TEXTS:
            row[name], found = redact(getattr(each, name))
            secrets += found
        for name in ("trace", "span", "parent", "name", "tool"):
            if row[name]:
                row[name], found = redact_name(str(row[name]))
                secrets += found
        row["attributes"] = compact(_cleaned(dict(each.attributes), secrets))
        row["source"] = source
        for name, value in row.items():
            self._columns[name].append(value)
        self._held += sum(len(text) for text in row.values() if isinstance(text, str)) + 64

    def _flush(self) -> None:
        if not self._held:
            return
        if self._writer is None:
            self._writer = pq.ParquetWriter(
                self._file,
                SCHEMA,
                compression="zstd",
                use_dictionary=["trace", "name", "kind", "tool", "status", "source"],
                write_statistics=["trace", "step", "duration_s"],
                store_schema=False,
            )
        arrays = [pa.array(self._columns[one.name], one.type) for one in SCHEMA]
        self._writer.write_table(pa.Table.from_arrays(arrays, schema=SCHEMA))
        self._columns = {name: [] for name in SCHEMA.names}
        self._held = 0


def _cleaned(value: object, secrets: Counter[str], name: str = "") -> object:
    """A value without secrets; the name it lies under may give one away."""
    if isinstance(value, str):
        short, found = redact_value(name, value)
        secrets += found
        return short
    if isinstance(value, dict):
        return {redact_name(str(key))[0]: _cleaned(each, secrets, str(key)) for key, each in value.items()}
    if isinstance(value, list):
        return [_cleaned(each, secrets, name) for each in value]
    return value
