"""What readers of logs and trackers yield."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sitegen.errors import Problem
from sitegen.model.numbers import Floats, Ints


@dataclass(frozen=True, slots=True)
class NonFinite:
    """A value that is NaN or infinite. `row` indexes the `Rows` it belongs to."""

    row: int
    name: str
    raw: str  # "nan", "inf" or "-inf"; "null" where a format cannot tell them apart


@dataclass(frozen=True, slots=True)
class Rows:
    """A chunk of step records in file order, n records.

    A record is one logged line or object. Two records of one step stay two rows here;
    `archive` merges them and finds rewinds.
    """

    steps: Ints  # (n,) step number as logged
    lines: Ints  # (n,) 1-based line in the source
    times: Floats  # (n,) Unix seconds, NaN where the source does not say
    columns: Mapping[str, Floats]  # name as logged -> (n,) finite value, NaN = not carried by this record
    non_finite: tuple[NonFinite, ...] = ()
    cut: tuple[int, ...] = ()  # rows whose record lost its end: metrics absent there are unknown


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line kept because it matters for diagnosis.

    Args:
        path: source as shown to people, relative to RUNS.
        line: 1-based.
        time: Unix seconds or None.
        level: "info", "warning", "error" or "critical".
        kind: what it is: "traceback", "cuda_oom", "host_oom", "nccl_timeout", "actor_died",
            "sigterm", "disk", "nan_guard", "checkpoint_found", "checkpoint_saved", "resumed",
            "finished", "exit", "killed", "warning", "info".
        step: last step logged above it, None before the first.
        text: redacted, ANSI-free, at most 2 000 characters.
    """

    path: str
    line: int
    time: float | None
    level: str
    kind: str
    step: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Sample:
    """One generation that a run dumped: a prompt, what the model answered and how that was scored."""

    kind: str  # "rollout", "validation", or "samples" where the dump does not tell
    step: int | None
    line: int  # 1-based, in its source
    input: str
    output: str
    expected: str | None  # ground truth
    score: float | None  # finite; None = absent, or no finite number: `extra` then holds it as logged
    extra: Mapping[str, object]  # everything else of the record, by key


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """A stretch of one trajectory that an agent's tracer timed: a generation, a tool call, the whole."""

    trace: str
    step: int | None
    sample: int | None  # index of the prompt
    rollout: int | None  # which of the answers to it
    validation: bool
    span: str
    parent: str | None  # None for the root; may name a span that is not there
    name: str  # as traced: "CalcTool.execute"
    kind: str  # "agent", "llm", "tool", "parser", "other"
    start_s: float | None  # Unix seconds
    duration_s: float | None  # None = it has no end, or its tracer keeps no times
    status: str  # "ok", "error", "open" (no end), "unset"
    arguments: str  # JSON or text, as traced
    result: str
    error: str
    attributes: Mapping[str, object]  # whatever else the tracer said

    @property
    def tool(self) -> str | None:
        """Name of the tool that was called, None for all else."""
        return self.name.removesuffix(".execute") if self.kind == "tool" else None


@dataclass(frozen=True, slots=True)
class Batch:
    """What a reader found in one stretch of a source. Any part may be empty."""

    rows: Rows | None = None
    log_lines: tuple[LogLine, ...] = ()
    config: Mapping[str, str] = field(default_factory=dict)  # dotted key -> value as text
    facts: Mapping[str, str] = field(default_factory=dict)  # e.g. "verl_version", "commit", "command"
    problems: tuple[Problem, ...] = ()
    samples: tuple[Sample, ...] = ()
    spans: tuple[TraceSpan, ...] = ()
