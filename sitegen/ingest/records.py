"""Step records from the lines of a log: where one starts, which lines belong to it, what it lost.

A record is usually one line. It is more where a terminal wrapped it (inside a name, a number or a
separator; the pieces are put together by plain concatenation), or where it was printed one metric per line.
It is less where W&B cut the line at 4096 characters or the file ends inside it: then the last piece is
dropped, because it may be half a name or half a number, and the row is marked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from sitegen.ingest import joins, pieces
from sitegen.ingest.faults import Faults, short
from sitegen.ingest.jsonl import LAST_STEP
from sitegen.ingest.pieces import SEPARATOR, Record
from sitegen.ingest.table import Layouts, Table
from sitegen.ingest.text import Line
from sitegen.model import Rows

WANDB_CUT = 4096  # characters W&B keeps of a line; 4095 when the last of them was a blank
MAX_LINES = 2000  # of one record
FEW = 8  # names; a shorter record proves nothing about its end
MAX_KNOWN = 64
_DECIMALS = re.compile(r"-?\d+\.\d{3}")
_FRAGMENT_PIECES = 3


@dataclass(slots=True)
class _Open:
    """A record that may still go on."""

    line: int
    time: float
    text: str
    step: int
    speaker: str = ""
    width: int = 0  # characters of the physical line read last
    cut: bool = False
    added: bool = False  # already a row of the table (read the fast way)
    record: Record | None = None  # of `text`
    wrapped: bool = False
    parts: list[str] = field(default_factory=list)

    @property
    def tail(self) -> str:
        """The last piece so far; a piece may reach over several lines."""
        text = self.parts[-1] if self.parts else self.text
        if SEPARATOR not in text and self.parts:
            text = "".join([self.text[-400:], *self.parts[-8:]])
        return "" if text.endswith(" -") else text.rpartition(SEPARATOR)[2]

    @property
    def whole(self) -> str:
        """All lines, put together."""
        return self.text + "".join(self.parts)


class Records:
    """Turns lines into rows of `table`.

    Attributes:
        last_step: step of the newest record, None before the first.
        last_line: line of that record, 0 before the first.
        closed: records that are complete.
        latest_step: step of the record completed last.
    """

    def __init__(self, faults: Faults) -> None:
        self.table = Table()
        self.last_step: int | None = None
        self.last_line = 0
        self.closed = 0
        self.latest_step: int | None = None
        self._latest: tuple[tuple[str, ...], list[float]] = ((), [])
        self._open: _Open | None = None
        self._layouts = Layouts()
        self._faults = faults
        self._known: dict[tuple[str, ...], None] = {}  # names of whole records, newest last

    @property
    def pending(self) -> bool:
        """Whether the next line may belong to a record."""
        return self._open is not None

    @property
    def latest(self) -> dict[str, float]:
        """Values of the record that was closed last."""
        return dict(zip(*self._latest, strict=True))

    def fast(self, number: int, line: bytes, at: int, time: float) -> bool:
        """Read a line whose layout is known; False leaves everything as it was."""
        if len(line) >= WANDB_CUT - 1 and _may_be_cut(len(line.decode("utf-8", "replace"))):
            return False
        found = self._layouts.match(line, at)
        if found is None:
            return False
        if self._open is not None:
            self.close()
        layout, step, values = found
        self.table.add(step, number, time, layout.names, values)
        self._completed(step, layout.names, values)
        self._open = _Open(number, time, line[at:].decode(), step, width=len(line), added=True)
        self.last_step, self.last_line = step, number
        return True

    def begin(self, line: Line, time: float, width: int) -> bool:
        """Open a record if `line` holds the start of one; `width` counts the characters of the raw line."""
        at = joins.step_at(line.body)
        if at is None:
            return False
        text = line.body[at:]
        match = pieces.STEP.match(text)
        assert match is not None
        rest = text[match.end() :].strip(" -")
        cut = _may_be_cut(width)
        record = pieces.record(text)
        if not (record or cut or pieces.unfinished(rest)):
            self._unlike(line.number, text)
            return False
        self.close()
        self._open = _Open(line.number, time, text, int(match[1]), line.speaker, width, cut, record=record)
        if record and self._open.step <= LAST_STEP:
            self.last_step, self.last_line = self._open.step, line.number
        return True

    def _unlike(self, number: int, text: str) -> None:
        self._faults.add("unreadable", number, f"starts like a step line but holds no metric: {short(text)}")

    def goes_on(self, line: Line, width: int) -> bool:
        """Add `line` to the open record if it is its continuation."""
        here = self._open
        body = line.body
        listed = body.startswith((SEPARATOR, "- "))
        if here is None or here.cut or not body.strip() or len(here.parts) > MAX_LINES:
            return False
        if line.speaker and not (listed and line.speaker == here.speaker):
            return False
        if not joins.continues(here.tail, body, here.wrapped, width == here.width):
            return False
        self._reopen(here)
        here.wrapped = here.wrapped or not listed
        here.width = width
        here.parts.append(joins.glue(here.parts[-1] if here.parts else here.text, body))
        return True

    def _reopen(self, here: _Open) -> None:
        """Take a record that was read the fast way back out of the table."""
        if here.added:
            self.table.pop()
            here.added = False

    def rows(self) -> Rows:
        """The records so far as arrays; one that may still go on stays back."""
        if self._open is not None:
            self._reopen(self._open)
        return self.table.rows()

    def close(self, end: bool = False, torn: bool = False) -> None:
        """The open record is complete. `end`: the file ends with it; `torn`: without a line end."""
        here, self._open = self._open, None
        if here is None or (here.added and not end):
            return
        self._reopen(here)
        if here.step > LAST_STEP:
            told = f"step out of range: {short(str(here.step), 40)} is more than 2^53; the line was left out"
            self._faults.add("out-of-range", here.line, told)
            return
        record = pieces.record(here.whole) if here.parts or here.record is None else here.record
        if record is None:
            if (end and torn) or here.cut:
                message = f"the record of step {here.step} ends before its first metric"
                self._faults.add("truncated", here.line, message)
            elif SEPARATOR in here.text:
                self._unlike(here.line, here.text)
            return
        why = self._lost(here, record, end, torn)
        self._add(here, record, why)
        for kind, message in complaints(record, why):
            self._faults.add(kind, here.line, message)

    def _add(self, here: _Open, record: Record, why: str) -> None:
        """Make a row of a record; a last piece that may be incomplete stays out."""
        values = dict(record.values)
        if why and why != "blank" and record.last is not None:
            values.pop(record.last, None)
        self.last_step, self.last_line = record.step, max(self.last_line, here.line)
        if why and not values:
            return
        names = tuple(values)
        self._completed(record.step, names, list(values.values()))
        self.table.add(record.step, here.line, here.time, *self._latest, cut=bool(why))
        if not why:
            self._remember(names)
            if not (record.unread or record.prose or record.conflicts or len(record.raws) != len(values)):
                self._layouts.learn(record.raws)

    def _completed(self, step: int, names: tuple[str, ...], values: list[float]) -> None:
        self.closed += 1
        self.latest_step = step
        self._latest = (names, values)

    def put(self, line: int, step: int, time: float, values: dict[str, float]) -> None:
        """Add a record that did not come from a step line."""
        self.close()
        self._completed(step, tuple(values), list(values.values()))
        self.table.add(step, line, time, *self._latest)
        self.last_step, self.last_line = step, line

    def place(self, line: int, step: int, time: float, values: dict[str, float]) -> None:
        """Add values found outside a step line; those of an earlier step go before the newest record."""
        if self.latest_step is not None and step < self.latest_step and len(self.table):
            self.table.add_before_last(step, line, time, tuple(values), list(values.values()))
        else:
            self.table.add(step, line, time, tuple(values), list(values.values()))

    def _remember(self, names: tuple[str, ...]) -> None:
        self._known.pop(names, None)
        self._known[names] = None
        if len(self._known) > MAX_KNOWN:
            del self._known[next(iter(self._known))]

    def _lost(self, here: _Open, record: Record, end: bool, torn: bool) -> str:
        """Why the record lost its end: "wandb", "blank" (behind a whole piece), "torn", "short"; or empty."""
        if here.cut:
            return "blank" if here.width < WANDB_CUT and not record.dangling else "wandb"
        if end and torn:
            return "torn"
        if record.dangling or (end and (_fewer_decimals(record) or self._shorter(record))):
            return "short"
        return ""

    def _shorter(self, record: Record) -> bool:
        """Whether a record before had the same names and went on, but none ended where this one does."""
        names = tuple(record.raws)
        if len(names) < FEW or names in self._known:
            return False
        return any(len(names) < len(known) and known[: len(names)] == names for known in self._known)

    def fragment(self, number: int, body: str) -> bool:
        """Report metrics without a step: the tail of a record whose start lies outside the file."""
        if body.count(SEPARATOR) < _FRAGMENT_PIECES - 1:
            return False
        texts = body.strip().split(SEPARATOR)
        found = [text for text in texts if pieces.metric(text)]
        if len(found) < _FRAGMENT_PIECES or len(found) < len(texts) - 2:
            return False
        first, last = (text.rpartition(":")[0] for text in (found[0], found[-1]))
        self._faults.add(
            "fragment",
            number,
            f"{len(found)} metrics, {short(first)} to {short(last)}, belong to a step the log does not name",
        )
        return True


def _may_be_cut(width: int) -> bool:
    return WANDB_CUT - 1 <= width <= WANDB_CUT


def complaints(record: Record, why: str) -> Iterator[tuple[str, str]]:
    """(kind, message) of everything about a record that was not read."""
    step = f"step {record.step}"
    if why:
        lost = (
            f"; {short(record.last)} may be incomplete and was dropped"
            if record.last and why != "blank"
            else ""
        )
        if why in ("wandb", "blank"):
            yield "cut", f"{step} was cut at {WANDB_CUT} characters{lost}; what followed is unknown"
        else:
            yield "truncated", f"the record of {step} ends in the middle{lost}"
    for text in record.unread[: -1 if record.dangling and record.last is None and record.unread else None]:
        yield "unreadable", f"{step}: {short(text)} is no metric"
    if record.prose:
        yield "unreadable", f"{step}: text behind a metric: {short(record.prose)}"
    for name in record.conflicts:
        yield "conflict", f"{step}: {short(name)} stands twice with different values; the last was kept"


def _fewer_decimals(record: Record) -> bool:
    """Whether all values have three decimals, as old verl prints them, but the last has fewer."""
    *before, last = record.raws.values() if record.raws else [""]
    fixed = len(before) >= 5 and all(
        _DECIMALS.fullmatch(raw) or raw in ("nan", "inf", "-inf") for raw in before
    )
    return fixed and math.isfinite(pieces.number(last) or 0.0) and not _DECIMALS.fullmatch(last)
