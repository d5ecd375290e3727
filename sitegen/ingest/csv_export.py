"""CSV exports: a table with a column of steps, W&B's export of a chart, MLflow's long form.

An export is what somebody chose to save. W&B's UI thins out a chart: where the least and greatest value of a
bin differ, the value between them is one of many, and that is told.
"""

from __future__ import annotations

import hashlib
import io
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from sitegen.errors import Problem
from sitegen.ingest import csv_table, samples
from sitegen.ingest.csv_table import Header
from sitegen.ingest.jsonfaults import Faults
from sitegen.ingest.mlflow_names import restored
from sitegen.ingest.mlflow_run import LARGEST
from sitegen.ingest.source import MAX_LINE, Part, Source, SourceRefused
from sitegen.model import Batch

NAME = "csv"
_LOOKED_AT = 20  # lines that decide whether the file is a table of metrics
_MANY = 2000  # runs of one file


def sniff(path: str, head: bytes) -> bool:
    """Whether the head has a header with a step, and lines below it whose step is a number."""
    if head[:1] in b"{[" or b"\n" not in head:
        return False
    first, *lines = head.decode("utf-8", "replace").splitlines()[: _LOOKED_AT + 1]
    found = csv_table.header(first)
    if found is None:
        return False
    rows = [row for row in csv_table.cells(iter(lines), found.delimiter) if row]
    steps = [csv_table.step(row[found.step]) for row in rows if len(row) == found.width]
    return bool(steps) and steps.count(None) * 2 < len(steps)


def parts(source: Source) -> tuple[Part, ...]:
    """Runs of a file that has several, in the order in which they come."""
    try:
        with source.open() as stream:
            table = _Table(source, stream)
            if table.header is None:
                return ()
            place = table.header.run
            names = table.header.runs
            if place is not None:
                names = tuple(dict.fromkeys(cells[place] for _, cells in table.rows() if cells[place]))
    except (SourceRefused, OSError):
        return ()
    file = source.whole.rpartition("/")[2].partition(".")[0]
    named = tuple(Part(name, f"{file}/{name.replace('/', '_')}") for name in names[:_MANY])
    return named if len(named) > 1 else ()


def digest(source: Source) -> str:
    """Hash of the lines of one run, or of its columns."""
    found = hashlib.sha256()
    with source.open() as stream:
        for record in _Table(source, stream).samples():
            found.update(repr(record).encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def read(source: Source) -> Iterator[Batch]:
    """Records by line; a long form by time, else by step."""
    with source.open() as stream:
        table = _Table(source, stream)
        if table.header is None:
            return
        yield Batch(facts=table.facts())
        found = table.samples()
        yield from samples.batches(
            _sorted(found) if table.header.long else samples.records(found), table.faults
        )
    if problems := table.problems():
        yield Batch(problems=problems)


@dataclass
class _Table:
    """An open file and what is wrong with it."""

    source: Source
    stream: BinaryIO
    header: Header | None = None
    torn: int = 0
    binned: int = 0
    faults: Faults = field(init=False)

    def __post_init__(self) -> None:
        self.faults = Faults(self.source.path)
        self._lines = self._read_lines()
        self.header = csv_table.header(next(self._lines, ""))

    def facts(self) -> dict[str, str]:
        """The name of the run, where the file tells it."""
        names = self.header.runs if self.header else ()
        name = self.source.part or (names[0] if len(names) == 1 else "")
        return {"title": name, "experiment": name, "run_id": name} if name else {}

    def problems(self) -> tuple[Problem, ...]:
        """What could not be read, and what the export lost."""
        found = list(self.faults.problems())
        if self.torn:
            what = "the last line is torn: the cells before the tear were kept"
            found.append(
                Problem(self.source.path, self.torn, "truncated", what, "Export the file again if you can.")
            )
        if self.header and self.header.extremes:
            what = "the columns __MIN and __MAX of W&B's export are no metrics and were not read"
            if self.binned:
                what += f"; in {self.binned} places they differ: the value there stands for several steps"
            hint = "W&B thins out what its UI exports; the .wandb file of the run has every step."
            found.append(Problem(self.source.path, 1, "thinned", what, hint))
        return tuple(found)

    def _read_lines(self) -> Iterator[str]:
        text = io.TextIOWrapper(self.stream, encoding="utf-8", errors="replace", newline="")
        while line := text.readline(MAX_LINE):
            yield line

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """(line, cells) of every line that has as many cells as the header, and of a torn last one."""
        assert self.header is not None
        width, last = self.header.width, ""
        ended = True

        def lines() -> Iterator[str]:
            nonlocal ended
            for line in self._lines:
                ended = line.endswith("\n")
                yield line

        for number, cells in enumerate(csv_table.cells(lines(), self.header.delimiter), 2):
            if cells is not None and len(cells) == width:
                yield number, cells
            elif cells is None or (cells and ended):
                self.faults.bad(number, f"{len(cells or [])} cells, the header has {width}")
            elif cells:
                self.torn = number
                yield number, [*cells[:-1], *[last] * (width - len(cells) + 1)]

    def samples(self) -> Iterator[samples.Sample]:
        """Values of the run that is asked for."""
        header = self.header
        if header is None:
            return
        part = self.source.part
        columns = [each for each in header.columns if not part or header.run is not None or each.run == part]
        for line, cells in self.rows():
            if header.run is not None and part and cells[header.run] != part:
                continue
            step = csv_table.step(cells[header.step])
            if step is None:
                if any(cells):
                    self.faults.bad(line, f"its step is {cells[header.step][:80]!r}")
                continue
            time = csv_table.seconds(cells[header.time]) if header.time is not None else samples.NO_TIME
            if header.key is not None and header.value is not None:
                value = csv_table.number(cells[header.value])
                if value is not None:
                    yield time, step, restored(cells[header.key]), _unbounded(value)
                continue
            for column in columns:
                if (value := csv_table.number(cells[column.place])) is not None:
                    yield time, step, column.name, value
            self.binned += sum(cells[low] != cells[high] for low, high in header.extremes)


def _unbounded(value: float | str) -> float | str:
    """MLflow's largest number stands for infinity."""
    if isinstance(value, float) and abs(value) == LARGEST:
        return float("inf") if value > 0 else float("-inf")
    return value


def _sorted(found: Iterator[samples.Sample]) -> Iterator[samples.Record]:
    """Records of values that come metric by metric: by time, where there is none by step. Sorted on disk."""
    with (
        tempfile.TemporaryDirectory(prefix="sitegen-") as folder,
        closing(sqlite3.connect(Path(folder) / "values.db")) as connection,
    ):
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA cache_size = -16384")
        connection.execute("CREATE TABLE v (time, step, name, value)")
        connection.executemany("INSERT INTO v VALUES (?, ?, ?, ?)", map(_storable, found))
        rows = connection.execute("SELECT time, step, name, value FROM v ORDER BY time, step, rowid")
        yield from samples.records(
            (samples.NO_TIME if time is None else time, step, name, value) for time, step, name, value in rows
        )


def _storable(sample: samples.Sample) -> tuple[object, ...]:
    """NaN is NULL in SQLite; as a text it comes back as what it is."""
    time, step, name, value = sample
    odd = isinstance(value, float) and value != value
    return (None if time != time else time, step, name, "nan" if odd else value)
