"""All that a page may know. Built by `reports`, read by `pages`; plain data, no methods that ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sitegen.errors import Problem
from sitegen.model import (
    Incident,
    Leaderboard,
    LogLine,
    Metric,
    Muted,
    Outcome,
    Phase,
    Rule,
    Run,
    Series,
    Severity,
    State,
    Status,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class Best:
    """The number a run is known by: best validation where there is one, else best mean score."""

    label: str  # "gsm8k", or "training score" where nothing was validated
    name: str  # metric as logged
    value: float
    step: int
    validation: bool


@dataclass(frozen=True, slots=True)
class MetricView:
    """A chart: one metric and what the glossary says about it."""

    series: Series
    metric: Metric  # for unknown metrics a made-up entry, group "other"
    overview: bool  # among the 12 charts drawn at full width


@dataclass(frozen=True, slots=True)
class ValidationView:
    """One validation metric of one data set."""

    dataset: str
    name: str
    core: bool
    series: Series
    first: float
    last: float
    best: float
    best_step: int


@dataclass(frozen=True, slots=True)
class TimingPart:
    """Share of one part of the step. `seconds` is the median per step."""

    name: str  # "gen", "update_actor", ...; "other" is the step less its parts
    seconds: float
    share: float  # of the step, 0-1
    every: int  # steps between occurrences, 1 = each step


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in a table: everything cross-run pages need, small enough for thousands."""

    id: str
    title: str
    project: str | None
    experiment: str | None
    status: Status
    state: State
    algorithm: str | None
    model: str | None
    hardware: str | None
    tags: tuple[str, ...]
    owner: str | None
    steps: int
    last_step: int | None
    planned_steps: int | None
    growing: bool
    wall_s: float | None
    gpu_hours: float | None
    throughput: float | None  # tokens/s/GPU, median, net of validation and checkpoints
    started_at: float | None
    ended_at: float | None
    best: Best | None
    spark: tuple[float | None, ...]  # <= 60 points of the score
    incident_marks: tuple[tuple[float, str], ...]  # (position 0-1, severity word)
    counts: Mapping[str, int]  # severity word -> incidents
    headline: str  # "Reward hacking suspected from step 413" or "Converged at step 240"
    problems: int


@dataclass(frozen=True, slots=True)
class RunReport:
    """All about one run."""

    run: Run
    row: RunRow
    status: Status
    state: State
    headline: str  # bold part of the verdict
    sentence: str  # the rest: facts, numbers, best checkpoint, hours after onset
    phases: tuple[Phase, ...]
    incidents: tuple[Incident, ...]  # worst first, then by onset
    verdicts: tuple[Verdict, ...]
    metrics: tuple[MetricView, ...]  # in page order, validation and timing included
    validation: tuple[ValidationView, ...]
    timing: tuple[TimingPart, ...]
    log_lines: tuple[LogLine, ...]
    problems: tuple[Problem, ...]
    rules: Mapping[str, Rule]  # those the run's incidents and verdicts name
    rewritten: int  # rows that a later segment rewrote
    muted: tuple[Muted, ...] = ()  # findings that the run.toml says not to count, by onset


@dataclass(frozen=True, slots=True)
class IncidentRow:
    """An incident in the archive."""

    id: str
    run: str
    run_title: str
    run_status: Status
    model: str | None
    algorithm: str | None
    project: str | None
    rule: str
    title: str
    severity: Severity
    first: int | None
    last: int | None
    open: bool
    message: str
    happened_at: float | None  # Unix seconds, of the onset where known, else the run's end
    spark: tuple[float | None, ...]
    onset: float  # position of the onset in the spark, 0-1


@dataclass(frozen=True, slots=True)
class RuleView:
    """A rule and what it did in this archive."""

    rule: Rule
    fired: tuple[IncidentRow, ...]
    outcomes: Mapping[Outcome, int]
    cases: tuple[CaseView, ...]
    muted: tuple[tuple[str, str], ...] = ()  # (run id, title) where it fired and the run.toml mutes it


@dataclass(frozen=True, slots=True)
class CaseView:
    """A case of a card, for drawing."""

    name: str
    series: Mapping[str, tuple[float | None, ...]]
    expect: tuple[tuple[int, int], ...]  # row spans, 1-based, inclusive; may be empty though it fires
    outcome: str = "silent"  # "fires", "silent" or "not_applicable"


@dataclass(frozen=True, slots=True)
class ArchiveReport:
    """All that cross-run pages may know."""

    runs: tuple[RunRow, ...]  # newest first
    incidents: tuple[IncidentRow, ...]  # newest first
    leaderboards: tuple[Leaderboard, ...]
    rules: tuple[RuleView, ...]  # by code
    problems: tuple[tuple[str, Problem], ...]  # (run id or "", problem)
    ignored: tuple[str, ...]  # files under RUNS that no reader claimed
    now: float | None  # newest time stamp in the archive, Unix seconds
    removed: tuple[tuple[str, str, str], ...]  # (id, date, why)
