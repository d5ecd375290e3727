"""Trackio's database (`<project>.db`): a record of metrics per row as JSON, each run a source of its own.

NaN and infinities are texts in the JSON. Nothing is lost, repeated steps included. What verl sends of its
validations, and of rollouts that it traces, is in the table `traces`, which files below `traces/` repeat.
"""

from __future__ import annotations

import hashlib
import math
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain

from sitegen.errors import Problem
from sitegen.ingest import generations, jsonl, samples, settings, sqlite, trackio_rollouts
from sitegen.ingest.conversation import SOURCE, said
from sitegen.ingest.jsonfaults import Faults
from sitegen.ingest.source import Part, Source, SourceRefused
from sitegen.model import Batch, Sample, TraceSpan

NAME = "trackio"
_NEEDED = {"run_name", "step", "metrics"}
_BATCH = 4 << 20  # characters of a batch of samples, about
_FACTS = {"_Username": "user", "_Group": "group"}


def sniff(path: str, head: bytes) -> bool:
    """Whether the file is an SQLite database."""
    return head.startswith(sqlite.MAGIC)


def beside(path: str) -> tuple[str, ...]:
    """What SQLite keeps beside the database, the lock that Trackio's processes share, copies of traces."""
    stem = path.removesuffix(".db")
    folder, slash, name = stem.rpartition("/")
    return (*sqlite.beside(path), f"{stem}.lock", f"{folder}{slash}traces/{name}/")


def holds(source: Source) -> bool:
    """Whether the database has Trackio's table of metrics."""
    try:
        with sqlite.opened(source) as connection:
            return sqlite.columns(connection, "metrics") >= _NEEDED
    except sqlite3.Error:
        return False


def parts(source: Source) -> tuple[Part, ...]:
    """Runs in the order in which they began to log."""
    try:
        with sqlite.opened(source) as connection:
            key = _key(connection)
            found: dict[str, str] = {}  # a worker that only traces is a run of its own there
            for table in ("metrics", *(["traces"] if key in sqlite.columns(connection, "traces") else [])):
                asked = f"SELECT {key}, run_name FROM {table} GROUP BY 1 ORDER BY min(rowid)"  # noqa: S608 - ours
                for run, name in connection.execute(asked):
                    found.setdefault(str(run), str(name))
            project = _project(source)
            return tuple(Part(run, f"{project}/{name.replace('/', '_')}") for run, name in found.items())
    except (sqlite3.Error, SourceRefused, OSError):
        return ()


def _key(connection: sqlite3.Connection) -> str:
    """Column that tells runs apart: versions before 0.9 know a run by its name only."""
    return "run_id" if "run_id" in sqlite.columns(connection, "metrics") else "run_name"


def digest(source: Source) -> str:
    """Hash of all rows that belong to the run. Raises OSError."""
    found = hashlib.sha256()
    try:
        with sqlite.opened(source) as connection:
            run = _Run(connection, source)
            for row in chain([run.config()], run.rows(), run.traces()):
                found.update(repr(row).encode("utf-8", "surrogatepass"))
    except sqlite3.Error as error:
        found.update(repr((error, sqlite.state(source))).encode())
    return found.hexdigest()


def read(source: Source) -> Iterator[Batch]:
    """One run: its configuration, then its records in the order in which they were logged."""
    kept = False
    try:
        before = sqlite.state(source)
        with sqlite.opened(source) as connection:
            for batch in _Run(connection, source).batches():
                kept = kept or batch.rows is not None or bool(batch.samples or batch.spans)
                yield batch
        if sqlite.state(source) != before:
            yield Batch(problems=(sqlite.changing(source.path),))
    except sqlite3.Error as error:
        yield Batch(problems=(sqlite.damaged(source.path, error, kept),))


