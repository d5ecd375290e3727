"""What discovery plans: which files make which run."""

from __future__ import annotations

from dataclasses import dataclass

from sitegen.config import ALWAYS, Redaction
from sitegen.errors import Problem
from sitegen.ingest.source import Source


@dataclass(frozen=True, slots=True)
class Input:
    """A source of a run, in which format, and the state of its files. `sha` where it is known already."""

    source: Source
    format: str
    state: tuple[int, ...]
    sha: str | None = None

    @property
    def path(self) -> str:
        """As shown to people, relative to RUNS."""
        return self.source.path

    @property
    def size(self) -> int:
        """Bytes to read."""
        return (self.source.size or 0) + sum(each.size for each in self.source.members)


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What discovery says about one run."""

    id: str
    path: str
    inputs: tuple[Input, ...]
    toml: Input | None = None
    problems: tuple[Problem, ...] = ()
    reader: str = ""  # `reader_version` of the process that plans
    redaction: Redaction = ALWAYS
    notes: tuple[Input, ...] = ()  # by people
    numbers: tuple[str, ...] = ()  # further ids, by the numbers that a tracker gave to the run
