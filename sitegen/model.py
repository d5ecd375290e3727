"""The nouns of sitegen. Everything here is frozen; arrays are read-only by convention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

import numpy as np
from numpy.typing import NDArray

from sitegen.errors import Problem

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Severity(IntEnum):
    """How bad a finding is. Ordered: `Severity.ERROR > Severity.WARNING`."""

    INFO = 1
    WARNING = 2
    ERROR = 3
    CRITICAL = 4

    @property
    def word(self) -> str:
        """The lower-case word used in cards, files and pages."""
        return self.name.lower()

    @classmethod
    def of(cls, word: str) -> Severity:
        """Severity for `word` ("info", "warning", "error", "critical"). Raises KeyError."""
        return cls[word.upper()]


class Status(StrEnum):
    """Outcome of a run; the first that applies, in the order written here."""

    CRASHED = "crashed"
    FAILED = "failed"
    UNFINISHED = "unfinished"
    ATTENTION = "attention"
    HEALTHY = "healthy"


class PhaseName(StrEnum):
    """Exclusive per segment; the first that applies, in the order written here."""

    CRITIC_WARMUP = "critic_warmup"
    WARMUP = "warmup"
    COLLAPSE = "collapse"
    DIVERGING = "diverging"
    DECLINE = "decline"
    CONVERGED = "converged"
    PLATEAU = "plateau"
    CLIMB = "climb"
    EXPLORATION = "exploration"
    LEARNING = "learning"


class State(StrEnum):
    """What the last phase of a run maps to."""

    WARMING_UP = "WARMING_UP"
    LEARNING = "LEARNING"
    CONVERGED = "CONVERGED"
    DIVERGING = "DIVERGING"


class Outcome(StrEnum):
    """Verdict of one rule on one run. A rule that could not run is never `clear`."""

    FIRED = "fired"
    MUTED = "muted"  # fired, and the run's run.toml says that this was expected
    CLEAR = "clear"
    NOT_APPLICABLE = "not_applicable"


# --- what readers yield --------------------------------------------------------------------


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


# --- a run in the archive ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file that a run was read from."""

    path: str  # relative to RUNS
    format: str  # "console", "filelogger", "seed-metrics", ...
    bytes: int
    sha256: str
    records: int  # step records found
    first_step: int | None
    last_step: int | None


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of training without a rewind. Numbered from 0 in order of time; the last one wins."""

    number: int
    first: int
    last: int
    rows: int
    source: str
    reason: str  # "start", "rewind", "resume", "new file"


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """Finite values of one metric over the live rows of a run."""

    name: str  # as logged
    metric: str  # canonical key where known, else the name
    n: int
    first: float | None
    last: float | None
    min: float | None
    max: float | None
    mean: float | None
    best: float | None  # None where the glossary knows no direction
    best_step: int | None
    non_finite: int


@dataclass(frozen=True, slots=True)
class Dumped:
    """Generations of one kind in samples.parquet, counted."""

    kind: str  # "rollout", "validation", "samples"
    rows: int
    scored: int  # rows with a finite score
    steps: int  # distinct
    first: int | None  # None = no row has a step
    last: int | None


@dataclass(frozen=True, slots=True)
class ConfigSource:
    """A source that says how the run was configured."""

    path: str
    format: str
    keys: int  # settings it has
    used: int  # of them the ones whose value is the run's


@dataclass(frozen=True, slots=True)
class Traced:
    """What traces.parquet holds, counted."""

    traces: int
    spans: int
    calls: int  # of tools
    failed: int  # of those
    first: int | None  # step
    last: int | None


@dataclass(frozen=True, slots=True)
class Mute:
    """What a run.toml says not to count: findings of one rule, and why they are expected."""

    rule: str  # as written; may name no rule
    reason: str
    line: int | None = None  # 1-based, in the run.toml


@dataclass(frozen=True, slots=True)
class Run:
    """Facts of a run, as `run.json` holds them. None = the logs do not say."""

    id: str
    path: str  # folder or file under RUNS
    title: str
    project: str | None
    experiment: str | None
    algorithm: str | None  # "GRPO", "PPO", "DAPO", "SFT", ...
    model: str | None
    verl_version: str | None
    commit: str | None
    hardware: str | None  # "8 x H100"
    gpus: int | None
    started_at: float | None  # Unix seconds
    ended_at: float | None
    wall_s: float | None  # sum of step times where logged, else from time stamps
    steps: int  # distinct live steps
    first_step: int | None
    last_step: int | None
    planned_steps: int | None
    finished: bool  # the log says that training ended by itself
    growing: bool
    segments: tuple[Segment, ...]
    sources: tuple[SourceFile, ...]
    formats: tuple[str, ...]
    tags: tuple[str, ...]
    owner: str | None
    baseline: str | None
    notes: str
    aliases: tuple[str, ...]
    config: Mapping[str, str]
    summary: tuple[MetricSummary, ...]
    problems: tuple[Problem, ...]
    fingerprint: str
    presets: tuple[str, ...] | None = None  # asked for in run.toml; None = those of the site
    mutes: tuple[Mute, ...] = ()  # by run.toml, in its order
    toml: str | None = None  # path of its run.toml, relative to RUNS
    generations: tuple[Dumped, ...] = ()  # by kind
    facts: Mapping[str, str] = field(default_factory=dict)  # said in passing: "command", "torch_version", …
    config_sources: tuple[ConfigSource, ...] = ()  # the one that counts first
    traces: tuple[Traced, ...] = ()  # one, where the run has traces

    @property
    def gpu_hours(self) -> float | None:
        """GPU-hours = wall seconds x GPUs / 3 600; None where either is unknown."""
        if self.wall_s is None or self.gpus is None:
            return None
        return self.wall_s * self.gpus / 3600.0


@dataclass(frozen=True, slots=True)
class Series:
    """One metric of one run over all segments, in row order.

    `values` is NaN where the row does not carry the metric. `live` marks rows that no later
    segment rewrote; charts draw the others as forks.
    """

    name: str  # as logged
    metric: str  # canonical key or the name
    steps: Ints
    values: Floats
    segments: Ints
    live: NDArray[np.bool_]
    non_finite: tuple[tuple[int, str], ...] = ()  # (step, "nan"|"inf"|"-inf")


@dataclass(frozen=True, slots=True)
class Metric:
    """A glossary entry."""

    key: str  # snake case, e.g. "kl_ref"
    title: str  # "Reference KL"
    unit: str  # "nats/token", "" where dimensionless
    better: str  # "up", "down", "band", "neither"
    group: str  # "reward", "kl", "entropy", "policy", "length", "speed", "memory", "validation", …
    meaning: str
    names: tuple[str, ...]  # names as logged, most wanted first; exact


# --- findings ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Phase:
    segment: int
    phase: PhaseName
    first: int  # step, inclusive
    last: int  # step, inclusive


@dataclass(frozen=True, slots=True)
class Fact:
    """A before/after number of an incident; `before` or `after` may be missing."""

    metric: str  # canonical key
    label: str
    unit: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why an incident was raised: numbers around the onset, log lines, or both. Never empty."""

    metric: str | None
    steps: tuple[int, ...] = ()
    values: tuple[float | None, ...] = ()
    thresholds: tuple[float | None, ...] = ()
    facts: tuple[Fact, ...] = ()
    lines: tuple[LogLine, ...] = ()

    def __post_init__(self) -> None:
        if not (self.steps or self.lines or self.facts):
            raise ValueError("evidence is empty: an incident needs steps, facts or log lines")


