"""DuckDB connections: an open one for our own SQL over Parquet, and shut ones for SQL that others wrote.

A card arrives by pull request, so its SQL meets only a throw-away in-memory database that holds the
relations of a batch of runs: no files, no network, no settings, no Python objects, bounded memory and time.
What is run there has been parsed as one SELECT first (`statement`).
"""

from __future__ import annotations

import atexit
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files

import duckdb
import pyarrow as pa

#: Bytes, as DuckDB writes them. Batches are sized to stay far below.
MEMORY = "1500MB"
THREADS = 2
SECONDS = 60.0

Connection = duckdb.DuckDBPyConnection
Parameters = Mapping[str, object]

_open: weakref.WeakSet[Connection] = weakref.WeakSet()


class TimedOutError(Exception):
    """A statement ran longer than it may."""


def opened(memory: str = "", threads: int = THREADS) -> Connection:
    """A connection for our own SQL: reads the archive's Parquet files. `memory`: MEMORY unless told."""
    connection = duckdb.connect(":memory:", config={"threads": threads, "memory_limit": memory or MEMORY})
    _open.add(connection)
    _plain(connection)
    return connection


@atexit.register
def _close_all() -> None:
    """Close what is still open while Python is whole.

    A thread of DuckDB that lets go of a Python object while the interpreter is being taken down aborts the
    process; closing joins them.
    """
    for connection in list(_open):
        connection.close()


def shut(paths: Sequence[str] = (), memory: str = "", threads: int = THREADS) -> Connection:
    """A connection for SQL of others. `paths` are the only files it can read; none by default."""
    connection = opened(memory, threads)
    connection.execute("SET allowed_paths = $paths", {"paths": list(paths)})
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def _plain(connection: Connection) -> None:
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET temp_directory = ''")
    connection.execute("SET preserve_insertion_order = true")
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET autoinstall_known_extensions = false")
    connection.execute("SET autoload_known_extensions = false")
    connection.execute("SET enable_progress_bar = false")


@contextmanager
def within(connection: Connection, seconds: float = SECONDS) -> Iterator[None]:
    """Interrupt what runs on `connection` after `seconds`; then raises TimedOutError."""
    late = threading.Event()

    def interrupt() -> None:
        late.set()
        connection.interrupt()

    timer = threading.Timer(seconds, interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    except duckdb.InterruptException:
        if late.is_set():
            raise TimedOutError(f"stopped after {seconds:g} s") from None
        raise
    finally:
        timer.cancel()
        timer.join()  # a thread that is left when Python exits can bring the process down


def arrow(connection: Connection, sql: str, params: Parameters | None = None) -> pa.Table:
    """The rows of one SELECT. A cursor of its own, so that no earlier result is in the way."""
    with connection.cursor() as cursor:
        rows: pa.Table = cursor.sql(sql, params=dict(params or {})).to_arrow_table()
    return rows


def arrow_within(cursor: Connection, sql: str, params: Parameters, seconds: float = SECONDS) -> pa.Table:
    """As `arrow`, on a cursor nobody else uses and not longer than `seconds`. Raises TimedOutError."""
    try:
        with within(cursor, seconds):
            return cursor.sql(sql, params=dict(params)).to_arrow_table()
    except (duckdb.BinderException, duckdb.CatalogException):
        cursor.execute(f"DESCRIBE {sql}", dict(params))  # the same complaint, with its line
        raise


def put(connection: Connection, name: str, rows: pa.Table) -> None:
    """Make table `name` hold `rows`, whatever it held before."""
    connection.register("arriving", rows)
    connection.execute(f"CREATE OR REPLACE TABLE {identifier(name)} AS SELECT * FROM arriving")  # noqa: S608
    connection.unregister("arriving")


def append(connection: Connection, name: str, rows: pa.Table) -> None:
    """Add `rows` to table `name`, which is made like them where it does not exist."""
    connection.register("arriving", rows)
    connection.execute(f"CREATE TABLE IF NOT EXISTS {identifier(name)} AS SELECT * FROM arriving LIMIT 0")  # noqa: S608
    connection.execute(f"INSERT INTO {identifier(name)} BY NAME SELECT * FROM arriving")  # noqa: S608
    connection.unregister("arriving")


@cache
def script(name: str) -> tuple[str, ...]:
    """Statements of `sql/<name>.sql`, which end with a semicolon at the end of a line."""
    text = (files("sitegen.store") / "sql" / f"{name}.sql").read_text(encoding="utf-8")
    return tuple(part for part in text.split(";\n") if part.strip())


def run_script(connection: Connection, name: str) -> None:
    """Run our own `sql/<name>.sql`."""
    for statement in script(name):
        connection.execute(statement)


def identifier(name: str) -> str:
    """`name` quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'
