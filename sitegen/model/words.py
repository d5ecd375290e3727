"""Words with a fixed meaning: how bad, how it ended, where a run is."""

from __future__ import annotations

from enum import IntEnum, StrEnum


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
