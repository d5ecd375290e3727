"""W&B's transaction log, `run-<id>.wandb`: what a run sent or would have sent, offline and synced runs alike.

History is read with every digit and under the names it was logged with. Lines of the console are taken from
here only where no `files/output.log` lies beside: that one is read as a console log.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from glob import escape
from pathlib import Path

from sitegen.ingest import console, leveldb_log
from sitegen.ingest.damage import Damage
from sitegen.ingest.jsonfaults import Faults
from sitegen.ingest.jsonrows import Found, Records
from sitegen.ingest.source import MAX_LINE, Source
from sitegen.ingest.wandb_about import About
from sitegen.ingest.wandb_history import History
from sitegen.ingest.wandb_notes import Notes
from sitegen.ingest.wire import BYTES, Malformed, fields
from sitegen.model import Batch

NAME = "wandb"
MAGIC = b":W&B"
HEADER = MAGIC + b"\xe1\xbe\x00"
_HISTORY, _CONFIG, _STATS, _OUTPUTS = 2, 5, 7, (4, 13)
_RUN, _EXIT, _VERSION, _ENVIRONMENT = 17, 18, 21, 26
_LINE = 3  # field of an output record


def sniff(path: str, head: bytes) -> bool:
    """Whether the file begins as W&B's log does, or is called like one."""
    return head.startswith(MAGIC) or path.endswith(".wandb")


def holds(source: Source) -> bool:
    """A file that is only called like one must hold a record somewhere."""
    if MAGIC.startswith(source.head(len(MAGIC))):  # torn within it, too
        return True
    with source.open() as stream:
        return leveldb_log.has_record(stream)


def read(source: Source) -> Iterator[Batch]:
    """Step records in file order with configuration and facts, and last what could not be read."""
    reader = _Reader(source)
    yield from reader.batches()
    if reader.printed and not _output_log(source.file.parent):
        yield from _console(source)


def _output_log(folder: Path) -> bool:
    """Whether W&B's copy of the console's output lies below `folder`, packed or not."""
    return any(any(place.glob("output.log*")) for place in (folder / "files", folder))


def table_beside(folder: Path, name: str) -> bool:
    """Whether a table that was logged under `name` lies below `folder`."""
    if ".." in name.split("/"):
        return False
    return any(folder.glob(f"files/media/table/{escape(name.lstrip('/'))}_*.table.json"))


class _Reader:
    """One pass over a log."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._faults = Faults(source.path, "record")
        self._damage = Damage()
        self._notes = Notes(source.path, lambda name: table_beside(source.file.parent, name))
        self._history = History(self._notes)
        self._about = About(source.path)
        self._block = Records(self._faults)
        self.printed = False  # whether the log holds lines of the console

    def batches(self) -> Iterator[Batch]:
        self._notes.header(self._source.head(leveldb_log.FILE_HEADER), HEADER)
        with self._source.open() as stream:
            found = self._found(leveldb_log.records(stream, self._damage))
            while self._block.extend(found):
                yield self._batch()
        damage = self._damage.problems(self._source.path)
        problems = (*self._notes.problems(damaged=bool(damage)), *damage)
        yield replace(self._batch(), problems=(*problems, *self._faults.problems()))

    def _batch(self) -> Batch:
        """What was read since the last one."""
        block, self._block = self._block, Records(self._faults)
        rows = block.rows() if block.steps else None
        config, facts, lines = self._about.take()
        return Batch(rows=rows, config=config, facts=facts, log_lines=lines)

    def _found(self, framed: Iterator[tuple[int, bytes]]) -> Iterator[Found]:
        """Step records; everything else goes where it belongs on the way."""
        for number, (offset, data) in enumerate(framed, 1):
            self._notes.records = number
            try:
                for kind, wire, a, b in fields(data):
                    if wire != BYTES:
                        continue
                    if kind == _HISTORY:
                        if record := self._history.record(data, a, b):
                            self._about.step = record[0]
                            yield number, *record, False
                    else:
                        self._other(kind, data, a, b, number)
            except Malformed as error:
                self._notes.malformed(offset, str(error))
            self._block.spend(len(data))

    def _other(self, kind: int, data: bytes, a: int, b: int, number: int) -> None:
        if kind == _RUN:
            self._about.run(data, a, b)
        elif kind == _CONFIG:
            self._about.configure(data, a, b)
        elif kind == _ENVIRONMENT:
            self._about.environment(data, a, b)
        elif kind == _EXIT:
            self._about.exit(data, a, b, number)
        elif kind == _VERSION:
            self._about.version(data, a, b)
        elif kind == _STATS:
            self._notes.stats += 1
        elif kind in _OUTPUTS:
            self.printed = True
            self._notes.output(data[a:b])


def _console(source: Source) -> Iterator[Batch]:
    """What the console log would give beside step records, which history holds with every digit."""
    with source.open() as stream:
        lines = _lines(leveldb_log.records(stream, Damage()))
        for batch in console.read_lines(lines, source.path):
            yield replace(batch, rows=None, problems=())


def _lines(framed: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, str]]:
    """(record, text) of the lines printed; a line may come in several records."""
    rest, first = b"", 0
    for number, (_, data) in enumerate(framed, 1):
        for printed in _printed(data):
            first = first if rest else number
            *whole, rest = (rest + printed).split(b"\n")
            yield from ((first, line.decode("utf-8", "replace")) for line in whole)
            rest = rest if len(rest) <= MAX_LINE else b""
    if rest:
        yield first, rest.decode("utf-8", "replace")


def _printed(data: bytes) -> Iterator[bytes]:
    try:
        for kind, wire, a, b in fields(data):
            if kind in _OUTPUTS and wire == BYTES:
                yield from (data[c:d] for n, w, c, d in fields(data, a, b) if n == _LINE and w == BYTES)
    except Malformed:
        return
