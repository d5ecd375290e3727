"""A trace: what a run logged, before it becomes a file or an archive."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sitegen.model import Floats, Ints, Severity
from tests.detection.profiles import Setup


@dataclass(frozen=True, slots=True)
class Label:
    """An incident that is in a run.

    Args:
        kind: name of the incident.
        codes: rules that may report it, the one that is meant first.
        also: rules that may rightly report what follows from it.
        first: step of the onset; 0 = before the first step.
        last: last step that is affected.
        strength: "low", "medium" or "high".
        hard: a fault that must never be missed (crash, NaN, explosion, collapse, dead signal).
        whole: there is no onset, the whole run is like that.
        least: severity that a finding must have to count.
    """

    kind: str
    codes: tuple[str, ...]
    also: tuple[str, ...]
    first: int
    last: int
    strength: str
    hard: bool
    whole: bool
    least: Severity


@dataclass(frozen=True, slots=True)
class Event:
    """A line that the log holds after row `row` (-1 = before the first): what verl or the system printed."""

    row: int
    kind: str
    level: str
    text: str


@dataclass
class Trace:
    """One run as logged. Scars change it in place.

    Args:
        steps: step of each row, in file order; falls where the run was resumed.
        metrics: name as logged -> value per row, NaN where the row does not carry it.
        odd: (row, name, raw) of values that are NaN or infinite.
        torn: rows whose line lost its end.
        true_of_log: rules that are right about this log, incident or not.
    """

    name: str
    setup: Setup
    steps: Ints
    metrics: dict[str, Floats]
    config: dict[str, str]
    labels: tuple[Label, ...] = ()
    odd: list[tuple[int, str, str]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    torn: list[int] = field(default_factory=list)
    finished: bool = True
    growing: bool = False
    true_of_log: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        return len(self.steps)

    @property
    def planned(self) -> int:
        return self.setup.steps

    def say(self, row: int, kind: str, level: str, text: str) -> None:
        """Add a line after `row`."""
        self.events.append(Event(row, kind, level, text))

    def break_value(self, name: str, rows: Ints, raw: str = "nan") -> None:
        """Make `name` not finite in `rows`."""
        if name in self.metrics:
            self.metrics[name][rows] = np.nan
            self.odd += [(int(row), name, raw) for row in rows]

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Drop the rows that are not `kept`; events stay after the last row kept before them."""
        place = np.cumsum(kept) - 1
        self.steps = self.steps[kept]
        self.metrics = {name: values[kept] for name, values in self.metrics.items()}
        self.odd = [(int(place[row]), name, raw) for row, name, raw in self.odd if kept[row]]
        self.torn = [int(place[row]) for row in self.torn if kept[row]]
        self.events = [replace(one, row=int(place[one.row]) if one.row >= 0 else -1) for one in self.events]

    def end_at(self, row: int) -> None:
        """The log ends after `row`, without a word."""
        self.events = [one for one in self.events if one.row <= row]
        self.keep(np.arange(self.rows) <= row)
        self.finished = False

    def again_from(self, row: int, back: int, rng: np.random.Generator) -> None:
        """After `row` the run goes back by `back` rows and trains them again, with slightly other values."""
        start = row - back + 1
        order = np.concatenate([np.arange(row + 1), np.arange(start, self.rows)])
        self.steps = self.steps[order]
        for name, values in self.metrics.items():
            again = values[order].copy()
            again[row + 1 : row + 1 + back] *= 1 + rng.normal(0, 0.004, back)
            self.metrics[name] = again
        self.events = [replace(one, row=one.row + back) if one.row > row else one for one in self.events]
        self.odd = [(at + back if at > row else at, name, raw) for at, name, raw in self.odd]
        self.torn = [at + back if at > row else at for at in self.torn]

    @property
    def segments(self) -> Ints:
        """Number of the attempt each row belongs to."""
        return np.concatenate([[0], np.cumsum(np.diff(self.steps) < 0)]).astype(np.int64)[: self.rows]

    @property
    def live(self) -> NDArray[np.bool_]:
        """Rows that no later attempt rewrote."""
        latest = {int(step): row for row, step in enumerate(self.steps)}
        return np.array([latest[int(step)] == row for row, step in enumerate(self.steps)], np.bool_)
