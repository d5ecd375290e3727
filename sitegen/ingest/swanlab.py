"""SwanLab's log, `run-<id>.swanlab`: values one by one in LevelDB's framing, the configuration beside it.

SwanLab keeps the first value of a name and step and drops what is logged to that step again: of a resume that
went back only the steps that are new are here. Everything else is exact, NaN and infinities included.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import yaml

from sitegen.errors import Problem
from sitegen.ingest import console, jsonl, leveldb_log, samples, settings, sqlite, swanlab_v1
from sitegen.ingest.damage import Damage
from sitegen.ingest.facts import gpu_name
from sitegen.ingest.jsonfaults import Faults
from sitegen.ingest.source import MAX_LINE, Source
from sitegen.ingest.wire import BYTES, FIXED64, VARINT, Malformed, double, fields, signed, text
from sitegen.model import Batch, Sample

NAME = "swanlab"
MAGIC = b":SWL"
HEADER = MAGIC + b"\xd6\xe1\x02"
_TIME, _START, _FINISH, _COLUMN, _SCALAR, _MEDIA, _LOG = 2, 10, 11, 12, 13, 14, 16
_STATES = {1: "FINISHED", 2: "CRASHED", 3: "ABORTED"}
_SYSTEM = "__swanlab__"  # readings of the machine: their step is a count of readings
_FILE_BYTES = 4 << 20
_SHOWN = 5


def sniff(path: str, head: bytes) -> bool:
    """Whether the file begins as SwanLab's log does, or is called like one and no database."""
    return head.startswith(MAGIC) or (path.endswith(".swanlab") and not head.startswith(sqlite.MAGIC))


def holds(source: Source) -> bool:
    """A file that is only called like one must hold a record somewhere."""
    if MAGIC.startswith(source.head(len(MAGIC))):  # torn within it, too
        return True
    with source.open() as stream:
        return leveldb_log.has_record(stream)


def beside(path: str) -> tuple[str, ...]:
    """Configuration, metadata, SwanLab's own diagnosis, and what its local board has again.

    Media are looked at for themselves.
    """
    folder = path.rpartition("/")[0]
    within = f"{folder}/" if folder else ""
    return tuple(f"{within}{name}/" for name in ("files", "debug", "logs", "console"))


def read(source: Source) -> Iterator[Batch]:
    """Configuration and facts, values in the order in which they were logged, lines that were printed."""
    reader = _Reader(source)
    yield reader.beside()
    yield from reader.batches()
    if reader.printed:
        yield from _console(source)


