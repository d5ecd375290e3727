"""`Initial validation metrics: {…}` and `Final validation metrics: {…}`, printed over one or many lines.

verl passes the sentence through `pprint`, which breaks it into string literals at any blank; forks print it
as it is. The values belong to a step that the sentence does not name.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from sitegen.ingest import literals, pieces
from sitegen.ingest.faults import Faults, short
from sitegen.ingest.records import Records
from sitegen.ingest.text import Line

_START = re.compile(
    r"(?P<opening>\(?\s*[\"'])?(?P<which>Initial|Final) validation metrics:\s*(?P<rest>.*)$", re.DOTALL
)
MAX_LINES = 20_000
MAX_CHARACTERS = 4_000_000


class _Announcement:
    """One such sentence while its lines arrive."""

    def __init__(self, line: int, speaker: str, body: str) -> None:
        match = _START.search(body)
        assert match is not None
        self.line = line
        self.speaker = speaker
        self.first = match["which"] == "Initial"
        self._quoted = match["opening"] is not None
        self._texts = [body[match.start() :]]
        self._depth = literals.balance(self._texts[0] if self._quoted else match["rest"])
        self._size = len(body)

    @property
    def complete(self) -> bool:
        """Whether no further line belongs to it."""
        return self._depth <= 0

    def goes_on(self, speaker: str, body: str) -> bool:
        """Take `body` if it belongs to the sentence."""
        if self.complete or speaker != self.speaker:
            return False
        if len(self._texts) > MAX_LINES or self._size > MAX_CHARACTERS:
            return False
        if not body.lstrip().startswith(("'", '"', "}", "np.")) and self._quoted:
            return False
        self._texts.append(body)
        self._depth += literals.balance(body)
        self._size += len(body)
        return True

    def values(self) -> dict[str, float] | None:
        """Numbers by name; None when the sentence holds no dict (`None`) or cannot be read."""
        text = "\n".join(self._texts)
        sentence = literals.strings(text) if self._quoted else text
        found = literals.parse(sentence.partition("metrics:")[2])
        if not isinstance(found, dict):
            return None
        values = {}
        for name, raw in literals.flatten(found):
            value = pieces.number(raw)
            if value is not None:
                values[name] = value
        return values


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Validation values whose step is not known yet.

    Args:
        line: where they were printed.
        first: True for initial values, False for final ones.
        values: by name.
        since: records complete when they were printed.
        before: step of the newest record then.
        known: values of that record.
    """

    line: int
    first: bool
    values: dict[str, float]
    since: int
    before: int | None
    known: dict[str, float]

    def step(self, latest: int | None, names: Collection[str], resumed: int | None) -> int:
        """The step the values belong to.

        `latest` and `names` describe the first record after them (None: there is none); `resumed` is the
        step the run started from, if the log names it. Initial values were measured before the first
        training step, final ones after the last.
        """
        shared = latest is not None and any(name in names for name in self.values)
        if shared or (not self.first and latest == self.before):
            assert latest is not None
            return latest
        if not self.first and self.before is not None:
            return self.before
        if resumed is not None:
            return resumed
        return 0 if latest is None or latest <= 1 else latest - 1


class Validations:
    """Finds the announcements of a log and gives their values a row of their own, or none if they are known.

    Attributes:
        resumed: step the run started from, where the log names it.
    """

    def __init__(self, records: Records, faults: Faults) -> None:
        self.resumed: int | None = None
        self._records = records
        self._faults = faults
        self._open: _Announcement | None = None
        self._waiting: _Waiting | None = None

    @property
    def pending(self) -> bool:
        """Whether the next line may belong to an announcement."""
        return self._open is not None

    def waits(self) -> bool:
        """Whether the record that comes next must not be read the fast way."""
        return self._waiting is not None or self._open is not None

    def begin(self, line: Line, time: float) -> None:
        """Open an announcement if `line` is the start of one."""
        if "validation metrics:" in line.body and _START.search(line.body):
            self._open = _Announcement(line.number, line.speaker, line.body)
            if self._open.complete:
                self._done(time)

    def goes_on(self, line: Line, time: float) -> bool:
        """Whether `line` belongs to the open announcement."""
        if self._open is None:
            return False
        if self._open.goes_on(line.speaker, line.body):
            return True
        if line.speaker == self._open.speaker:
            self._done(time)
        return False

    def finish(self, time: float) -> None:
        """The log ends."""
        if self._open is not None:
            self._done(time)
        self.settle(time, end=True)

    def _done(self, time: float) -> None:
        """All lines are here: the values wait for the step they belong to."""
        done, self._open = self._open, None
        assert done is not None
        records = self._records
        records.close()
        self.settle(time, end=True)
        values = done.values()
        if values:
            self._waiting = _Waiting(
                done.line, done.first, values, records.closed, records.latest_step, records.latest
            )

    def settle(self, time: float, end: bool = False) -> None:
        """Give waiting values their step once the next record, or the end, is there."""
        waiting, records = self._waiting, self._records
        if waiting is None:
            return
        fresh = records.closed > waiting.since
        if not (fresh or end):
            return
        self._waiting = None
        step = waiting.step(records.latest_step if fresh else None, records.latest, self.resumed)
        known: dict[str, float] = {}
        if fresh and step == records.latest_step:
            known = records.latest
        elif step == waiting.before:
            known = waiting.known
        rest = {name: value for name, value in waiting.values.items() if name not in known}
        self._compare(waiting, step, known)
        if rest:
            records.place(waiting.line, step, time, rest)

    def _compare(self, waiting: _Waiting, step: int, known: dict[str, float]) -> None:
        for name, value in waiting.values.items():
            if name in known and not same(known[name], value):
                logged = f"{known[name]!r} in the step line, which counts"
                message = f"step {step}: {short(name)} is {logged}, and {value!r} here"
                self._faults.add("conflict", waiting.line, message)


def same(printed: float, exact: float) -> bool:
    """Whether two values are one: equal, or the first is the second with three decimals (old verl)."""
    return printed == exact or printed == round(exact, 3) or (printed != printed and exact != exact)
