"""Databases of other programs, opened so that neither a byte nor a lock of theirs is touched.

A database without a log beside it is opened in place as immutable: SQLite then takes no lock and makes no
file. Where a write-ahead log or a rollback journal lies beside it (its writer runs, or was killed), a copy of
both is read: SQLite would otherwise change the files of others when it brings the two together.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from sitegen.errors import Problem
from sitegen.ingest.source import Source

MAGIC = b"SQLite format 3\0"
LOGS = ("-wal", "-journal")  # the index of a write-ahead log, `-shm`, is made anew
_LONGEST = 64 << 20  # bytes of one cell
_TRIES = 3
Row = tuple[object, ...]


def beside(path: str) -> tuple[str, ...]:
    """Files that SQLite keeps beside a database."""
    return tuple(path + ending for ending in (*LOGS, "-shm"))


@contextmanager
def opened(source: Source) -> Iterator[sqlite3.Connection]:
    """A connection that reads. Raises SourceRefused, OSError or sqlite3.Error."""
    with (
        tempfile.TemporaryDirectory(prefix="sitegen-") as folder,
        closing(_connection(source, Path(folder))) as connection,
    ):
        connection.text_factory = _text
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cache_size = -16384")  # 16 MB; sorting puts what is beyond into a file
            yield connection
        except UnicodeDecodeError as error:  # of SQLite's own message, which quotes a damaged schema
            raise sqlite3.DatabaseError(_text(error.object)) from error


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _connection(source: Source, folder: Path) -> sqlite3.Connection:
    logs = [log for ending in LOGS if (log := source.member(source.whole + ending)) and log.size]
    with source.raw() as stream:  # refuses what is no regular file
        plain = stream.read(len(MAGIC)) == MAGIC
    if plain and not logs:
        _tell_if_torn(source)
        return sqlite3.connect(f"file:{quote(str(source.file.absolute()))}?mode=ro&immutable=1", uri=True)
    for _ in range(_TRIES):
        before = _state([source, *logs])
        _copy(source, folder / "copy.db")
        for log in logs:
            _copy(log, folder / f"copy.db{log.path.removeprefix(source.whole)}")
        if _state([source, *logs]) == before:
            break
    else:
        source.notes.append(changing(source.path))
    return sqlite3.connect(folder / "copy.db")


def _tell_if_torn(source: Source) -> None:
    """Note that a database is shorter than its header says: SQLite finds out only where a page is missing."""
    with source.raw() as stream:
        head = stream.read(100)
    counted = len(head) == 100 and head[24:28] == head[92:96]  # else the number of pages is an old one
    page = int.from_bytes(head[16:18], "big")
    size = int.from_bytes(head[28:32], "big") * (65536 if page == 1 else page)
    here = source.file.stat().st_size
    if counted and here < size:
        what = f"the database ends at byte {here} of {size}; what is there was read"
        source.notes.append(Problem(source.path, None, "truncated", what, "Copy it again if you can."))


def _copy(source: Source, file: Path) -> None:
    whole = Source(source.path, source.file)  # a log that grew since it was listed is taken as it is
    with whole.open() if not source.path.endswith(LOGS) else whole.raw() as stream, file.open("wb") as out:
        shutil.copyfileobj(stream, out, 1 << 20)


def _state(sources: Sequence[Source]) -> list[tuple[int, int]]:
    found = [each.file.stat() for each in sources]
    return [(each.st_size, each.st_mtime_ns) for each in found]


def state(source: Source) -> tuple[int, int]:
    """Size and modification time. Raises OSError."""
    return _state([source])[0]


def changing(path: str) -> Problem:
    """The problem of a database that somebody writes while it is read."""
    what = "was written to while it was read; values logged meanwhile may be missing"
    return Problem(path, None, "changing", what, "The next update reads it again.")


def columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    """Columns of a table, none when there is no table (a view is none) of that name."""
    kind = connection.execute("SELECT type FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    if kind != ("table",):
        return frozenset()
    found = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
    return frozenset(str(name) for (name,) in found)


def damaged(path: str, error: sqlite3.Error, kept: bool) -> Problem:
    """The problem of a database that SQLite cannot read further."""
    what = f"the database is damaged ({error})"
    return Problem(
        path, None, "damaged", f"{what}; what precedes was read" if kept else what,
        "Copy it again, or bring it through `sqlite3 FILE .recover`.",
    )  # fmt: skip
