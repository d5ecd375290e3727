"""verl's console output, as it lands in nohup and SLURM files, Ray worker logs and W&B's `output.log`.

Most of a log is either step lines, which a learnt layout reads in one go, or text that no reader needs, which
one search passes over. Everything else goes line by line through the parts: records, config, facts,
tracebacks, signs. Each keeps its own state per speaker, because the lines of many processes are mixed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sitegen.ingest import diagnosis, dialect, marks, signs, text
from sitegen.ingest.clock import Clock
from sitegen.ingest.diagnosis import Sign
from sitegen.ingest.endings import Ending
from sitegen.ingest.facts import Facts
from sitegen.ingest.faults import Faults
from sitegen.ingest.hydra import Configs
from sitegen.ingest.keep import Keeper, Seen
from sitegen.ingest.records import Records
from sitegen.ingest.source import blocks
from sitegen.ingest.text import Line
from sitegen.ingest.tracebacks import Folded, Tracebacks
from sitegen.ingest.validation import Validations
from sitegen.model import Batch

if TYPE_CHECKING:
    from sitegen.ingest.source import Source

NAME = "console"
MAX_LINE = 4 << 20  # bytes; a line of text that is longer is no line of a log
LOOK_BACK = 4  # lines before a traceback that may belong to it
_MAX_PREFIXES = 256


def sniff(path: str, head: bytes) -> bool:
    """Whether a file looks like the output of a run: step lines, Ray's marks, start-up messages, a crash."""
    words = signs.readable(head)
    return words is not None and signs.of_a_run(words)


def read(source: Source) -> Iterator[Batch]:
    """Batches of a console log: step records as they come; lines, config, facts and problems at the end."""
    reader = Reader(source.path)
    torn = False
    with source.open() as stream:
        for first, lines, whole in blocks(stream, 1 << 20):
            yield from reader.block(first, lines)
            torn = not whole
    yield reader.finish(torn)


def read_lines(lines: Iterable[tuple[int, str]], path: str, *, torn: bool = False) -> Iterator[Batch]:
    """Batches from (line number, text) pairs that a container unwrapped.

    `torn`: the text ends in the middle of its last line.
    """
    reader = Reader(path)
    for number, raw in lines:
        yield from reader.block(number, [raw.encode("utf-8", "replace")])
    yield reader.finish(torn)