@dataclass
class _Reader:
    """One pass over a log."""

    source: Source
    damage: Damage = field(default_factory=Damage)
    facts: dict[str, str] = field(default_factory=dict)
    system: set[str] = field(default_factory=set)
    readings: int = 0
    media: int = 0
    printed: bool = False
    values: bool = False
    bad: list[tuple[int, str]] = field(default_factory=list)
    texts: list[Sample] = field(default_factory=list)  # samples of validations
    problems: list[Problem] = field(default_factory=list)

    def beside(self) -> Batch:
        """What lies in `files/`."""
        config: dict[str, str] = {}
        facts: dict[str, str] = {}
        if raw := self._file("config.yaml"):
            try:
                config = settings.of_yaml(raw)
            except (ValueError, yaml.YAMLError, RecursionError) as error:
                self._malformed("config.yaml", str(error).splitlines()[0][:200])
        if raw := self._file("swanlab-metadata.json"):
            try:
                facts = _metadata(jsonl.loads(raw))
            except ValueError as error:
                self._malformed("swanlab-metadata.json", str(error)[:200])
        return Batch(config=config, facts=facts)

    def _file(self, name: str) -> bytes:
        path = f"{beside(self.source.path)[0]}{name}"
        found = self.source.member(path)
        if found is None:
            return b""
        raw = found.head(_FILE_BYTES + 1)
        if len(raw) > _FILE_BYTES:
            what = f"larger than {_FILE_BYTES >> 20} MiB and was not read"
            self.problems.append(Problem(path, None, "too-large", what))
            return b""
        return raw

    def _malformed(self, name: str, why: str) -> None:
        path = f"{beside(self.source.path)[0]}{name}"
        self.problems.append(Problem(path, None, "malformed", f"cannot be read: {why}"))

    def batches(self) -> Iterator[Batch]:
        """Rows, facts, and what could not be read."""
        header = self.source.head(leveldb_log.FILE_HEADER)
        old = _version(header) == swanlab_v1.VERSION
        if header != HEADER and not old:
            self.problems.append(_header(self.source.path, header))
        faults = Faults(self.source.path)
        with self.source.open() as stream:
            framed = leveldb_log.records(stream, self.damage)
            found = swanlab_v1.values(framed, self) if old else self._samples(framed)
            for batch in samples.batches(samples.records(found), faults):
                self.values = True
                yield batch
        told = (*self.problems, *self.damage.problems(self.source.path), *self._told(), *faults.problems())
        self.note("title", self.facts.get("experiment", ""))
        yield Batch(facts=self.facts, problems=told, samples=tuple(self.texts))

    def _samples(self, framed: Iterator[tuple[int, bytes]]) -> Iterator[samples.Sample]:
        for offset, data in framed:
            try:
                for kind, wire, a, b in fields(data):
                    if wire == BYTES and kind == _SCALAR:
                        if (sample := _scalar(data, a, b)) and self.counts(sample[2]):
                            yield sample
                    elif wire == BYTES:
                        self._other(kind, data, a, b)
            except Malformed as error:
                self.bad.append((offset, str(error)))

    def counts(self, name: str) -> bool:
        """Whether a name is a metric of training."""
        reading = name.startswith(_SYSTEM) or name in self.system
        self.readings += reading
        return not reading

    def _other(self, kind: int, data: bytes, a: int, b: int) -> None:
        if kind == _START:
            self._started(data, a, b)
        elif kind == _FINISH:
            self._finished(data, a, b)
        elif kind == _COLUMN:
            key, is_system = _column(data, a, b)
            if is_system:
                self.system.add(key)
        elif kind == _MEDIA:
            self.media += 1
        elif kind == _LOG:
            self.printed = True

    def _started(self, data: bytes, start: int, end: int) -> None:
        names = {1: "project", 4: "experiment", 10: "run_id", 7: "group"}
        for number, wire, a, b in fields(data, start, end):
            if wire == BYTES and number in names:
                self.note(names[number], text(data, a, b))
            elif wire == BYTES and number == 12:
                self.note("first_time", _stamp(data, a, b))

    def _finished(self, data: bytes, start: int, end: int) -> None:
        for number, wire, a, b in fields(data, start, end):
            if number == 1 and wire == VARINT:
                self.note("tracker_status", _STATES.get(a, ""))
            elif number == 2 and wire == BYTES:
                self.note("tracker_error", text(data, a, b)[:2000])
            elif number == 3 and wire == BYTES:
                self.note("last_time", _stamp(data, a, b))

    def note(self, key: str, value: str) -> None:
        """Keep a fact that is not known yet."""
        if value:
            self.facts.setdefault(key, value)

    def _told(self) -> Iterator[Problem]:
        path = self.source.path
        if not (self.values or self.bad or self.problems or self.damage.problems(path)):
            yield Problem(path, None, "empty", "the run has no values")
        if self.bad:
            where = "; ".join(f"byte {offset}: {why}" for offset, why in self.bad[:_SHOWN])
            what = f"{len(self.bad)} records make no sense ({where}{'; …' if len(self.bad) > _SHOWN else ''})"
            yield Problem(path, None, "malformed", what)
        if self.readings:
            what = f"{self.readings} readings of the machine belong to no step and were left out"
            yield Problem(path, None, "left-out", what)
        if self.media and not (self.source.file.parent / "media").is_dir():
            what = (
                f"{self.media} tables, texts or pictures were logged; they lie in `media/`, which is not here"
            )
            yield Problem(path, None, "unsupported", what)


