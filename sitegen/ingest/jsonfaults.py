"""What could not be read in a file of records, counted instead of listed without end."""

from __future__ import annotations

from dataclasses import dataclass, field

from sitegen.errors import Problem
from sitegen.ingest.source import MAX_LINE

SHOWN = 20  # bad lines listed one by one; the rest is counted
MAX_NAMES = 5_000  # names per file; more are no metrics but data (a sample's id as key, say)


@dataclass
class Faults:
    """What could not be read in one file, counted so that a million bad lines stay a few problems."""

    path: str
    place: str = "line"  # what numbers of lines count
    record: str = "step record"  # what a line should be
    listed: list[Problem] = field(default_factory=list)
    more: int = 0
    more_from: int = 0
    texts: dict[str, tuple[str, int, int]] = field(default_factory=dict)  # name -> type, records, line
    names: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    repeated: tuple[str, int] | None = None  # first name that stands twice in one record, and its line

    def bad(self, line: int, why: str) -> None:
        """A line without a record."""
        self._add(Problem(self.path, line, "malformed", f"the line is no {self.record}: {why}"))

    def torn(self, line: int, last: bool, kept: bool) -> None:
        """A line that ends in the middle of a record."""
        where = "the last line" if last else "the line"
        rest = "the pairs before the tear were kept" if kept else "nothing of it could be kept"
        hint = "Copy the file again if the run goes on; else nothing can be done." if last else ""
        self._add(Problem(self.path, line, "truncated", f"{where} is torn: {rest}", hint))

    def too_long(self, line: int) -> None:
        """A line that was not looked at."""
        self._add(Problem(self.path, line, "too-long", f"the line is longer than {MAX_LINE >> 20} MB"))

    def not_a_number(self, name: str, value: object, line: int) -> None:
        """A value that no metric column can hold. Lines come in any order."""
        kind, records, first = self.texts.get(name, ("", 0, line + 1))
        if line < first:
            kind, first = type(value).__name__, line
        if name in self.texts or len(self.texts) < 1000:
            self.texts[name] = (kind, records + 1, first)

    def admits(self, name: str) -> bool:
        """Whether a metric may be stored: it is known already, or there is room for another name."""
        if name in self.names:
            return True
        if len(self.names) < MAX_NAMES:
            self.names.add(name)
            if "\ufffd" in name:
                what = f"the metric name {name[:80]} holds bytes that are no text"
                self._add(Problem(self.path, None, "damaged", what, "Copy the file again if you can."))
            return True
        if len(self.refused) < MAX_NAMES:
            self.refused.add(name)
        return False

    def problems(self) -> tuple[Problem, ...]:
        """Everything noted, bad lines first."""
        found = list(self.listed)
        if self.refused:
            n = f"at least {MAX_NAMES}" if len(self.refused) == MAX_NAMES else str(len(self.refused))
            what = f"more than {MAX_NAMES} metric names; {n} were left out, such as {min(self.refused)[:80]}"
            found.append(
                Problem(self.path, None, "too-many", what, "Do not log the id of a sample as a name.")
            )
        if self.repeated:
            name, line = self.repeated
            what = f"{name[:80]} stands twice in one record; the last value was kept, here and in later lines"
            found.append(Problem(self.path, line, "repeat", what, "Log each name once per step."))
        if self.more:
            found.append(
                Problem(
                    self.path, self.more_from, "malformed", f"{self.more} more lines are no {self.record}"
                )
            )
        if self.texts:
            found.append(self._texts())
        return tuple(found)

    def _texts(self) -> Problem:
        found = sorted(self.texts.items(), key=lambda each: (each[1][2], each[0]))
        shown = [
            f"{name[:80]} ({kind}, {records} records, first in {self.place} {line})"
            for name, (kind, records, line) in found[:5]
        ]
        rest = len(self.texts) - len(shown)
        message = "values that are not numbers were left out: " + ", ".join(shown)
        return Problem(self.path, None, "not-a-number", message + (f" and {rest} more names" if rest else ""))

    def _add(self, problem: Problem) -> None:
        if len(self.listed) < SHOWN:
            self.listed.append(problem)
        else:
            self.more_from = self.more_from or problem.line or 0
            self.more += 1
