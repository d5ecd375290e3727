"""SQL of others reads the relations and nothing else. Each test tries to break out."""

from __future__ import annotations

import time
from pathlib import Path

import duckdb
import pytest

from sitegen.errors import SitegenError
from sitegen.store import RefusedError, Store, verify
from sitegen.store.connection import TimedOutError, arrow_within, shut
from tests.store.written import Written

BREAKOUTS = {
    "reads a file": "SELECT content FROM read_text('{secret}')",
    "reads a file by its name": "SELECT * FROM '{secret}'",
    "lists a folder": "SELECT file FROM glob('/*')",
    "reads CSV": "SELECT * FROM read_csv('{secret}')",
    "writes a file": "COPY (SELECT 1) TO '{loot}'",
    "writes a file from a CTE": "WITH x AS (COPY (SELECT 1) TO '{loot}') SELECT 1 AS a",
    "attaches a database": "ATTACH '{loot}' AS loot",
    "drops a table": "DROP TABLE steps",
    "creates a table": "CREATE TABLE mine AS SELECT 1",
    "changes a table from a CTE": "WITH x AS (DELETE FROM steps RETURNING run) SELECT run FROM x",
    "changes a setting": "SET threads = 64",
    "opens the lock": "SET lock_configuration = false",
    "calls a pragma": "PRAGMA database_list",
    "loads an extension": "LOAD httpfs",
    "installs an extension": "INSTALL httpfs",
    "says two things": "SELECT 1; DROP TABLE steps",
    "reads the environment": "SELECT getenv('HOME') AS home",
    "reads settings": "SELECT name FROM duckdb_settings()",
    "reads the catalog": "SELECT table_name FROM information_schema.tables",
    "hides a statement in a function": "SELECT * FROM query('SELECT 1')",
    "reads a Python variable": "SELECT a FROM smuggled",
    "is empty": "",
    "is a comment": "-- nothing",
}


@pytest.fixture
def store(shelf: Written) -> Store:
    shelf.add("a", {"critic/score/mean": [0.1, 0.2]})
    return Store(shelf)


@pytest.mark.parametrize("attempt", BREAKOUTS)
def test_a_card_cannot(store: Store, tmp_path: Path, attempt: str) -> None:
    secret, loot = tmp_path / "secret.txt", tmp_path / "loot"
    secret.write_text("a,b\n1,2\n")
    smuggled = {"a": [1]}  # a Python variable of this frame
    with pytest.raises(RefusedError):
        store.table(BREAKOUTS[attempt].format(secret=secret, loot=loot))
    assert not loot.exists()
    assert smuggled


@pytest.mark.parametrize("attempt", BREAKOUTS)
def test_a_question_cannot(store: Store, tmp_path: Path, attempt: str) -> None:
    secret, loot = tmp_path / "secret.txt", tmp_path / "loot"
    secret.write_text("a,b\n1,2\n")
    with pytest.raises(SitegenError):
        store.query(BREAKOUTS[attempt].format(secret=secret, loot=loot))
    assert not loot.exists()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('/etc/hostname')",
        "ATTACH 'x.db'",
        "SET threads = 3",
        "COPY (SELECT 1) TO 'x'",
    ],
)
def test_the_connection_is_shut_even_where_the_parser_would_let_it_pass(sql: str) -> None:
    with shut() as connection, pytest.raises(duckdb.Error):
        connection.execute(sql)


def test_only_listed_files_can_be_read(tmp_path: Path) -> None:
    for name in ("open", "closed"):
        (tmp_path / f"{name}.csv").write_text("a\n1\n")
    with shut([str(tmp_path / "open.csv")]) as connection:
        assert connection.execute(f"SELECT a FROM read_csv('{tmp_path}/open.csv')").fetchall() == [(1,)]
        with pytest.raises(duckdb.PermissionException):
            connection.execute(f"SELECT a FROM read_csv('{tmp_path}/closed.csv')")


def test_an_endless_query_is_stopped() -> None:
    endless = "SELECT count(*) AS n FROM range(10000000000) a, range(1000) b WHERE a.range * b.range % 7 = 3"
    began = time.monotonic()
    with shut() as connection, pytest.raises(TimedOutError, match="stopped after"):
        arrow_within(connection.cursor(), endless, {}, 0.3)
    assert time.monotonic() - began < 10


def test_memory_is_bounded() -> None:
    with shut() as connection, pytest.raises(duckdb.OutOfMemoryException):
        connection.execute(
            "SELECT list(a.range) FROM range(1000000) a, range(1000) b GROUP BY a.range % 3"
        ).fetchall()


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT * FROM steps", "SELECT * is not allowed"),
        ("SELECT s.* FROM steps s", "SELECT * is not allowed"),
        ("FROM steps", "SELECT * is not allowed"),
        ("SELECT COLUMNS('s.*') FROM steps", "COLUMNS"),
        ("SELECT run, entropy * 2 AS entropy FROM steps", 'alias "entropy" is also a column'),
        ("WITH x AS (SELECT run, row AS w FROM steps) SELECT run FROM x", 'alias "w" is also a column'),
        ("SELECT run, random() AS r FROM steps", "random is not allowed"),
        ("SELECT run, now() AS r FROM steps", "now is not allowed"),
        ("SELECT run, current_date AS r FROM steps", "current_date is not allowed"),
        ("SELECT run, entropi FROM steps", "entropi"),
        ("SELECT run FROM step", 'did you mean "steps"?'),
        ("SELECT run, $flor AS f FROM steps", 'did you mean "floor"?'),
        ("SELECT run, run FROM steps", "two result columns run"),
        ("SELECT run FROM", "syntax error"),
        ("SUMMARIZE steps", "SUMMARIZE"),
    ],
)
def test_a_card_is_told_what_is_wrong(sql: str, told: str) -> None:
    found = verify(sql, {"floor": 1.0})
    assert any(told in refusal.message for refusal in found.refusals), found.refusals


def test_a_plain_column_may_keep_its_name() -> None:
    found = verify("SELECT run, row, step, s.entropy AS entropy FROM steps s", {})
    assert not found.refusals
    assert found.columns["entropy"] == "DOUBLE"


def test_lines_of_faults_are_those_of_the_sql() -> None:
    found = verify("SELECT run,\n  row,\n  entropi\nFROM steps", {})
    assert [refusal.line for refusal in found.refusals] == [3]


def test_a_param_that_the_sql_does_not_use_is_a_fault() -> None:
    found = verify("SELECT run FROM steps", {"floor": 1.0})
    assert [refusal.message for refusal in found.refusals] == [
        "param floor is set but the SQL does not use $floor"
    ]
