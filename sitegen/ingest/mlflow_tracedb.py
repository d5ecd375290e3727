"""Traces in MLflow's database. Those of one experiment and one run name are a part of the file.

MLflow 3 keeps spans in the table `spans`; version 2, and a server that was told so, keep them in
`traces.json` below `mlruns/` or `mlartifacts/`, and only what describes the trace in the database.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field

from sitegen.errors import Problem
from sitegen.ingest import jsonl, mlflow_tracefiles, sqlite, tracesource
from sitegen.ingest.mlflow_run import called as run_called
from sitegen.ingest.source import Part, Source
from sitegen.ingest.tracespans import About, made
from sitegen.model import Batch, TraceSpan

PREFIX = "traces-"  # of the names of parts; ids of runs are hexadecimal
_STORED = re.compile(r"([^/]+)/traces/([^/]+)/(?:artifacts/traces\.json|tags/|trace_info\.yaml$)")
STORES = ("mlruns", "mlartifacts")  # folders beside the database that hold artifacts
_INFO = {"request_id", "experiment_id"}
_SPAN = {"trace_id", "span_id", "content"}
_COLUMNS = {
    "span": "span_id", "parent": "parent_span_id", "name": "name", "type": "type", "status": "status",
    "start": "start_time_unix_nano", "end": "end_time_unix_nano",
}  # fmt: skip


def folders(path: str) -> tuple[str, ...]:
    """Folders beside the database in which traces may lie."""
    above = path.rpartition("/")[0]
    return tuple(f"{above}/{store}/*/traces/" if above else f"{store}/*/traces/" for store in STORES)


def parts(connection: sqlite3.Connection, source: Source) -> Iterator[Part]:
    """Traces of each experiment and run name. `called` is what the run of that name is called."""
    listed = _listed(connection)
    asked = f"SELECT DISTINCT grp, called FROM ({listed})"  # noqa: S608 - ours
    groups = [(group, name) for group, name in connection.execute(asked)] if listed else []
    groups += [(group, name) for _, group, name in _unlisted(connection, source, listed)]
    names = experiments(connection)
    for group, name in sorted(set(groups), key=lambda each: (str(each[0]), str(each[1]))):
        part = f"{PREFIX}{group}-{name}" if name else f"{PREFIX}{group}"
        yield Part(part, run_called(names.get(group, group), name))


def experiments(connection: sqlite3.Connection) -> dict[object, object]:
    """Number of each experiment -> its name. Damage costs names, never a run."""
    try:
        if not {"experiment_id", "name"} <= sqlite.columns(connection, "experiments"):
            return {}
        return dict(connection.execute("SELECT experiment_id, name FROM experiments WHERE name != ''"))
    except sqlite3.Error:
        return {}


def _listed(connection: sqlite3.Connection) -> str:
    """SELECT of all traces: id, experiment (grp), name of the run (called), time; "" where there is no table.

    A trace belongs to the run that was open when it was made, else to the one that verl names in a tag, else
    to the only run of its experiment.
    """
    info = sqlite.columns(connection, "trace_info")
    spans = sqlite.columns(connection, "spans")
    if not info >= _INFO:
        return ""
    runs = {"run_uuid", "name", "experiment_id"} <= sqlite.columns(connection, "runs")
    names = []
    if runs and "request_id" in sqlite.columns(connection, "trace_request_metadata"):
        names.append(
            "(SELECT r.name FROM trace_request_metadata m JOIN runs r ON r.run_uuid = m.value "
            "WHERE m.request_id = t.id AND m.key = 'mlflow.sourceRun')"
        )
    if "request_id" in sqlite.columns(connection, "trace_tags"):
        names.append("(SELECT value FROM trace_tags WHERE request_id = t.id AND key = 'experiment_name')")
    if runs:
        names.append(
            "(SELECT min(r.name) FROM runs r WHERE r.experiment_id = t.grp HAVING count(DISTINCT r.name) = 1)"
        )
    time = "timestamp_ms" if "timestamp_ms" in info else "0"
    every = f"SELECT request_id AS id, experiment_id AS grp, {time} AS time, 1 AS known FROM trace_info"  # noqa: S608
    if spans >= _SPAN and "experiment_id" in spans:
        every += (
            " UNION ALL SELECT trace_id, min(experiment_id), 0, 0 FROM spans "
            "WHERE trace_id NOT IN (SELECT request_id FROM trace_info) GROUP BY trace_id"
        )
    called = f"coalesce({', '.join([*names, _TEXT, _TEXT])})"
    return f"SELECT id, grp, time, known, {called} AS called FROM ({every}) t"  # noqa: S608 - ours


_TEXT = "''"


def _files(source: Source) -> dict[str, Source]:
    """Files of spans beside the database, by trace."""
    found = ((each.path.split("/"), each) for each in source.members)
    return {
        way[-3]: Source(each.path, each.file, each.size)
        for way, each in found
        if len(way) > 4 and way[-4] == "traces" and way[-2:] == ["artifacts", "traces.json"]
    }


def _unlisted(connection: sqlite3.Connection, source: Source, listed: str) -> list[tuple[str, object, str]]:
    """(id, experiment, run) of traces of which the database says nothing.

    Another store of MLflow may lie beside the database: its traces say in files of their own whose they are.
    """
    stored = {match[2]: match[1] for each in source.members if (match := _STORED.search(each.path))}
    if not stored:
        return []
    asked = f"SELECT id FROM ({listed})"  # noqa: S608 - ours
    known = {str(id) for (id,) in connection.execute(asked)} if listed else set()
    told = mlflow_tracefiles.tags(source.members)
    found: list[tuple[str, object, str]] = []
    for id in sorted(stored.keys() - known):
        group = stored[id]
        name = told.get(id, {}).get("experiment_name") or _only_run(connection, group)
        found.append((id, int(group) if group.isdigit() else group, name))
    return found


def _only_run(connection: sqlite3.Connection, group: str) -> str:
    """The name that all runs of an experiment share; "" where they have none or several."""
    if not {"name", "experiment_id"} <= sqlite.columns(connection, "runs"):
        return ""
    asked = "SELECT DISTINCT name FROM runs WHERE experiment_id = ?"
    names = [str(name or "") for (name,) in connection.execute(asked, (group,))]
    return names[0] if len(names) == 1 else ""


def digest(connection: sqlite3.Connection, source: Source) -> str:
    """Hash of all that belongs to the part. Raises sqlite3.Error and OSError."""
    found = hashlib.sha256()
    reading = _Reading(connection, source)
    for trace, _, known in reading.traces():
        found.update(
            repr((trace, known, sorted(reading.tags(trace).items()))).encode("utf-8", "surrogatepass")
        )
        for row in reading.rows(trace):
            found.update(repr(row).encode("utf-8", "surrogatepass"))
        if (file := reading.files.get(trace)) is not None:
            with file.raw() as stream:
                while chunk := stream.read(1 << 20):
                    found.update(chunk)
    return found.hexdigest()


def read(connection: sqlite3.Connection, source: Source) -> Iterator[Batch]:
    """All spans of the part, trace after trace by time. Raises sqlite3.Error for what is damaged."""
    reading = _Reading(connection, source)
    group, name = reading.group
    yield tracesource.described(name, reading.project(group))
    try:
        yield from tracesource.batches(reading.spans())
    finally:
        reading.count()
    yield Batch(problems=tracesource.told(reading.problems))


@dataclass
class _Reading:
    """The traces of one part of an open database."""

    connection: sqlite3.Connection
    source: Source
    problems: list[Problem] = field(default_factory=list)
    empty: int = 0  # traces without a span
    orphans: int = 0  # traces that only their spans tell of
    damaged: int = 0  # spans whose text is no JSON

    def __post_init__(self) -> None:
        self.files = _files(self.source)
        self._told = mlflow_tracefiles.tags(self.source.members)
        has = sqlite.columns(self.connection, "spans")
        self._columns = {key: name for key, name in _COLUMNS.items() if name in has} if has >= _SPAN else {}
        self._tags = "request_id" in sqlite.columns(self.connection, "trace_tags")

    @property
    def group(self) -> tuple[object, str]:
        """Experiment and run name of the part."""
        group, _, name = self.source.part.removeprefix(PREFIX).partition("-")
        return (int(group) if group.isdigit() else group), name

    def project(self, group: object) -> str:
        """Name of the experiment; "" where none is stored."""
        if not {"experiment_id", "name"} <= sqlite.columns(self.connection, "experiments"):
            return ""
        row = self.connection.execute(
            "SELECT name FROM experiments WHERE experiment_id = ?", (group,)
        ).fetchone()
        return str(row[0]) if row and row[0] and row[0] != "Default" else ""

    def traces(self) -> list[tuple[str, object, bool]]:
        """(id, time, whether it is listed) of the traces, by time, and last those that are files only."""
        listed = _listed(self.connection)
        asked = (
            f"SELECT id, time, known FROM ({listed}) "  # noqa: S608 - ours
            "WHERE grp = ? AND called = ? ORDER BY time, id"
        )
        rows = self.connection.execute(asked, self.group) if listed else ()
        found = [(str(one), time, bool(known)) for one, time, known in rows]
        others = _unlisted(self.connection, self.source, listed)
        return [*found, *((id, 0, False) for id, *of in others if tuple(of) == self.group)]

    def tags(self, trace: str) -> dict[str, str]:
        """Tags of a trace: of the database, else of files beside it."""
        if not self._tags:
            return self._told.get(trace, {})
        asked = "SELECT key, value FROM trace_tags WHERE request_id = ? ORDER BY key"
        rows = self.connection.execute(asked, (trace,))
        found = {str(key): str(value) for key, value in rows if value is not None}
        return found or self._told.get(trace, {})

    def rows(self, trace: str) -> Iterator[tuple[object, ...]]:
        """Spans of a trace by start: what `_columns` names, then the text."""
        if not self._columns:
            return
        listed = ", ".join([*self._columns.values(), "content"])
        start = self._columns.get("start", "rowid")
        yield from self.connection.execute(
            f"SELECT {listed} FROM spans WHERE trace_id = ? ORDER BY {start}, span_id",  # noqa: S608 - ours
            (trace,),
        )

    def spans(self) -> Iterator[TraceSpan]:
        """Spans of all traces."""
        for trace, _, known in self.traces():
            about = About(trace, self.tags(trace))
            self.orphans += not (known or about.trace in self._told)
            found = False
            for each in self._spans(about):
                found = True
                yield each
            self.empty += not found

    def _spans(self, about: About) -> Iterator[TraceSpan]:
        """Spans of a trace: from the table, else from its file."""
        found = False
        for row in self.rows(about.trace):
            found = True
            yield self._made(about, row)
        if not found and about.trace in self.files:
            yield from tracesource.of_file(self.files[about.trace], about, self.problems)

    def _made(self, about: About, row: tuple[object, ...]) -> TraceSpan:
        columns = dict(zip(self._columns, row, strict=False))
        try:
            raw = jsonl.loads(str(row[-1]).encode("utf-8", "replace"))
        except (ValueError, RecursionError):
            raw = None
        if not isinstance(raw, dict):
            self.damaged += 1
            raw = {}
        return made(about, raw, columns)

    def count(self) -> None:
        """Problems for what was counted."""
        path = self.source.path
        if self.damaged:
            what = (
                f"{self.damaged} spans are no JSON: arguments and results are lost, names and times were kept"
            )
            self.problems.append(Problem(path, None, "malformed", what))
        if self.orphans:
            what = (
                f"{self.orphans} traces are not listed any more; which run and step they are of is not known"
            )
            self.problems.append(Problem(path, None, "orphan", what, "MLflow does not show them."))
        if self.empty:
            what = f"{self.empty} traces have no spans here"
            hint = "Copy the `traces` folders of mlruns/ or mlartifacts/ beside the database as well."
            self.problems.append(Problem(path, None, "missing", what, hint))
