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

from sitegen.ingest import pieces
from sitegen.ingest.faults import Faults, short
from sitegen.ingest.pieces import SEPARATOR, Record
from sitegen.ingest.table import Layouts, Table
from sitegen.ingest.text import Line
from sitegen.model import Rows

WANDB_CUT = 4096  # characters W&B keeps of a line; 4095 when the last of them was a blank
MAX_RECORD = 1 << 20
MAX_LINES = 2000  # of one record
MAX_KNOWN = 8
_WORD = re.compile(r"[\w./@():+\-]{1,240}")
_BAR_END = re.compile(r"(?:it|s|it/s|s/it|[\w?]+)\]\s*$")
_LOG_MARK = re.compile(r"(?:^|[\s\])>|:,-])$")
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
    wrapped: bool = False
    parts: list[str] = field(default_factory=list)

    @property
    def tail(self) -> str:
        """The last piece so far; a piece may reach over several lines."""
        text = self.parts[-1] if self.parts else self.text
        if SEPARATOR not in text and self.parts:
            text = "".join([self.text[-400:], *self.parts[-8:]])
        return text.rpartition(SEPARATOR)[2]

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
        at = step_at(line.body)
        if at is None:
            return False
        text = line.body[at:]
        match = pieces.STEP.match(text)
        assert match is not None
        cut = _may_be_cut(width)
        alone = not text[match.end() :].strip(" -")
        if not alone and not cut and pieces.record(text) is None:
            self._faults.add(
                "unreadable", line.number, f"starts like a step line but holds no metric: {short(text)}"
            )
            return False
        self.close()
        self._open = _Open(line.number, time, text, int(match[1]), line.speaker, width, cut)
        if not alone:
            self.last_step, self.last_line = self._open.step, line.number
        return True

    def goes_on(self, line: Line, width: int) -> bool:
        """Add `line` to the open record if it is its continuation."""
        here = self._open
        body = line.body
        listed = body.startswith((SEPARATOR, "- "))
        if here is None or here.cut or not body.strip() or len(here.parts) > MAX_LINES:
            return False
        if line.speaker and not (listed and line.speaker == here.speaker):
            return False
        if not continues(here.tail, body, here.wrapped, width == here.width):
            return False
        self._reopen(here)
        here.wrapped = here.wrapped or not listed
        here.width = width
        here.parts.append(_glue(here.parts[-1] if here.parts else here.text, body))
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
        """The open record is complete. `end`: the file ends with it; `torn`: its last line has no line end."""
        here, self._open = self._open, None
        if here is None or (here.added and not end):
            return
        self._reopen(here)
        record = pieces.record(here.whole)
        if record is None:
            if (end and torn) or here.cut:
                self._faults.add(
                    "truncated", here.line, f"the record of step {here.step} ends before its first metric"
                )
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
        """Why the record lost its end, or empty: "wandb", "blank" (cut behind a whole piece), "torn", "short"."""
        if here.cut:
            return "blank" if here.width < WANDB_CUT and not record.dangling else "wandb"
        if end and torn:
            return "torn"
        if record.dangling or (end and (_fewer_decimals(record) or self._shorter(record))):
            return "short"
        return ""

    def _shorter(self, record: Record) -> bool:
        """Whether a record before has the same names and goes on behind them."""
        names = tuple(record.raws)
        return any(len(names) < len(known) and known[: len(names)] == names for known in self._known)

    def fragment(self, number: int, body: str) -> bool:
        """Report metrics without a step: the tail of a record whose start lies outside the file."""
        texts = body.strip().split(SEPARATOR)
        found = [text for text in texts if pieces.metric(text)]
        if len(found) < _FRAGMENT_PIECES or len(found) < len(texts) - 2:
            return False
        first, last = (text.rpartition(":")[0] for text in (found[0], found[-1]))
        self._faults.add(
            "fragment",
            number,
            f"{len(found)} metrics, from {short(first)} to {short(last)}, belong to a step that the log does not name",
        )
        return True


def _may_be_cut(width: int) -> bool:
    return WANDB_CUT - 1 <= width <= WANDB_CUT


def step_at(body: str) -> int | None:
    """Where a step line starts in `body`: at its start, behind a progress bar or behind a log's own mark."""
    at = body.find("step:")
    while at >= 0:
        if pieces.STEP.match(body, at) and (not body[:at].strip() or _may_precede(body, at)):
            return at
        at = body.find("step:", at + 5)
    return None


def _may_precede(body: str, at: int) -> bool:
    """Whether the text before a step line is a bar or a mark; other text needs a record that is beyond doubt."""
    before = body[:at]
    if _BAR_END.search(before):
        return pieces.record(body[at:]) is not None
    if len(before) > 400 or not _LOG_MARK.search(before):
        return False
    found = pieces.record(body[at:])
    if found is None or found.unread or found.prose:
        return False
    return any(name.partition("/")[0] in pieces.GROUPS for name in found.raws)


def continues(tail: str, body: str, wrapped: bool, same_width: bool) -> bool:
    """Whether `body`, the next physical line, goes on with a record whose last piece is `tail` so far.

    `wrapped`: the record was already seen to be wrapped; `same_width`: the line before was as long as this.
    """
    if pieces.STEP.match(body) or len(body) > MAX_RECORD:
        return False
    if body.startswith((SEPARATOR, "- ")):
        texts = body.partition("- ")[2].rstrip().split(SEPARATOR)
        return pieces.metric(texts[0]) or (len(texts) == 1 and wrapped and pieces.unfinished(texts[0]))
    head, separator, rest = body.partition(SEPARATOR)
    joined = pieces.piece(tail + head)
    if not separator:
        head = head.removesuffix(" -").rstrip()
        if _WORD.fullmatch(head) is None:
            return False
        if pieces.piece(tail + head) is not None:
            return wrapped or pieces.piece(tail) is None
        return same_width and pieces.unfinished(tail + head)
    *inner, last = rest.rstrip().split(SEPARATOR)
    sure = bool(inner) or joined is not None
    return (
        len(head) <= 240
        and all(map(pieces.metric, inner))
        and (pieces.metric(last) or (sure and pieces.unfinished(last.removesuffix(" -"))))
    )


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


def _glue(before: str, body: str) -> str:
    """`body` with the blank that a terminal swallowed at the wrap, where it swallowed one."""
    if before.endswith(" -") and not body.startswith(" "):
        return " " + body
    if body.startswith("- ") and not before.endswith(" "):
        return " " + body
    return body


def _fewer_decimals(record: Record) -> bool:
    """Whether all values have three decimals, as old verl prints them, but the last has fewer."""
    *before, last = record.raws.values() if record.raws else [""]
    fixed = len(before) >= 5 and all(
        _DECIMALS.fullmatch(raw) or raw in ("nan", "inf", "-inf") for raw in before
    )
    return fixed and math.isfinite(pieces.number(last) or 0.0) and not _DECIMALS.fullmatch(last)
