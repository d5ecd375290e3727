"""All that a page may know. Built by `reports`, read by `pages`; plain data, no methods that ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sitegen.errors import Problem
from sitegen.model import (
    BoardEntry,
    Floats,
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
from sitegen.reports.excerpts import SamplesReport
from sitegen.reports.interval import Interval
from sitegen.reports.trajectories import TracesReport


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
class Difference:
    """A setting or fact of two runs; None = that run does not say."""

    key: str
    here: str | None
    there: str | None


@dataclass(frozen=True, slots=True)
class Compared:
    """How a run was set up differently from another one."""

    relation: str  # "baseline", "previous run" or "baseline and previous run"
    run: str
    title: str
    differing: tuple[Difference, ...]  # both say something, and not the same; by key
    single: tuple[Difference, ...]  # only one of them says something


@dataclass(frozen=True, slots=True)
class Seed:
    """A run of a seed group."""

    run: str
    title: str
    seed: str  # "1", or "1, 7" where several keys set seeds that differ


@dataclass(frozen=True, slots=True)
class SeedGroup:
    """Runs of one project whose configurations differ in seeds, names, places and dates only."""

    keys: tuple[str, ...]  # the seeds that differ
    members: tuple[Seed, ...]  # two or more, by seed, then by run

    @property
    def seeds(self) -> int:
        """Distinct seeds; fewer than the members where a seed was run again."""
        return len({one.seed for one in self.members})

    def seed_of(self, run: str) -> str:
        """Seed of a member. Raises KeyError."""
        return {one.run: one.seed for one in self.members}[run]


@dataclass(frozen=True, slots=True)
class Place:
    """A place of a leaderboard that seeds share."""

    rank: int
    value: float  # of the run, or the mean of the seeds
    entries: tuple[BoardEntry, ...]  # ranked runs of it, best first
    members: int  # runs of the seed group, ranked or not
    interval: Interval | None  # None = one run


@dataclass(frozen=True, slots=True)
class Varied:
    """A setting that differs among the runs of a project."""

    key: str
    also: tuple[str, ...]  # keys that vary in the same way
    values: Mapping[
        str, str
    ]  # run -> value as logged, cut to 60 characters; a run that does not say is not in it


@dataclass(frozen=True, slots=True)
class Project:
    """Runs that name the same project."""

    slug: str
    name: str
    runs: tuple[str, ...]  # ids, sorted
    varied: tuple[Varied, ...]  # at most 8, those that most runs state first
    more: tuple[str, ...]  # further keys that differ


@dataclass(frozen=True, slots=True)
class NoteView:
    """What a person wrote about the run (`anchor` "") or one of its incidents."""

    anchor: str
    path: str
    text: str  # Markdown
    named: str | None  # the run that it was fixed by, as written
    fixed: Compared | None  # how that run was set up; None = no run is named, or there is none of that name


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
    incidents: tuple[Incident, ...]  # the headline's, then worst first, then by onset
    verdicts: tuple[Verdict, ...]
    metrics: tuple[MetricView, ...]  # in page order, validation and timing included
    validation: tuple[ValidationView, ...]
    timing: tuple[TimingPart, ...]
    log_lines: tuple[LogLine, ...]
    problems: tuple[Problem, ...]
    rules: Mapping[str, Rule]  # those the run's incidents and verdicts name
    rewritten: int  # rows that a later segment rewrote
    muted: tuple[Muted, ...] = ()  # findings that the run.toml says not to count, by onset
    compared: tuple[Compared, ...] = ()  # the baseline first; a run that says nothing is left out
    stride: int = 1  # rules looked at every so many steps: more than 1 for very long runs
    samples: SamplesReport | None = None  # None = the run dumped no generations
    traces: TracesReport | None = None  # None = the run has no traces
    peers: tuple[tuple[str, str, str], ...] = ()  # (relation, run, title), also of those that log no setup
    seeds: SeedGroup | None = None  # None = no other run differs in the seed only
    notes: tuple[NoteView, ...] = ()  # by people: on the run first, then by incident
    mends: tuple[tuple[str, str], ...] = ()  # (id, title) of runs whose notes say that this one fixed them
    gist: str = ""  # how `sentence` begins: the main event, where there is one
    root: str = ""  # anchor of the incident suspected to have begun the headline's
    clock: Floats | None = None  # (rows,) Unix seconds, NaN where unknown; None = step times tell the hours


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
    changes: Mapping[str, float] = field(default_factory=dict)  # metric -> doublings from before to after
    explained: bool = False  # a person wrote a note on it
    fixed_by: str | None = None  # id of the run that the note names


@dataclass(frozen=True, slots=True)
class Figures:
    """How well all rules together detect; shares are 0-1, onset errors % of the run; None = not measured."""

    injected: int | None
    found: int | None
    hard: float | None  # share of hard faults found
    soft: float | None  # share of soft faults at medium strength found
    precision: float | None
    alarms: float | None  # false alarms per healthy run
    onset_median: float | None
    onset_p90: float | None


@dataclass(frozen=True, slots=True)
class Measured:
    """Simulated runs of one kind of incident at one strength, by seed."""

    kind: str
    strength: str
    found: tuple[int, ...]
    missed: tuple[int, ...]

    def name(self, seed: int) -> str:
        """The name by which `python -m tests.detection --show` makes the run again."""
        return f"{self.kind}-{self.strength}-{seed:04d}"


@dataclass(frozen=True, slots=True)
class RunSketch:
    """A simulated run for a little chart. Spans are (first, last) in steps; step 0 is before the first."""

    metric: str
    low: float
    high: float
    steps: tuple[int, int]
    values: tuple[float | None, ...]  # from 0 = low to 1 = high, evenly over the rows
    truth: tuple[int, int] | None  # what was put in; None where the run is healthy or all of it is like that
    found: tuple[int, int] | None  # what the rule said; None where it missed


@dataclass(frozen=True, slots=True)
class RuleScore:
    """How well one rule detects on simulated runs. Onset errors are % of the run."""

    injected: int
    found: int
    alarms: int | None  # findings of warning or more on healthy runs
    unexplained: int | None  # such findings beside another incident, which do not belong to it
    healthy: int | None  # healthy runs
    precision: float | None
    onset_median: float | None
    onset_p90: float | None
    by_strength: tuple[tuple[str, int, int], ...]  # (strength, found, injected)
    runs: tuple[Measured, ...]
    complete: bool  # whether `runs` holds every hit and miss; else some misses only
    alarmed: tuple[str, ...]  # names of runs where it fired without reason
    sketches: Mapping[str, RunSketch] = field(default_factory=dict)  # by name of the run

    @property
    def recall(self) -> float | None:
        """Share of the incidents found; None where there was none to find."""
        return self.found / self.injected if self.injected else None

    @property
    def alarms_per_run(self) -> float | None:
        """False alarms per healthy run."""
        return self.alarms / self.healthy if self.healthy and self.alarms is not None else None


@dataclass(frozen=True, slots=True)
class Scorecard:
    """What was measured on simulated runs, and with which seeds."""

    seeds: tuple[str, int | None, int | None]  # (name of the set, first, last)
    version: str  # of sitegen
    incident_runs: int | None
    healthy_runs: int | None
    kinds: int | None  # of incidents
    overall: Figures
    degraded: tuple[tuple[str, Figures], ...]  # the same logs made worse, by how
    rules: Mapping[str, RuleScore]  # code -> score


@dataclass(frozen=True, slots=True)
class RuleView:
    """A rule and what it did in this archive."""

    rule: Rule
    fired: tuple[IncidentRow, ...]
    outcomes: Mapping[Outcome, int]
    cases: tuple[CaseView, ...]
    muted: tuple[tuple[str, str], ...] = ()  # (run id, title) where it fired and the run.toml mutes it
    changed: Mapping[str, float | int | str | bool] = field(default_factory=dict)  # params this site sets
    score: RuleScore | None = None  # None = in no scorecard


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
    scorecard: Scorecard | None = None
    places: Mapping[str, tuple[Place, ...]] = field(
        default_factory=dict
    )  # board -> places, where seeds share one
    projects: tuple[Project, ...] = ()  # by name
