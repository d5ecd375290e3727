"""The copy of an MLflow server: a database as MLflow lays it out, artifacts below `mlruns/` beside it."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from itertools import zip_longest
from pathlib import Path

from sitegen.errors import LiveError

NAME = "mlruns.db"
WAIT = 120  # seconds that one copying waits for another
Value = tuple[str, float, int, int, int]  # name, value, ms, step, is_nan
_PARTS = ("metrics", "params", "tags")


@dataclass(frozen=True, slots=True)
class Run:
    """A run as the server's list has it."""

    id: str
    experiment: int
    name: str
    user: str
    status: str
    start: int | None
    end: int | None
    stage: str
    params: tuple[tuple[str, str], ...]
    tags: tuple[tuple[str, str], ...]
    metrics: tuple[str, ...]  # names
    seen: str  # hash of all that the list said

    @property
    def final(self) -> bool:
        """Whether nothing more is logged to it unless the list says something else."""
        return self.status in ("FINISHED", "FAILED", "KILLED")


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace as the server's list has it."""

    id: str
    experiment: int
    time: int
    tags: tuple[tuple[str, str], ...]
    metadata: tuple[tuple[str, str], ...]
    final: bool
    seen: str


def digest(value: object) -> str:
    """Hash of a JSON value."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@contextmanager
def opened(folder: Path) -> Iterator[Copy]:
    """The copy in `folder`, which only its owner may read: nothing is redacted there. Raises LiveError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        connection = sqlite3.connect(folder / NAME, timeout=WAIT, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise LiveError(
            f"cannot write the copy at '{folder}': {error}. Give a folder you may write."
        ) from error
    try:
        connection.executescript((files("sitegen.live") / "mlflow.sql").read_text())
        yield Copy(connection, folder)
    except sqlite3.Error as error:
        raise LiveError(
            f"the copy '{folder / NAME}' cannot be written: {error}. Remove it and try again."
        ) from error
    finally:
        connection.close()


@dataclass(frozen=True, slots=True)
class Copy:
    """An open copy."""

    connection: sqlite3.Connection
    folder: Path

    def fresh(self, each: Run | Trace) -> bool:
        """Whether what is copied is all that the server has."""
        row = self.connection.execute("SELECT seen, final FROM fetched WHERE id = ?", (each.id,)).fetchone()
        return row is not None and bool(row[1]) and row[0] == each.seen

    def experiment(self, id: int, name: str, stage: str) -> None:
        """Note what an experiment is called."""
        row = (id, name, stage)
        known = self.connection.execute("SELECT * FROM experiments WHERE experiment_id = ?", (id,)).fetchone()
        if known != row:
            self.connection.execute("INSERT OR REPLACE INTO experiments VALUES (?, ?, ?)", row)

    def put(self, run: Run, values: Iterable[list[Value]]) -> bool:
        """Replace a run by what was fetched, as a whole or not at all; False where it is what was there.

        Values go in by time and step: MLflow logs a record at one millisecond, and a reader takes them in the
        order of rows.
        """
        do = self.connection.execute
        do("DELETE FROM incoming")
        for page in values:
            self.connection.executemany("INSERT INTO incoming VALUES (?, ?, ?, ?, ?)", page)
        if self._same(run):
            return False
        with self._transaction():
            self._drop(run.id)
            row = (run.id, run.name, run.user, run.status, run.start, run.end, run.stage, run.experiment)
            do("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
            do(
                "INSERT INTO metrics SELECT key, value, timestamp, ?, step, is_nan FROM incoming "
                "ORDER BY timestamp, step, rowid",
                (run.id,),
            )
            many = self.connection.executemany
            many("INSERT INTO params VALUES (?, ?, ?)", ((*pair, run.id) for pair in run.params))
            many("INSERT INTO tags VALUES (?, ?, ?)", ((*pair, run.id) for pair in run.tags))
            do("INSERT OR REPLACE INTO fetched VALUES (?, ?, ?)", (run.id, run.seen, int(run.final)))
        return True

    def _same(self, run: Run) -> bool:
        """Whether what came in is what is copied: an unchanged file is not read again."""
        row = self.connection.execute("SELECT seen FROM fetched WHERE id = ?", (run.id,)).fetchone()
        if row is None or row[0] != run.seen:
            return False
        columns = "key, value, timestamp, step, is_nan"
        old = f"SELECT {columns} FROM metrics WHERE run_uuid = ? ORDER BY rowid"  # noqa: S608 - names are ours
        new = f"SELECT {columns} FROM incoming ORDER BY timestamp, step, rowid"  # noqa: S608 - names are ours
        pairs = zip_longest(self.connection.execute(old, (run.id,)), self.connection.execute(new))
        return all(a == b for a, b in pairs)

    def trace(self, trace: Trace) -> None:
        """Replace what is known of a trace; its spans are a file."""
        do, many = self.connection.execute, self.connection.executemany
        with self._transaction():
            for table in ("trace_info", "trace_tags", "trace_request_metadata"):
                do(f"DELETE FROM {table} WHERE request_id = ?", (trace.id,))  # noqa: S608 - names are ours
            do("INSERT INTO trace_info VALUES (?, ?, ?)", (trace.id, trace.experiment, trace.time))
            many("INSERT INTO trace_tags VALUES (?, ?, ?)", ((trace.id, *pair) for pair in trace.tags))
            pairs = ((trace.id, *pair) for pair in trace.metadata)
            many("INSERT INTO trace_request_metadata VALUES (?, ?, ?)", pairs)
            do("INSERT OR REPLACE INTO fetched VALUES (?, ?, ?)", (trace.id, trace.seen, int(trace.final)))

    def deleted(self, experiments: Mapping[int, set[str]]) -> int:
        """Mark runs that the server has no more; they stay. `experiments` holds the runs that each has."""
        gone = [
            run
            for experiment, listed in experiments.items()
            for (run,) in self.connection.execute(
                "SELECT run_uuid FROM runs WHERE experiment_id = ? AND lifecycle_stage <> 'deleted'",
                (experiment,),
            ).fetchall()
            if run not in listed
        ]
        if not gone:
            return 0
        with self._transaction():
            for run in gone:
                self.connection.execute(
                    "UPDATE runs SET lifecycle_stage = 'deleted' WHERE run_uuid = ?", (run,)
                )
                self.connection.execute("DELETE FROM fetched WHERE id = ?", (run,))
        return len(gone)

    def _drop(self, run: str) -> None:
        for table in ("runs", *_PARTS):
            self.connection.execute(f"DELETE FROM {table} WHERE run_uuid = ?", (run,))  # noqa: S608 - ours

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")
