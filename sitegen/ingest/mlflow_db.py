"""MLflow's database (`mlruns.db`): one SQLite file with experiments and runs, each run a source of its own.

Traces (see `mlflow_tracedb`) are sources beside them, called like the run that they belong to.

What MLflow changes: NaN is a flag, infinity the largest number, some characters of names are replaced, long
settings are cut. Everything else is exact, repeated steps included.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from sitegen.errors import Problem
from sitegen.ingest import mlflow_run, mlflow_tracedb, samples, sqlite
from sitegen.ingest.jsonfaults import Faults
from sitegen.ingest.mlflow_names import mangled, restored
from sitegen.ingest.mlflow_run import EXTREMES, SYSTEM, described, empty, number, seconds, system
from sitegen.ingest.source import Part, Source, SourceRefused
from sitegen.model import Batch

__all__ = ["NAME", "beside", "digest", "holds", "mangled", "parts", "read", "sniff"]

NAME = "mlflow"
_NEEDED = {"runs": {"run_uuid"}, "metrics": {"key", "value", "run_uuid"}}
_OPTIONAL = {"timestamp": "0", "step": "0", "is_nan": "0"}  # columns that old versions lack
_RUN = {
    "run_id": "run_uuid", "name": "name", "user": "user_id", "status": "status", "stage": "lifecycle_stage",
    "started": "start_time", "ended": "end_time",
}  # fmt: skip


def beside(path: str) -> tuple[str, ...]:
    """What SQLite keeps beside the database, and the folders of traces."""
    return (*sqlite.beside(path), *mlflow_tracedb.folders(path))


def sniff(path: str, head: bytes) -> bool:
    """Whether the file is an SQLite database."""
    return head.startswith(sqlite.MAGIC)


def holds(source: Source) -> bool:
    """Whether the database has MLflow's tables, and a run or traces."""
    try:
        with sqlite.opened(source) as connection:
            known = all(sqlite.columns(connection, table) for table in _NEEDED)
            return known and next(_parts(connection, source), None) is not None
    except sqlite3.OperationalError:
        return True  # the tables are there, with other columns: `read` tells
    except sqlite3.Error:
        return False


def parts(source: Source) -> tuple[Part, ...]:
    """Runs by the time they began; values whose run is gone are a part of their own."""
    try:
        with sqlite.opened(source) as connection:
            return tuple(_parts(connection, source))
    except (sqlite3.Error, SourceRefused, OSError):
        return ()


def _parts(connection: sqlite3.Connection, source: Source) -> Iterator[Part]:
    has = sqlite.columns(connection, "runs")
    name = "name" if "name" in has else "''"
    group = "experiment_id" if "experiment_id" in has else "0"
    experiments = mlflow_tracedb.experiments(connection)
    order = "start_time" if "start_time" in has else "rowid"
    known = set()
    for run, called, experiment in connection.execute(
        f"SELECT run_uuid, {name}, {group} FROM runs ORDER BY {order}, rowid"  # noqa: S608 - ours
    ):
        known.add(str(run))
        yield Part(str(run), mlflow_run.called(experiments.get(experiment, experiment), called))
    # A run that the table does not know has left nothing but values.
    for (run,) in connection.execute("SELECT DISTINCT run_uuid FROM metrics ORDER BY run_uuid"):
        if str(run) not in known:
            yield Part(str(run), "")
    yield from mlflow_tracedb.parts(connection, source)


def digest(source: Source) -> str:
    """Hash of all rows that belong to the run. Raises OSError."""
    found = hashlib.sha256()
    try:
        with sqlite.opened(source) as connection:
            if source.part.startswith(mlflow_tracedb.PREFIX):
                return mlflow_tracedb.digest(connection, source)
            run = _Run(connection, source.part)
            for row in chain(run.about().items(), run.texts("params"), run.texts("tags"), run.values()):
                found.update(repr(row).encode("utf-8", "surrogatepass"))
    except sqlite3.Error as error:
        found.update(repr(error).encode())
        found.update(repr(sqlite.state(source)).encode())
    return found.hexdigest()


def read(source: Source) -> Iterator[Batch]:
    """One run: what is known about it, then its values in the order in which they were logged."""
    kept = False
    try:
        before = sqlite.state(source)
        with sqlite.opened(source) as connection:
            if not all(needed <= sqlite.columns(connection, table) for table, needed in _NEEDED.items()):
                yield Batch(problems=(_unknown_version(source.path),))
                return
            for batch in _batches(connection, source):
                kept = kept or batch.rows is not None or bool(batch.spans)
                yield batch
        if sqlite.state(source) != before:
            yield Batch(problems=(sqlite.changing(source.path),))
    except sqlite3.Error as error:
        yield Batch(problems=(sqlite.damaged(source.path, error, kept),))


def _batches(connection: sqlite3.Connection, source: Source) -> Iterator[Batch]:
    if source.part.startswith(mlflow_tracedb.PREFIX):
        yield from mlflow_tracedb.read(connection, source)
        return
    run = _Run(connection, source.part)
    yield from run.described(source.path)
    yield from run.batches(source.path)