def _version(header: bytes) -> int | None:
    """Version of the log that begins with `header`, None for what is no such log."""
    return header[6] if len(header) == len(HEADER) and header[:6] == HEADER[:6] else None


def _header(path: str, found: bytes) -> Problem:
    if _version(found) is None:
        return Problem(path, None, "damaged", "the first bytes are not those of a SwanLab log")
    what = f"written in version {found[6]} of SwanLab's log; versions 1 and {HEADER[6]} are read"
    return Problem(path, None, "wrong-version", what, "Bring it up to date with `swanlab sync`.")


def _scalar(data: bytes, start: int, end: int) -> samples.Sample | None:
    """Time, step, name and value of a ScalarRecord; an absent number is 0, as protobuf has it."""
    name, step, time, value = "", 0, math.nan, 0.0
    for number, wire, a, b in fields(data, start, end):
        if number == 1 and wire == BYTES:
            name = text(data, a, b)
        elif number == 2 and wire == VARINT:
            step = signed(a)
        elif number == 4 and wire == BYTES:
            time = _time(data, a, b)
        elif number == 5 and wire == BYTES:
            value = next(
                (double(data, c) for n, w, c, _ in fields(data, a, b) if (n, w) == (1, FIXED64)), 0.0
            )
    return (time, step, name, value) if name else None


def _column(data: bytes, start: int, end: int) -> tuple[str, bool]:
    """Name of a column, and whether it holds readings of the machine."""
    key, is_system = "", False
    for number, wire, a, b in fields(data, start, end):
        if number == 3 and wire == BYTES:
            key = text(data, a, b)
        elif number == 1 and wire == VARINT:
            is_system = a == 2
    return key, is_system


def _time(data: bytes, start: int, end: int) -> float:
    """Unix seconds of a Timestamp."""
    whole, nanos = 0, 0
    for number, wire, a, _ in fields(data, start, end):
        if wire == VARINT and number == 1:
            whole = signed(a)
        elif wire == VARINT and number == 2:
            nanos = signed(a)
    return whole + nanos / 1e9 if 0 < whole < 1 << 36 else math.nan


def _stamp(data: bytes, start: int, end: int) -> str:
    time = _time(data, start, end)
    return repr(time) if math.isfinite(time) else ""


def _metadata(whole: object) -> dict[str, str]:
    """Code and machine. Host and user are of no use here. Raises ValueError."""
    if not isinstance(whole, dict):
        raise ValueError("it is not a JSON object")
    git, runtime, hardware = (_table(whole.get(key)) for key in ("git", "runtime", "hardware"))
    vendors = map(_table, _list(hardware.get("accelerators")))
    devices = [_table(device) for vendor in vendors for device in _list(vendor.get("devices"))]
    found = {
        "commit": git.get("commit"),
        "remote": git.get("remote_url"),
        "branch": git.get("branch"),
        "python": runtime.get("python_version"),
        "command": runtime.get("command"),
        "gpu": gpu_name(str(devices[0].get("name") or "")) if devices else "",
        "gpus": str(len(devices)) if devices else "",
    }
    return {key: str(value) for key, value in found.items() if value}


def _table(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _console(source: Source) -> Iterator[Batch]:
    """What a console log would give beside step records, which the log holds with every digit."""
    with source.open() as stream:
        framed = leveldb_log.records(stream, Damage())
        old = _version(source.head(leveldb_log.FILE_HEADER)) == swanlab_v1.VERSION
        lines = swanlab_v1.lines(framed) if old else _lines(framed)
        for batch in console.read_lines(lines, source.path):
            yield replace(batch, rows=None, problems=())


def _lines(framed: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, str]]:
    """(record, text) of the lines printed."""
    for number, (_, data) in enumerate(framed, 1):
        try:
            for kind, wire, a, b in fields(data):
                if kind == _LOG and wire == BYTES:
                    for n, w, c, d in fields(data, a, b):
                        if (n, w) == (1, BYTES):
                            yield from (
                                (number, line) for line in text(data, c, min(d, c + MAX_LINE)).split("\n")
                            )
        except Malformed:
            continue
