"""A run as the archive has it: facts, sources, segments, what is counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sitegen.errors import Problem


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
class Note:
    """What a person wrote about a run or one of its incidents."""

    path: str  # relative to RUNS
    anchor: str  # of the incident, "KL-05-1", which need not exist; "" = the run
    text: str  # Markdown, redacted
    fixed_by: str | None = None  # a run as written, by id or alias, which need not exist
    line: int | None = None  # 1-based, where that is said


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
    written: tuple[Note, ...] = ()  # notes by people: on the run first, then by incident

    @property
    def gpu_hours(self) -> float | None:
        """GPU-hours = wall seconds x GPUs / 3 600; None where either is unknown."""
        if self.wall_s is None or self.gpus is None:
            return None
        return self.wall_s * self.gpus / 3600.0