def _unknown_version(path: str) -> Problem:
    what = "the tables of this MLflow database are not those that this version knows"
    return Problem(path, None, "wrong-version", what, "Bring it up to date with `mlflow db upgrade`.")


@dataclass
class _Run:
    """One run of an open database."""

    connection: sqlite3.Connection
    run: str

    def about(self) -> dict[str, object]:
        """The run's row, and the name of its experiment; empty for a run that the database does not list."""
        has = sqlite.columns(self.connection, "runs")
        asked = {key: column for key, column in _RUN.items() if column in has}
        row = self.connection.execute(
            f"SELECT {', '.join(asked.values())} FROM runs WHERE run_uuid = ?",  # noqa: S608 - names are ours
            (self.run,),
        ).fetchone()
        if row is None:
            return {}
        found = dict(zip(asked, row, strict=True))
        if "experiment_id" in has and "name" in sqlite.columns(self.connection, "experiments"):
            named = self.connection.execute(
                "SELECT e.name FROM experiments e JOIN runs r USING (experiment_id) WHERE r.run_uuid = ?",
                (self.run,),
            ).fetchone()
            found["experiment"] = named[0] if named else None
        return found

    def texts(self, table: str) -> list[tuple[str, str]]:
        """Rows of `params` or `tags`."""
        if not {"key", "value", "run_uuid"} <= sqlite.columns(self.connection, table):
            return []
        asked = f"SELECT key, value FROM {table} WHERE run_uuid = ? ORDER BY rowid"  # noqa: S608 - names are ours
        return [(str(k), str(v)) for k, v in self.connection.execute(asked, (self.run,)) if v is not None]

    def described(self, path: str) -> Iterator[Batch]:
        """Facts and settings; what of it is damaged is told, and the values are read all the same."""
        try:
            about, params, tags = self.about(), self.texts("params"), dict(self.texts("tags"))
        except sqlite3.Error as error:
            yield Batch(problems=(sqlite.damaged(path, error, kept=True),))
            return
        if not about:
            what = "values of a run that the database does not list any more"
            yield Batch(
                facts={"run_id": self.run},
                problems=(Problem(path, None, "orphan", what, "MLflow does not show them."),),
            )
        else:
            yield described(path, about, params, tags)

    def values(self) -> Iterator[tuple[object, ...]]:
        """(time, step, name, value, is_nan) by time; of damaged data the rows before the damage."""
        has = sqlite.columns(self.connection, "metrics")
        self.connection.text_factory = bytes  # names come a million times; each is decoded once
        time, step, nan = (name if name in has else other for name, other in _OPTIONAL.items())
        asked = f"SELECT {time}, {step}, key, value, {nan} FROM metrics"  # noqa: S608 - names are ours
        try:
            # Sorting reads everything before it hands out the first row: a fault comes before that.
            yield from self.connection.execute(f"{asked} WHERE run_uuid = ? ORDER BY 1, rowid", (self.run,))
        except sqlite3.Error:
            yield from self.connection.execute(
                f"{asked} NOT INDEXED WHERE run_uuid = ? ORDER BY rowid", (self.run,)
            )

    def batches(self, path: str) -> Iterator[Batch]:
        """Rows, and what could not be read."""
        faults = Faults(path)
        taking = _Taking(faults)
        any_rows = False
        for batch in samples.batches(samples.records(taking.samples(self.values())), faults):
            any_rows = True
            yield batch
        problems = (*faults.problems(), *system(path, taking.readings))
        if taking.error is not None:
            problems = (*problems, sqlite.damaged(path, taking.error, any_rows))
        elif not any_rows:
            problems = (*problems, empty(path))
        if problems:
            yield Batch(problems=problems)


def _name(cell: object) -> str:
    return cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell)


@dataclass
class _Taking:
    """Rows of `metrics` on their way to samples."""

    faults: Faults
    readings: int = 0
    system: set[str] = field(default_factory=set)  # names of hardware readings
    error: sqlite3.Error | None = None

    def samples(self, rows: Iterator[tuple[object, ...]]) -> Iterator[samples.Sample]:
        """Samples; an error of SQLite ends them and is kept, so that the record at hand is not lost."""
        names: dict[object, str] = {}
        last, now = None, samples.NO_TIME
        try:
            for time, step, name, value, is_nan in rows:
                if time != last:  # the values of a record share it
                    last, now = time, seconds(time)
                short = names.get(name)
                if short is None:
                    short = names[name] = restored(_name(name))
                    if short.startswith(SYSTEM):
                        self.system.add(short)
                if self.system and short in self.system:
                    self.readings += 1
                elif type(step) is not int:
                    self.faults.bad(0, f"the step of {short[:80]} is {_name(step)[:80]}")
                elif is_nan or value in EXTREMES:
                    yield now, step, short, number(value, is_nan)
                else:
                    yield now, step, short, value
        except sqlite3.Error as error:
            self.error = error
