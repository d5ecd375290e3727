"""What rules say about a run."""

from __future__ import annotations

from dataclasses import dataclass

from sitegen.model.batch import LogLine
from sitegen.model.words import Outcome, PhaseName, Severity


@dataclass(frozen=True, slots=True)
class Phase:
    segment: int
    phase: PhaseName
    first: int  # step, inclusive
    last: int  # step, inclusive


@dataclass(frozen=True, slots=True)
class Fact:
    """A before/after number of an incident.

    `before` or `after` is None where nothing was logged, NaN where only values that are not finite were.
    """

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
