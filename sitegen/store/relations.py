"""The relations that cards read, as tables of a shut connection."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache

import pyarrow as pa

from sitegen.metrics import glossary
from sitegen.store import facts
from sitegen.store.connection import Connection, put, run_script, script, shut
from sitegen.store.frames import NON_FINITE, VALIDATIONS, Frame, empty_raw, text

#: Spans of rules that ran before, for cards with `after`.
SPANS: facts.Columns = (
    ("run", pa.string()),
    ("code", pa.string()),
    ("n", pa.int64()),
    ("first_row", pa.int64()),
    ("last_row", pa.int64()),
    ("first", pa.int64()),
    ("last", pa.int64()),
    ("grade", pa.int64()),
    ("open", pa.bool_()),
)
#: Sets of absolute bands that each run is held against.
PRESETS: facts.Columns = (("run", pa.string()), ("preset", pa.string()))
#: Moves of the score from one level to another, for cards about phases.
MOVES: facts.Columns = (
    ("run", pa.string()),
    ("first_row", pa.int64()),
    ("last_row", pa.int64()),
    ("before", pa.float64()),
    ("after", pa.float64()),
    ("noise", pa.float64()),
)
#: Relations that the rule engine fills; empty until then.
OF_ENGINE: Mapping[str, facts.Columns] = {"spans": SPANS, "presets": PRESETS, "moves": MOVES}
#: Names a relation may not use: they are what a card answers.
ANSWERS = frozenset({"value", "threshold", "hit", "hold", "severity"})


def spans_table(rows: Iterable[facts.Row]) -> pa.Table:
    """Relation `spans` from rows in the order of SPANS."""
    return facts.table(SPANS, rows)


def presets_table(rows: Iterable[facts.Row]) -> pa.Table:
    """Relation `presets` from (run, preset)."""
    return facts.table(PRESETS, rows)


def moves_table(rows: Iterable[facts.Row]) -> pa.Table:
    """Relation `moves` from rows in the order of MOVES."""
    return facts.table(MOVES, rows)


def macros(connection: Connection) -> None:
    """Teach a connection the words that cards share."""
    run_script(connection, "macros")


def build(
    connection: Connection, frame: Frame, lines: pa.Table, columns: Collection[str] | None = None
) -> None:
    """Make steps, with no more than `columns` where they are given, evals and events out of a frame.

    Table `runs` must be there.
    """
    connection.register("raw", frame.raw)  # read once: no need for a copy
    put(connection, "validations", frame.validations)
    put(connection, "non_finite", _with_keys(frame.non_finite))
    put(connection, "log_lines", lines)
    for name in ("steps", "evals", "events"):
        connection.execute(f"DROP TABLE IF EXISTS {name}")
    _number_runs(connection, frame)
    listed = "NULL" if columns is None else f"[{', '.join(map(text, sorted(columns)))}]"
    connection.execute(f"SET VARIABLE wanted = {listed}")
    run_script(connection, "relations")
    connection.unregister("raw")
    for name in ("non_finite", "log_lines"):
        connection.execute(f"DROP TABLE {name}")


def _number_runs(connection: Connection, frame: Frame) -> None:
    """Type `run_id`: every window sorts by the run, and small numbers sort faster than names."""
    names = sorted(set(frame.raw["run"].unique().to_pylist())) or [""]
    connection.execute("DROP TYPE IF EXISTS run_id")
    connection.execute(f"CREATE TYPE run_id AS ENUM ({', '.join(map(text, names))})")


def _with_keys(non_finite: pa.Table) -> pa.Table:
    known = glossary()
    keys = [found.key if (found := known.by_name(name)) else name for name in non_finite["name"].to_pylist()]
    return non_finite.append_column("metric", pa.array(keys, pa.string()))


@cache
def words(name: str) -> frozenset[str]:
    """Every word of our own `sql/<name>.sql`, lower case."""
    return frozenset(re.findall(r"[a-z_][a-z0-9_]*", " ".join(script(name)).lower()))


def keys_for(named: Iterable[str]) -> tuple[str, ...]:
    """Metrics that the relations need so that SQL with these words can run."""
    wanted = words("relations") | frozenset(named)
    return tuple(key for key in facts.metric_keys() if key in wanted)


def narrow(cursor: Connection, named: Iterable[str], columns: Iterable[str]) -> None:
    """Show a cursor no more of `columns` of `steps` than a statement with the words `named` can mean.

    A macro takes the alias of its relation, which DuckDB binds as a struct of all its columns: on hundreds of
    columns that costs more than running a card on a few runs.
    """
    seen = sorted(frozenset(columns) & {*named, *words("macros")})
    cursor.execute(f"CREATE OR REPLACE TEMP VIEW steps AS SELECT {', '.join(seen)} FROM memory.main.steps")  # noqa: S608


@cache
def blank() -> Connection:
    """A shut connection with every relation, empty: what SQL of a card is checked against."""
    connection = shut()
    macros(connection)
    for name, make in facts.OF_RUNS.items():
        put(connection, name, make(()))
    for name, kinds in OF_ENGINE.items():
        put(connection, name, facts.table(kinds, ()))
    keys = facts.metric_keys()
    frame = Frame(keys, empty_raw(keys), VALIDATIONS.empty_table(), NON_FINITE.empty_table())
    build(connection, frame, facts.event_lines({}, {}))
    return connection


@cache
def columns() -> Mapping[str, frozenset[str]]:
    """Relation -> its columns, lower case."""
    found: dict[str, set[str]] = {}
    rows = (
        blank()
        .cursor()
        .execute("SELECT table_name, lower(column_name) FROM duckdb_columns() WHERE NOT internal")
    )
    for table, column in rows.fetchall():
        found.setdefault(table, set()).add(column)
    return {table: frozenset(names) for table, names in sorted(found.items())}


@cache
def derived() -> frozenset[str]:
    """Columns of `steps` that are no metrics; they are made whenever it is."""
    return columns()["steps"] - frozenset(facts.metric_keys())