@dataclass
class _Run:
    """One run of an open database."""

    connection: sqlite3.Connection
    source: Source
    error: sqlite3.Error | None = None

    def config(self) -> dict[str, object]:
        """The configuration, empty where there is none."""
        if not {"config", "run_name"} <= sqlite.columns(self.connection, "configs"):
            return {}
        known = "run_id" in sqlite.columns(self.connection, "configs")
        key = "run_id" if known and _key(self.connection) == "run_id" else "run_name"
        row = self.connection.execute(
            f"SELECT config FROM configs WHERE {key} = ?",  # noqa: S608 - names are ours
            (self.source.part,),
        ).fetchone()
        try:
            found = jsonl.loads(_bytes(row[0])) if row else {}
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def rows(self) -> Iterator[tuple[object, ...]]:
        """(row, time, step, JSON) by row; of damaged data the rows before the damage."""
        has = sqlite.columns(self.connection, "metrics")
        time = "timestamp" if "timestamp" in has else "NULL"
        asked = (
            f"SELECT rowid, {time}, step, metrics FROM metrics NOT INDEXED "  # noqa: S608 - ours
            f"WHERE {_key(self.connection)} = ? ORDER BY rowid"
        )
        return self.connection.execute(asked, (self.source.part,))

    def traces(self) -> Iterator[tuple[object, ...]]:
        """(row, step, messages, metadata) of the traces, in the order in which they were logged."""
        needed = {"step", "messages", "metadata", "run_name"}
        has = sqlite.columns(self.connection, "traces")
        if needed <= has:
            key = _key(self.connection) if "run_id" in has else "run_name"
            place = ", trace_index" if "trace_index" in has else ""
            yield from self.connection.execute(
                f"SELECT rowid, step, messages, metadata FROM traces WHERE {key} = ? "  # noqa: S608 - ours
                f"ORDER BY step{place}, rowid",
                (self.source.part,),
            )

    def traced(self) -> Iterator[Batch]:
        """Samples of validations and rollouts among the traces, and how many traces are neither."""
        samples: list[Sample] = []
        spans: list[TraceSpan] = []
        others = size = 0
        for row, step, messages, metadata in self.traces():
            found = self._trace(_line(row), jsonl.whole(step), messages, metadata)
            if isinstance(found, Sample):
                samples.append(found)
                size += len(found.input) + len(found.output)
            elif isinstance(found, TraceSpan):
                spans.append(found)
                size += len(found.arguments) + len(found.result) + len(found.error)
            else:
                others += 1
            if size > _BATCH:
                yield Batch(samples=tuple(samples), spans=tuple(spans))
                samples, spans, size = [], [], 0
        problems = (_unread(self.source.path, others),) if others else ()
        yield Batch(samples=tuple(samples), spans=tuple(spans), problems=problems)

    def _trace(
        self, row: int, step: int | None, messages: object, metadata: object
    ) -> Sample | TraceSpan | None:
        try:
            spoken, about = jsonl.loads(_bytes(messages)), jsonl.loads(_bytes(metadata))
            if isinstance(about, dict) and trackio_rollouts.is_rollout(about):
                return trackio_rollouts.span(self.source.part, row, step, spoken, about)
            record = said(spoken, about)
        except ValueError:
            return None
        if not isinstance(about, dict) or about.get("source") != SOURCE:
            return None
        return generations.sample(record, row, generations.VALIDATION, step)

    def batches(self) -> Iterator[Batch]:
        """Facts and configuration, rows, samples, and what could not be read."""
        config = self.config()
        said = settings.flat({key: value for key, value in config.items() if not key.startswith("_")})
        yield Batch(config=said, facts=self._facts(config))
        faults = Faults(self.source.path)
        any_rows = False
        for batch in samples.batches(self._records(faults), faults):
            any_rows = True
            yield batch
        yield from self.traced()
        problems = faults.problems()
        if self.error is not None:
            problems = (*problems, sqlite.damaged(self.source.path, self.error, any_rows))
        if problems:
            yield Batch(problems=problems)

    def _facts(self, config: dict[str, object]) -> dict[str, str]:
        facts = {fact: str(config[key]) for key, fact in _FACTS.items() if config.get(key)}
        if name := self._name():
            facts |= {"title": name, "experiment": name}
        facts["project"] = _project(self.source)
        return facts | {"run_id": self.source.part}

    def _name(self) -> str:
        """What people call the run, "" where nobody does."""
        key = _key(self.connection)
        for table in ("metrics", "traces"):
            if {key, "run_name"} <= sqlite.columns(self.connection, table):
                asked = f"SELECT run_name FROM {table} WHERE {key} = ? LIMIT 1"  # noqa: S608 - ours
                found = self.connection.execute(asked, (self.source.part,)).fetchone()
                if found and found[0]:
                    return str(found[0])
        return ""

    def _records(self, faults: Faults) -> Iterator[samples.Record]:
        try:
            for row, time, step, text in self.rows():
                number = jsonl.whole(step)
                try:
                    values = jsonl.loads(_bytes(text))
                except ValueError:
                    faults.torn(_line(row), last=False, kept=False)
                    continue
                if number is None or not isinstance(values, dict):
                    faults.bad(_line(row), f"its step is {str(step)[:80]}" if number is None else "no object")
                    continue
                yield _seconds(time), number, values
        except sqlite3.Error as error:
            self.error = error


def _project(source: Source) -> str:
    """Trackio has a database per project, called like it."""
    return source.whole.rpartition("/")[2].removesuffix(".db")


def _unread(path: str, traces: int) -> Problem:
    what = f"{traces} traces that are neither validation samples nor verl's rollouts are not read"
    return Problem(path, None, "unsupported", what)


def _bytes(cell: object) -> bytes:
    """JSON of a cell; raises ValueError for a cell that is neither text nor bytes."""
    if isinstance(cell, bytes):
        return cell
    if isinstance(cell, str):
        return cell.encode("utf-8", "replace")
    raise ValueError(type(cell).__name__)


def _line(row: object) -> int:
    return row if isinstance(row, int) else 0


def _seconds(text: object) -> float:
    """Unix seconds of an ISO time; without a zone it is UTC."""
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        return math.nan
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