class Reader:
    """One pass over the lines of one log."""

    def __init__(self, path: str) -> None:
        self._faults = Faults(path)
        self._records = Records(self._faults)
        self._configs = Configs()
        self._facts = Facts()
        self._tracebacks = Tracebacks()
        self._keeper = Keeper(path)
        self._ending = Ending()
        self._validations = Validations(self._records, self._faults)
        self._prefixes: set[bytes] = {b""}
        self._time = math.nan
        self._first_time = math.nan
        self._lines = 0
        self._previous: list[bytes] = []
        self._bar_total = 0
        self._others: set[str] = set()  # names in marked lines whose values are no numbers, told once
        self._repeated = False  # told once, too

    def block(self, first: int, lines: list[bytes]) -> Iterator[Batch]:
        """Read consecutive lines; yields a batch whenever enough records have gathered."""
        records, prefixes, waits = self._records, self._prefixes, self._validations.waits
        found = marks.search(lines)
        clock = Clock(lines, found.timed)
        for index in self._worth_reading(lines, found.marked):
            raw = lines[index]
            at = raw.find(marks.STEP)
            self._catch_up(clock, index)
            known = at >= 0 and raw[:at] in prefixes and not waits()
            if not (known and records.fast(first + index, raw, at, self._time)):
                if b"Traceback" in raw:
                    self._look_back([*self._previous, *lines[max(0, index - LOOK_BACK) : index]])
                self._slow(first + index, raw)
            if records.table.full:
                yield Batch(rows=records.rows())
        self._catch_up(clock, len(lines))
        self._previous = [*self._previous, *lines[-LOOK_BACK:]][-LOOK_BACK:]
        self._ending.block(first, lines)
        self._lines = first + len(lines) - 1

    def _worth_reading(self, lines: list[bytes], marked: list[int]) -> Iterator[int]:
        """Indexes of marked lines, and of those behind a line that expects more."""
        index = 0
        for mark in marked:
            while index < mark and self._expects():
                yield index
                index += 1
            if index <= mark:
                yield mark
                index = mark + 1
        while index < len(lines) and self._expects():
            yield index
            index += 1

    def _catch_up(self, clock: Clock, index: int) -> None:
        """Take the time of the newest time stamp before line `index`."""
        if math.isnan(self._first_time):
            self._first_time = clock.first(index)
        self._time = clock.newest(index, self._time)

    def _look_back(self, before: list[bytes]) -> None:
        raw = [line[:MAX_LINE].decode("utf-8", "replace") for line in before[-LOOK_BACK:]]
        self._tracebacks.look_back(tuple(line for words in raw for line in text.lines(0, words)))

    def finish(self, torn: bool) -> Batch:
        """The last batch."""
        self._records.close(end=True, torn=torn)
        self._validations.finish(self._time)
        for folded in self._tracebacks.finish():
            self._fold(folded)
        self._configs.finish()
        self._stepped()
        for line in self._ending.errors():
            self._keeper.add(Sign("traceback", "error"), self._seen(line.number, line.body))
        lines = self._keeper.finish(self._faults)
        rows = self._records.rows() if len(self._records.table) else None
        config = {**self._facts.overrides, **self._configs.found}
        return Batch(rows, lines, config, self._all_facts(), self._faults.problems())

    def _expects(self) -> bool:
        """Whether a line matters that would not by itself."""
        return (
            self._records.pending
            or self._tracebacks.pending
            or self._configs.pending
            or self._validations.pending
            or self._facts.pending
        )

    def _slow(self, number: int, raw: bytes) -> None:
        if len(raw) > MAX_LINE:
            message = f"the line has {len(raw)} bytes; only the first {MAX_LINE} were read"
            self._faults.add("too-long", number, message)
            raw = raw[:MAX_LINE]
        words = raw.decode("utf-8", "replace").rstrip("\r")
        inner = text.unquoted(words)
        for part in inner or [words]:
            for line in text.lines(number, part):
                self._line(line, len(line.body) if "\r" in part else len(part))
        before, step, _ = raw.partition(marks.STEP)
        room = len(before) < 200 and len(self._prefixes) < _MAX_PREFIXES
        if step and room and text.only_decoration(before.decode("utf-8", "replace")):
            self._prefixes.add(before)

    def _line(self, line: Line, width: int) -> None:
        if self._validations.goes_on(line, self._time) or self._records.goes_on(line, width):
            return
        self._note_time(line.body)
        if self._configs.take(line):
            return
        if self._records.begin(line, self._time, width):
            self._stepped()
            self._validations.settle(self._time)
            return
        self._records.close()
        self._validations.settle(self._time)
        self._other(line)

    def _other(self, line: Line) -> None:
        """A line that is no part of a record or a config."""
        self._stepped()
        self._progress(line)  # before all else: a bar is often glued to what comes next
        inside, folded = self._tracebacks.take(line)
        if folded is not None:
            self._fold(folded)
        if inside and not (folded and folded.line == line.number):
            return
        body = line.body
        if found := dialect.record(body):
            self._marked(line.number, found)
            return
        if self._records.fragment(line.number, body):
            return
        self._facts.take(line)
        self._validations.begin(line, self._time)
        if not inside:
            self._sign(line)

    def _marked(self, number: int, found: dialect.Marked | str) -> None:
        """A line marked `[METRIC]` or `[INFO]` that is a record, or should be one."""
        if isinstance(found, str):
            self._faults.add("malformed", number, f"the line is no step record: {found}")
            return
        time = self._time if math.isnan(found.time) else found.time
        self._records.put(number, found.step, time, found.values)
        self._stepped()
        others = [f"{name[:80]} ({kind})" for name, kind in found.others.items() if name not in self._others]
        if others:
            told = (
                f"values that are not numbers were left out, here and in later lines: {', '.join(others[:5])}"
            )
            rest = f" and {len(others) - 5} more names" if len(others) > 5 else ""
            self._faults.add("not-a-number", number, told + rest)
            self._others |= set(found.others)
        if found.repeated and not self._repeated:
            self._repeated = True
            told = "stands twice in one record; the last value was kept, here and in later lines"
            self._faults.add("repeat", number, f"{found.repeated[:80]} {told}")

    def _sign(self, line: Line) -> None:
        body = line.body
        if diagnosis.starts_attempt(body):
            self._keeper.restarted(line.number)
        sign = diagnosis.classify(body)
        if sign is None:
            return
        self._keeper.add(sign, self._seen(line.number, body.strip()))
        if sign.kind == "exit" and (code := diagnosis.exit_code(body)):
            self._facts.found["exit_code"] = code
        if sign.kind == "resumed" and (step := diagnosis.resumed_step(body)) is not None:
            self._validations.resumed = step
            self._facts.found["resumed_from"] = str(step)

    def _progress(self, line: Line) -> None:
        bar = diagnosis.bar(line.body) if "Training Progress" in line.body else None
        if bar is not None:
            self._bar_total = bar.total
        if (bar is not None and bar.complete) or ("Epoch " in line.body and diagnosis.last_epoch(line.body)):
            self._keeper.add(Sign("finished", "info"), self._seen(line.number, line.body.strip()))

    def _fold(self, folded: Folded) -> None:
        sign = diagnosis.classify(folded.exception) or Sign("traceback", "error")
        if sign.kind not in diagnosis.CAUSES:
            sign = Sign("traceback", "error")
        seen = Seen(
            folded.line, self._time, self._records.last_step, folded.text, 0, folded.handled, folded.ignored
        )
        self._keeper.add(sign, seen, folded.signature)
        self._ending.told = max(self._ending.told, folded.line)

    def _seen(self, number: int, body: str) -> Seen:
        return Seen(number, self._time, self._records.last_step, body, 0)

    def _stepped(self) -> None:
        if self._records.last_line:
            self._keeper.stepped(self._records.last_line)

    def _note_time(self, body: str) -> None:
        time = text.seconds(body)
        if not math.isnan(time):
            self._time = time
            if math.isnan(self._first_time):
                self._first_time = time

    def _all_facts(self) -> dict[str, str]:
        facts = dict(self._facts.found)
        if self._bar_total and "planned_steps" not in facts:
            facts["planned_steps"] = str(self._bar_total)
        facts["lines"] = str(self._lines)
        facts["attempts"] = str(self._keeper.attempt + 1)
        if self._records.last_line:
            facts["last_step_line"] = str(self._records.last_line)
        for key, time in (("first_time", self._first_time), ("last_time", self._time)):
            if not math.isnan(time):
                facts[key] = repr(time)
        return facts
