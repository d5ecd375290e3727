"""A store: the relations of some runs, loaded when SQL first asks for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from types import TracebackType

import duckdb
import pyarrow as pa

from sitegen.errors import QueryError, SitegenError
from sitegen.model import LogLine, Run
from sitegen.store import facts, relations, statement
from sitegen.store.connection import (
    MEMORY,
    THREADS,
    Connection,
    Parameters,
    TimedOutError,
    append,
    arrow,
    arrow_within,
    identifier,
    put,
    shut,
)
from sitegen.store.frames import Frame, Shelf, gather
from sitegen.store.portion import portions
from sitegen.store.query import FindingsOf, ProblemsOf, Question, StatusOf

#: Relations made from rows of runs rather than from facts about them.
OF_ROWS = frozenset({"steps", "evals", "events"})
#: Columns of `steps` that are loaded whatever a statement names.
ALWAYS = frozenset({"run", "row", "step", "segment", "warm", "w", "stride"})
#: Seconds that one card may take on a batch of runs. The slowest of ours takes half a second, on a
#: machine that has time for it.
CARD_SECONDS = 60.0
#: Runs that a message names.
NAMED = 5


class RefusedError(QueryError):
    """SQL that was not run or failed. `line` is 1-based in the SQL."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


class Store:
    """Runs of an archive as tables, for SQL that others wrote.

    Use as a context manager. `select` answers on the relations described in `sql/relations.sql`, `query` on
    the tables of `sitegen query`.

    Args:
        archive: where runs come from.
        runs: ids; every run of the archive by default.
        frame: rows to use instead of those in the archive's Parquet, for runs that were only written down.
        threads: cores that SQL may use.
        seconds: how long one statement may take.
    """

    def __init__(
        self,
        archive: Shelf,
        runs: Sequence[str] | None = None,
        frame: Frame | None = None,
        threads: int = THREADS,
        seconds: float = CARD_SECONDS,
    ) -> None:
        self.threads = threads
        self.seconds = seconds
        self._archive = archive
        self._frame = frame
        self.runs = tuple(runs) if runs is not None else archive.runs()
        self._run: dict[str, Run] = {}
        self._lines: dict[str, tuple[LogLine, ...]] | None = None
        self._connection: Connection | None = None
        self._lock = Lock()  # several cards may run at a time; each has a cursor of its own
        self._loaded: set[str] = set()
        self._columns: frozenset[str] = frozenset()  # of `steps`, loaded
        self._validated: frozenset[str] | None = None
        self._with_best: frozenset[str] | None = None

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the memory back."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None
        self._loaded.clear()
        self._columns = frozenset()

    def facts(self) -> tuple[Run, ...]:
        """The runs themselves, in the order of `runs`."""
        return tuple(self._fact(run) for run in self.runs)

    def lines(self, run: str) -> tuple[LogLine, ...]:
        """Log lines of a run."""
        return self._all_lines()[run]

    def validated(self) -> frozenset[str]:
        """Runs that have a validation."""
        if self._validated is None:
            rows = self.table("SELECT DISTINCT run FROM evals").column("run").to_pylist()
            self._validated = frozenset(rows)
        return self._validated

    def with_best_of_n(self) -> frozenset[str]:
        """Runs that logged the best of several answers beside their mean."""
        if self._with_best is None:
            asked = self.table("SELECT DISTINCT run FROM evals WHERE best_of_n IS NOT NULL")
            self._with_best = frozenset(asked.column("run").to_pylist())
        return self._with_best

    def prepare(self, words: Iterable[str]) -> None:
        """Load the rows of every run at once, with the columns among `words`.

        `select` does this by itself for what a statement names; whoever runs many cards names all their words
        first, so that rows are read once. Raises SitegenError where they do not fit in memory.
        """
        wanted = relations.columns()["steps"] & {*words, *ALWAYS}
        if "steps" in self._loaded and wanted <= self._columns:
            return
        self._columns |= wanted
        self._load_facts("runs")
        try:
            self._fill_all()
        except duckdb.OutOfMemoryException as error:
            raise self._too_large(error) from None
        self._loaded |= OF_ROWS

    def select(self, sql: str, params: Parameters | None = None) -> list[dict[str, object]]:
        """Rows of one SELECT, as dictionaries. Raises RefusedError."""
        rows: list[dict[str, object]] = self.table(sql, params).to_pylist()
        return rows

    def table(self, sql: str, params: Parameters | None = None) -> pa.Table:
        """As `select`, as an Arrow table. `params` that the SQL does not name are ignored."""
        with self._lock:
            parsed = statement.parse(sql)
            for refusal in parsed.refusals:
                raise RefusedError(refusal.line, refusal.message)
            self._load(parsed)
            cursor = self._open().cursor()
            if "steps" in parsed.tables and not statement.has_star(parsed):
                relations.narrow(cursor, parsed.words, self._columns)
        given = {name: value for name, value in (params or {}).items() if name in parsed.parameters}
        return self._run_shut(cursor, parsed.sql, given)

    def query(
        self,
        sql: str,
        findings: FindingsOf | None = None,
        status: StatusOf | None = None,
        state: StatusOf | None = None,
        problems: ProblemsOf | None = None,
    ) -> pa.Table:
        """Rows of one SELECT on the tables of CONTRACT.md.

        Args:
            sql: the statement.
            findings: what the rules say about a run; asked only for phases, incidents and verdicts.
            status: outcome of a run for `runs.status`; NULL without it.
            state: where its training was last, for `runs.state`; likewise.
            problems: problems of runs beyond those of their logs, for `problems`.

        Raises:
            QueryError: with DuckDB's message and the tables there are.
        """
        return Question(self._archive, self.facts(), findings, status, state, problems).answer(sql)

    def put(self, name: str, rows: pa.Table) -> None:
        """Make relation `name` hold `rows`."""
        put(self._open(), name, rows)
        self._loaded.add(name)

    def _run_shut(self, cursor: Connection, sql: str, params: Mapping[str, object]) -> pa.Table:
        try:
            return arrow_within(cursor, sql, params, self.seconds)
        except duckdb.OutOfMemoryException as error:
            raise RefusedError(1, str(self._too_large(error))) from None
        except duckdb.Error as error:
            refusal = statement.refusal(error)
            raise RefusedError(refusal.line, refusal.message) from None
        except TimedOutError as error:
            raise RefusedError(1, f"{error}: too slow for {len(self.runs)} runs") from None

    def _open(self) -> Connection:
        if self._connection is None:
            self._connection = shut(threads=self.threads)
            relations.macros(self._connection)
        return self._connection

    def _load(self, parsed: statement.Statement) -> None:
        known = relations.columns()
        for name in sorted(parsed.tables):
            if name not in known:
                raise RefusedError(1, f"no table {name}; there are {', '.join(known)}")
            if name in facts.OF_RUNS:
                self._load_facts(name)
            elif name in relations.OF_ENGINE and name not in self._loaded:
                self.put(name, facts.table(relations.OF_ENGINE[name], ()))
        if parsed.tables & OF_ROWS:
            self.prepare(parsed.words)

    def _load_facts(self, name: str) -> None:
        if name not in self._loaded:
            self.put(name, facts.OF_RUNS[name](self.facts()))

    def _fill_all(self) -> None:
        parts = (self.runs,) if self._frame else tuple(portions(self._archive, self.runs))
        if len(parts) > 1:
            self._fill_in_portions(parts)
        else:
            self._fill(self._open(), self.runs)
            self._columns |= relations.derived()

    def _too_large(self, error: duckdb.Error) -> SitegenError:
        """What to do about rows that do not fit, the longest runs first."""
        longest = sorted(self.facts(), key=lambda run: (-run.steps, run.id))[:NAMED]
        named = ", ".join(f"{run.id} ({run.steps} steps)" for run in longest)
        rest = f" and {len(self.runs) - NAMED} more" if len(self.runs) > NAMED else ""
        return SitegenError(
            f"the rows of {named}{rest} do not fit in the {MEMORY} that rules and cards may use: "
            f"{statement.refusal(error).message}. Move the longest of these runs out of the folder, or split "
            "its log into runs of their own."
        )

    def _fill(
        self, connection: Connection, runs: Sequence[str], columns: Collection[str] | None = None
    ) -> None:
        keys = relations.keys_for(self._columns)
        frame = self._frame or gather(self._archive, runs, keys)
        lines = {run: self.lines(run) for run in runs}
        told = facts.event_lines(lines, {run: self._fact(run) for run in runs})
        relations.build(connection, frame, told, columns)

    def _fill_in_portions(self, parts: Sequence[Sequence[str]]) -> None:
        """Of many runs, keep the columns that were asked for; all of them would not fit in memory."""
        for name in sorted(OF_ROWS):
            self._open().execute(f"DROP TABLE IF EXISTS {name}")
        self._all_lines()  # read once, before several threads ask
        with ThreadPoolExecutor(self.threads) as pool:
            for tables in pool.map(self._portion, parts):
                for name, rows in tables.items():
                    append(self._open(), name, rows)

    def _portion(self, part: Sequence[str]) -> dict[str, pa.Table]:
        """Rows of a few runs, made in a database of their own."""
        known = relations.columns()
        kept = {name: known[name] & self._columns if name == "steps" else known[name] for name in OF_ROWS}
        with shut(threads=1) as scratch:
            relations.macros(scratch)
            put(scratch, "runs", facts.runs([self._fact(run) for run in part]))
            self._fill(scratch, part, kept["steps"])
            listed = {name: ", ".join(map(identifier, sorted(columns))) for name, columns in kept.items()}
            return {name: arrow(scratch, f"SELECT {listed[name]} FROM {name}") for name in sorted(OF_ROWS)}  # noqa: S608

    def _fact(self, run: str) -> Run:
        if run not in self._run:
            self._run[run] = self._archive.run(run)
        return self._run[run]

    def _all_lines(self) -> dict[str, tuple[LogLine, ...]]:
        if self._lines is None:
            self._lines = {run: self._archive.log_lines(run) for run in self.runs}
        return self._lines
