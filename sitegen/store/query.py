"""`sitegen query`: the tables of CONTRACT.md over a whole archive.

Only what a statement names is made. Tables of facts are small and loaded; rows stay in Parquet, behind views
over the files, so that a question about one run opens one file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import duckdb
import pyarrow as pa

from sitegen.cards import nearest
from sitegen.errors import Problem, QueryError
from sitegen.model import Findings, Run
from sitegen.store import facts, longform, statement
from sitegen.store.connection import Connection, TimedOutError, arrow_within, put, shut
from sitegen.store.facts import FLAG, REAL, TEXT, WHOLE, Columns, Row, table
from sitegen.store.frames import Shelf

FindingsOf = Callable[[str], Findings | None]
StatusOf = Callable[[str], str | None]
ProblemsOf = Callable[[], Mapping[str, Sequence[Problem]]]

SECONDS = 600.0
MEMORY = "3GB"

RUNS: Columns = (
    *(
        (name, TEXT)
        for name in ("run", "title", "project", "experiment", "status", "state", "algorithm", "model")
    ),
    *((name, TEXT) for name in ("verl_version", "commit", "hardware")),
    ("gpus", WHOLE),
    *((name, REAL) for name in ("started_at", "ended_at", "wall_s", "gpu_hours")),
    *((name, WHOLE) for name in ("steps", "first_step", "last_step", "planned_steps", "segments")),
    ("formats", TEXT),
    ("finished", FLAG),
    ("growing", FLAG),
    *((name, TEXT) for name in ("tags", "owner", "baseline", "path")),
)
PHASES: Columns = (("run", TEXT), ("segment", WHOLE), ("phase", TEXT), ("first", WHOLE), ("last", WHOLE))
INCIDENTS: Columns = (
    ("run", TEXT),
    ("segment", WHOLE),
    ("id", TEXT),
    ("rule", TEXT),
    ("severity", TEXT),
    ("first", WHOLE),
    ("last", WHOLE),
    ("open", FLAG),
    ("metric", TEXT),
    ("value", REAL),
    ("threshold", REAL),
    ("title", TEXT),
    ("message", TEXT),
    ("explained", FLAG),
)
VERDICTS: Columns = (("run", TEXT), ("rule", TEXT), ("verdict", TEXT), ("missing", TEXT), ("reason", TEXT))
CONFIG: Columns = (("run", TEXT), ("key", TEXT), ("value", TEXT))
#: Tables in the order of CONTRACT.md.
TABLES = (
    *(
        "runs",
        "samples",
        "steps",
        "raw_samples",
        "non_finite",
        "summary",
        "log_lines",
        "generations",
        "spans",
    ),
    *("config", "phases", "incidents", "verdicts", "problems"),
)
OF_FINDINGS = frozenset({"phases", "incidents", "verdicts"})


class Question:
    """One statement over an archive.

    Args:
        shelf: the archive.
        found: runs to answer about.
        findings: what the rules say about a run; asked only if the statement names them.
        status: outcome of a run; asked only if the statement may name it.
        state: where its training was last; likewise.
        problems: problems of a run beyond those that its logs have; likewise.
    """

    def __init__(
        self,
        shelf: Shelf,
        found: Sequence[Run],
        findings: FindingsOf | None,
        status: StatusOf | None,
        state: StatusOf | None = None,
        problems: ProblemsOf | None = None,
    ) -> None:
        self._shelf = shelf
        self._found = found
        self._findings = findings
        self._status = status
        self._state = state
        self._problems = problems

    def answer(self, sql: str) -> pa.Table:
        """Rows of one SELECT. Raises QueryError with DuckDB's message and the tables there are."""
        parsed = statement.parse(sql)
        for refusal in parsed.refusals:
            raise _error(refusal)
        for name in sorted(parsed.tables - set(TABLES)):
            raise QueryError(f"no table {name}{nearest(name, TABLES)}\n{_listed()}")
        form = longform.Long(self._shelf, [run.id for run in self._found])
        connection = shut(form.paths() if parsed.tables & longform.VIEWS else (), MEMORY)
        try:
            for name in sorted(parsed.tables):
                self._make(connection, form, name, parsed)
            with connection.cursor() as cursor:
                return arrow_within(cursor, parsed.sql, {}, SECONDS)
        except duckdb.Error as error:
            raise _error(statement.refusal(error)) from None
        except TimedOutError as error:
            raise QueryError(f"{error}\nask for fewer runs or columns, or GROUP BY earlier") from None
        finally:
            connection.close()

    def _make(
        self, connection: Connection, form: longform.Long, name: str, parsed: statement.Statement
    ) -> None:
        if name in longform.VIEWS:
            form.create(connection, name)
        else:
            put(connection, name, self._table(name, parsed))

    def _table(self, name: str, parsed: statement.Statement) -> pa.Table:
        if name == "runs":
            star = statement.has_star(parsed)
            status = self._status if star or "status" in parsed.words else None
            state = self._state if star or "state" in parsed.words else None
            return table(RUNS, (self._run(run, status, state) for run in self._found))
        if name in OF_FINDINGS:
            return self._of_findings(name)
        if name == "log_lines":
            return facts.log_lines({run.id: self._shelf.log_lines(run.id) for run in self._found})
        if name == "config":
            return table(
                CONFIG, ((run.id, *one) for run in self._found for one in sorted(run.config.items()))
            )
        if name == "problems":
            return table(facts.PROBLEMS, [*self._own_problems(), *self._of_runs()])
        return facts.summary(self._found)

    def _run(self, run: Run, status: StatusOf | None, state: StatusOf | None) -> Row:
        judged = (told(run.id) if told else None for told in (status, state))
        return (
            *(run.id, run.title, run.project, run.experiment, *judged, run.algorithm, run.model),
            *(run.verl_version, run.commit, run.hardware, run.gpus),
            *(run.started_at, run.ended_at, run.wall_s, run.gpu_hours),
            *(run.steps, run.first_step, run.last_step, run.planned_steps, len(run.segments)),
            *(" ".join(run.formats), run.finished, run.growing),
            *(" ".join(run.tags), run.owner, run.baseline, run.path),
        )

    def _own_problems(self) -> Iterable[Row]:
        """Problems that belong to no run, with an empty run id."""
        for one in self._shelf.problems():
            yield "", one.path, one.line, one.kind, one.message

    def _of_runs(self) -> Iterator[Row]:
        told = self._problems() if self._problems else {}
        for run in self._found:
            yield from facts.problem_rows([run])
            for one in told.get(run.id, ()):
                yield run.id, one.path, one.line, one.kind, one.message

    def _of_findings(self, name: str) -> pa.Table:
        ask = self._findings or (lambda run: None)
        found = [known for run in self._found if (known := ask(run.id)) is not None]
        if name == "phases":
            rows: Iterable[Row] = (
                (each.run, one.segment, one.phase.value, one.first, one.last)
                for each in found
                for one in each.phases
            )
            return table(PHASES, rows)
        if name == "verdicts":
            rows = (
                (each.run, one.rule, one.outcome.value, " ".join(one.missing), one.reason)
                for each in found
                for one in each.verdicts
            )
            return table(VERDICTS, rows)
        explained = {run.id: frozenset(note.anchor for note in run.written) for run in self._found}
        return table(
            INCIDENTS,
            (
                _incident(each, place, explained[each.run])
                for each in found
                for place in range(len(each.incidents))
            ),
        )


def _incident(findings: Findings, place: int, explained: frozenset[str]) -> Row:
    one = findings.incidents[place]
    return (
        *(one.run, one.segment, one.id, one.rule, one.severity.word, one.first, one.last, one.open),
        *(one.metric, one.value, one.threshold, one.title, one.message, one.anchor in explained),
    )


def _listed() -> str:
    return f"tables: {', '.join(TABLES)}"


def _error(refusal: statement.Refusal) -> QueryError:
    return QueryError(f"line {refusal.line}: {refusal.message}\n{_listed()}")