@dataclass(frozen=True, slots=True)
class Incident:
    id: str  # "<run>/<rule>-<n>"
    run: str
    segment: int
    rule: str  # "KL-05"
    title: str
    severity: Severity
    first: int | None  # step; None for an event before the first step
    last: int | None
    open: bool  # still true at the end of the run
    metric: str | None
    value: float | None
    threshold: float | None
    message: str  # one sentence with numbers
    causes: tuple[str, ...]
    advice: tuple[str, ...]
    evidence: Evidence

    @property
    def anchor(self) -> str:
        """Fragment on the run page, e.g. `KL-05-1`."""
        return self.id.rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True)
class Verdict:
    rule: str
    outcome: Outcome
    missing: tuple[str, ...] = ()  # what the run did not log, for not_applicable
    reason: str = ""  # e.g. "no row could be evaluated: shorter than the window"


@dataclass(frozen=True, slots=True)
class Muted:
    """A finding that the run's run.toml mutes: shown with the reason, counted nowhere."""

    incident: Incident
    reason: str


@dataclass(frozen=True, slots=True)
class Findings:
    """All that the rules say about one run."""

    run: str
    phases: tuple[Phase, ...]
    incidents: tuple[Incident, ...]  # by onset
    verdicts: tuple[Verdict, ...]  # by rule code
    muted: tuple[Muted, ...] = ()  # by onset; none of them is among `incidents`


# --- cards and boards ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule card as the engine and the pages see it."""

    code: str
    slug: str
    title: str
    summary: str
    kind: str  # "incident" or "phase"
    severity: Severity
    needs: tuple[str, ...]
    since: str
    params: Mapping[str, float | int | str | bool]
    sql: str
    sections: Mapping[str, str]  # heading -> Markdown
    path: str
    relation: str = "steps"  # what a row is: "steps", "evals" (validations) or "events" (log lines)
    persist: tuple[int, int] = (1, 1)  # opens when true in k of m rows
    exit: int = 0  # rows of calm that close it
    mute: bool = False  # opens nothing during warm-up
    presets: tuple[str, ...] = ()  # runs only where one of these was asked for; () = everywhere


@dataclass(frozen=True, slots=True)
class BoardEntry:
    rank: int
    run: str
    title: str
    value: float
    step: int | None
    mark: str  # "" or why the entry is marked, e.g. "open critical incident REW-05"
    extra: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Leaderboard:
    slug: str
    title: str
    summary: str  # what it ranks, over what
    unit: str
    better: str  # "up" or "down"
    columns: tuple[str, ...]  # keys of BoardEntry.extra shown
    entries: tuple[BoardEntry, ...]
    left_out: tuple[tuple[str, str], ...]  # (run, why)
    group: str = ""  # e.g. the benchmark


@dataclass(frozen=True, slots=True)
class Page:
    """A finished page: `html` is a complete fragment, autoescaped where it holds data."""

    path: str  # "runs/<run>/" below the site root, always ends with "/"; "" is home
    title: str
    description: str
    html: str
    search: bool = True
    kind: str = "page"  # "run", "rule", "board", "incidents", "home", ...
    filters: tuple[tuple[str, str], ...] = ()  # (name, value) by which search narrows; a name may recur
