"""TensorBoard event files: TFRecords of `Event` messages, one value or many in each.

Values of one step that follow one another are one record, up to a tag that comes again. Most writers store
float32; a number is handed out as the double that is equal to it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from struct import unpack_from

from sitegen.ingest import tbtext, tfrecord
from sitegen.ingest.damage import Damage
from sitegen.ingest.jsonfaults import Faults
from sitegen.ingest.jsonl import LAST_STEP
from sitegen.ingest.jsonrows import Found, Records
from sitegen.ingest.source import Source
from sitegen.ingest.tbnotes import Notes
from sitegen.ingest.tbvalues import FLOAT32, Value, event, values
from sitegen.ingest.wire import Malformed, varint
from sitegen.model import Batch

NAME = "tensorboard"
MAX_TAGS = 20_000  # values of one record; more are no metrics but data
_WALL, _STEP, _SUMMARY = 0x09, 0x10, 0x2A  # first byte of a field of an event

_VERSION, _FIRST = b"brain.Event:", 64  # how event files begin, and within how many bytes


def sniff(path: str, head: bytes) -> bool:
    """Whether the file begins with the version that every event file begins with, or is called like one."""
    return _VERSION in head[:_FIRST] or ".tfevents." in path.rpartition("/")[2]


def holds(source: Source) -> bool:
    """A file that is only called like one must hold a record somewhere."""
    if _VERSION in source.head(_FIRST):
        return True
    with source.open() as stream:
        return any(len(found.starts) for found in tfrecord.frames(stream, Damage()))


def read(source: Source) -> Iterator[Batch]:
    """Step records in file order, then configuration, facts and what could not be read."""
    faults = Faults(source.path, "record")
    damage, notes = Damage(), Notes(source.path)
    steps = _Steps(notes)
    records = Records(faults)
    with source.open() as stream:
        for frames in tfrecord.frames(stream, damage):
            found = steps.records(frames)
            while records.extend(found):
                yield Batch(rows=records.rows())
                records = Records(faults)
            records.spend(len(frames.data))
            if notes.samples:
                yield Batch(samples=notes.take_samples())
    records.extend(steps.rest())
    if records.steps:
        yield Batch(rows=records.rows())
    facts = {"precision": "float32"} if steps.singles and not steps.doubles else {}
    yield Batch(
        config=notes.config,
        facts=facts,
        problems=(*notes.problems(damage, steps.singles + steps.doubles), *faults.problems()),
    )


@dataclass(frozen=True, slots=True)
class _Layout:
    """Events that say the same but for time, step and number."""

    size: int
    head: bytes  # from the summary up to the number
    tail: bytes
    place: int
    form: str
    tag: str


@dataclass
class _Steps:
    """Events -> records. A step that is not over waits for the next stretch."""

    notes: Notes
    count: int = 0  # events seen
    singles: int = 0
    doubles: int = 0
    _layouts: dict[bytes, _Layout] = field(default_factory=dict)
    _step: int = 0
    _line: int = 0
    _time: float = math.nan
    _values: dict[str, object] = field(default_factory=dict)

    def records(self, frames: tfrecord.Frames) -> Iterator[Found]:
        """Records that end in this stretch."""
        data = frames.data
        for start, end in zip(frames.starts.tolist(), frames.ends.tolist(), strict=True):
            self.count += 1
            try:
                yield from self._event(data[start:end])
            except Malformed as error:
                self.notes.malformed(frames.offset + start - tfrecord.HEADER, str(error))

    def rest(self) -> Iterator[Found]:
        """The last record."""
        if self._values:
            yield self._line, self._step, self._time, self._values, False
            self._values = {}

    def _event(self, data: bytes) -> Iterator[Found]:
        known = self._known(data)
        if known is not None:
            step, layout, number = known
            if step != self._step or layout.tag in self._values or not self._values:
                yield from self._turn(step, unpack_from("<d", data, 1)[0])
            self._values[layout.tag] = number
            return
        yield from self._unknown(data)

    def _known(self, data: bytes) -> tuple[int, _Layout, float] | None:
        """Step, layout and number of an event like one that was seen before."""
        if len(data) < 18 or data[0] != _WALL:
            return None
        step, at = 0, 9
        if data[9] == _STEP:
            step, at = varint(data, 10, len(data))
        body = data[at:]
        layout = self._layouts.get(_key(body))
        if layout is None or len(body) != layout.size or step > LAST_STEP:
            return None
        if not (body.startswith(layout.head) and body.endswith(layout.tail)):
            return None
        return step, layout, unpack_from(layout.form, body, layout.place)[0]

    def _unknown(self, data: bytes) -> Iterator[Found]:
        found = event(data)
        if found.other:
            self.notes.other(found.other, "", found.step)
        if found.summary is None:
            return
        scalars = []
        for value in values(data, *found.summary):
            if value.number is None or value.plugin == "hparams":
                tbtext.take(value, found.step, self.notes)
            else:
                scalars.append(value)
        if scalars and not -1 <= found.step <= LAST_STEP:
            self.notes.no_step(found.step)
            return
        for value in scalars:
            self.singles += value.form == FLOAT32
            self.doubles += value.form != FLOAT32
            if found.step != self._step or value.tag in self._values or not self._values:
                yield from self._turn(found.step, found.time)
            if len(self._values) < MAX_TAGS:
                self._values[value.tag] = value.number
        if len(scalars) == 1:
            self._learn(data, found.summary[1], scalars[0])

    def _turn(self, step: int, time: float) -> Iterator[Found]:
        """Hand out the record so far and begin another."""
        yield from self.rest()
        self._step, self._line, self._values = step, self.count, {}
        self._time = time if 0 < time < 1e11 else math.nan

    def _learn(self, data: bytes, end: int, value: Value) -> None:
        """Note how an event of one number looks, when nothing but its summary follows time and step."""
        if value.place < 0 or end != len(data) or data[0] != _WALL:
            return
        at = varint(data, 10, len(data))[1] if data[9] == _STEP else 9
        body = data[at:]
        if body[0] != _SUMMARY or len(self._layouts) >= MAX_TAGS:
            return
        place = value.place - at
        size = {"<f": 4, "<i": 4, "<I": 4, "<d": 8, "<q": 8, "<Q": 8}.get(value.form)
        if size:
            self._layouts[_key(body)] = _Layout(
                len(body), body[:place], body[place + size :], place, value.form, value.tag
            )


def _key(body: bytes) -> bytes:
    """What tells tags apart: the bytes up to the end of the tag, where the lengths before it are short."""
    return body[: 6 + body[5]] if len(body) > 5 else body
