"""What in W&B's log is not read, or was lost before it got there; bounded."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from sitegen.errors import Problem

SHOWN = 5
_IGNORED = re.compile(rb"Tried to log to step (\d{1,15}) that is less than the current step (\d{1,15})")


@dataclass
class Notes:
    """Filled while reading one log."""

    path: str
    has_table: Callable[[str], bool] = lambda name: False  # whether a table of that name lies beside the log
    records: int = 0
    stats: int = 0  # samples of the machine's state
    stepless: int = 0  # history records without a step
    _references: dict[tuple[str, str], int] = field(default_factory=dict)  # name, type -> records
    _bad: list[tuple[int, str]] = field(default_factory=list)
    _bad_more: int = 0
    _ignored: list[tuple[int, int]] = field(default_factory=list)  # step, step reached before
    _ignored_more: int = 0
    _start: bytes = b""

    def header(self, found: bytes, expected: bytes) -> None:
        """The first bytes of the file."""
        self._start = b"" if found == expected else found or b"\0"

    def reference(self, name: str, kind: str) -> None:
        """A table or a picture: a file beside the log."""
        key = (name[:200], kind[:80])
        if key in self._references or len(self._references) < 1000:
            self._references[key] = self._references.get(key, 0) + 1

    def malformed(self, offset: int, why: str) -> None:
        """A record whose check sum is right and that makes no sense."""
        if len(self._bad) < SHOWN:
            self._bad.append((offset, why))
        else:
            self._bad_more += 1

    def output(self, printed: bytes) -> None:
        """What the run printed: W&B says there when it throws values away."""
        for step, reached in _IGNORED.findall(printed) if b"Tried to log to step" in printed else ():
            if len(self._ignored) < SHOWN:
                self._ignored.append((int(step), int(reached)))
            else:
                self._ignored_more += 1

    def problems(self, *, damaged: bool) -> tuple[Problem, ...]:
        """Everything noted; a log that is damaged is not called empty."""
        return (*self._unreadable(damaged), *self._lost(), *self._unread())

    def _unreadable(self, damaged: bool) -> list[Problem]:
        found = []
        if not self.records and not damaged:
            what = "no record was written to this file: the run ended before it began"
            found.append(Problem(self.path, None, "empty", what))
        if self._start:
            what = f"the file begins with {self._start!r}, not as W&B's log of version 0 does"
            hint = "If a newer W&B wrote it, please report it; values may be missing."
            found.append(Problem(self.path, None, "unreadable", what, hint))
        for offset, why in self._bad:
            what = f"the record at byte {offset} makes no sense: {why}"
            found.append(Problem(self.path, None, "malformed", what))
        if self._bad_more:
            found.append(
                Problem(self.path, None, "malformed", f"{self._bad_more} more records make no sense")
            )
        if self.stepless:
            what = f"{self.stepless} history records have no step from -1 to 2^53"
            found.append(Problem(self.path, None, "no-step", what))
        return found

    def _lost(self) -> list[Problem]:
        if not self._ignored:
            return []
        steps = ", ".join(str(step) for step, _ in self._ignored) + (", …" if self._ignored_more else "")
        n = len(self._ignored) + self._ignored_more
        at = f"{'steps' if n > 1 else 'step'} {steps}"
        what = f"W&B dropped what was logged at {at} ({n} times): it had reached step {self._ignored[0][1]}"
        hint = (
            "W&B keeps the first of a step that is logged twice; the console log or the FileLogger has both."
        )
        return [Problem(self.path, None, "lost", what, hint)]

    def _unread(self) -> list[Problem]:
        found = []
        away = [
            (name, kind, n)
            for (name, kind), n in self._references.items()
            if not ("table" in kind and self.has_table(name))  # else its own file is read, or told
        ]
        for name, kind, n in away[:SHOWN]:
            lies = "lies in `files/media/table/`, which is not here" if "table" in kind else "is not read"
            found.append(Problem(self.path, None, "unsupported", f"{name} ({kind}, {n} times) {lies}"))
        if (more := len(away) - SHOWN) > 0:
            found.append(
                Problem(self.path, None, "unsupported", f"{more} more tables or media are not read yet")
            )
        if self.stats:
            what = f"{self.stats} readings of the machine belong to no step and were left out"
            found.append(Problem(self.path, None, "left-out", what))
        return found
