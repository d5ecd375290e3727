"""What SQL says before it is run: one SELECT, which tables and functions it names, where it breaks a habit.

DuckDB itself parses it (`json_serialize_sql` takes nothing but SELECT), so there is no second grammar here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import duckdb
import orjson

#: Table functions that make rows out of their arguments alone.
HARMLESS = frozenset({"unnest", "generate_series", "range"})
#: Their answer depends on the clock, on chance or on the machine; the same runs must give the same findings.
RESTLESS = frozenset(
    (
        "random",
        "setseed",
        "uuid",
        "uuidv4",
        "uuidv7",
        "gen_random_uuid",
        "now",
        "today",
        "current_date",
        "current_time",
        "current_timestamp",
        "localtime",
        "localtimestamp",
        "get_current_time",
        "get_current_timestamp",
        "transaction_timestamp",
        "nextval",
        "currval",
        "setval",
        "sleep_ms",
        "write_log",
        "query",
        "query_table",
        "getvariable",
        "getenv",
        "current_setting",
        "current_user",
        "current_query",
        "version",
        "current_query_id",
        "current_transaction_id",
        "current_connection_id",
        "txid_current",
    )
)
#: Nodes of a tree that only reads. A CTE may hold INSERT, UPDATE, DELETE or COPY as well.
READING = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
#: Columns every relation may repeat under their own name.
POSITION = frozenset({"run", "row", "idx", "step"})


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why SQL is not run. `line` is 1-based in the SQL."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL that parses as one SELECT."""

    sql: str
    tables: frozenset[str]  # lower case, CTEs left out
    parameters: frozenset[str]
    words: frozenset[str]  # every identifier-like word, lower case
    refusals: tuple[Refusal, ...]


@lru_cache(512)
def parse(sql: str) -> Statement:
    """Look at `sql` without running it. What is wrong is in `refusals`."""
    body = _without_last_semicolon(sql)
    words = frozenset(re.findall(r"[a-z_][a-z0-9_]*", body.lower()))
    try:
        found = duckdb.extract_statements(body)
    except duckdb.Error as error:
        return Statement(body, frozenset(), frozenset(), words, (refusal(error),))
    if len(found) != 1 or found[0].type != duckdb.StatementType.SELECT:
        message = f"must be one SELECT; found {_kinds(found)}"
        return Statement(body, frozenset(), frozenset(), words, (Refusal(1, message),))
    nodes = _nodes(body)
    if not nodes:
        return Statement(body, frozenset(), frozenset(), words, (Refusal(1, "must be one plain SELECT"),))
    return Statement(
        body,
        _tables(nodes),
        frozenset(found[0].named_parameters),
        words,
        tuple(_refusals(body, nodes)),
    )


def shadows(statement: Statement, columns: Mapping[str, frozenset[str]]) -> Iterator[Refusal]:
    """Aliases that are also columns of a relation the statement reads.

    DuckDB resolves such a name silently to the first, so that a new column of a relation would change what a
    card means. `columns` maps relations to their column names.
    """
    taken = frozenset().union(*(columns.get(table, frozenset()) for table in statement.tables))
    for node in _select_items(_nodes(statement.sql)):
        alias = str(node.get("alias") or "").lower()
        if alias in taken and alias not in POSITION and not _is_column(node, alias):
            message = f'alias "{alias}" is also a column of a relation; choose another name'
            yield Refusal(_at(statement.sql, node), message)


def has_star(statement: Statement) -> bool:
    """Whether it asks for columns that it does not name."""
    return any(node.get("class") == "STAR" for node in _nodes(statement.sql))


def habits(statement: Statement) -> Iterator[Refusal]:
    """What a card must not do though it only reads.

    `SELECT *` and its kin, because a new column of a relation would change what the card means; and whatever
    answers differently tomorrow or on another machine.
    """
    sql = statement.sql
    for node in _nodes(sql):
        kind, name = node.get("class"), _name(node)
        if kind == "STAR":
            word = "COLUMNS(…)" if node.get("columns") else "SELECT *"
            yield Refusal(_at(sql, node), f"{word} is not allowed: name the columns")
        elif kind in ("FUNCTION", "COLUMN_REF") and name in RESTLESS:
            yield Refusal(_at(sql, node), f"{name} is not allowed: the answer must depend on the runs alone")
        elif node.get("type") == "SHOW_REF":
            yield Refusal(_at(sql, node), "DESCRIBE, SUMMARIZE and SHOW are not allowed: name the columns")


def refusal(error: Exception) -> Refusal:
    """DuckDB's complaint with the line it is about."""
    text = str(error)
    where = re.search(r"^LINE (\d+):", text, re.MULTILINE)
    told = text.split("\n\nLINE ")[0].split("\nLINE ")[0]
    return Refusal(int(where[1]) if where else 1, " ".join(told.split()))


def _without_last_semicolon(sql: str) -> str:
    return re.sub(r";\s*\Z", "", sql.rstrip())


def _kinds(found: list[Any]) -> str:
    return ", ".join(statement.type.name for statement in found) or "nothing"


@cache
def _parser() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(":memory:", config={"threads": 1, "enable_external_access": False})


@lru_cache(512)
def _nodes(sql: str) -> tuple[Mapping[str, Any], ...]:
    """Nodes of DuckDB's syntax tree, outer ones first; none where the statement is not a plain SELECT."""
    row = _parser().cursor().execute("SELECT json_serialize_sql($sql::VARCHAR)", {"sql": sql}).fetchone()
    tree: Mapping[str, Any] = orjson.loads(row[0]) if row else {"error": True}
    return () if tree.get("error") else tuple(_walk(tree))


def _walk(tree: Any) -> Iterator[Mapping[str, Any]]:
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            yield node
            stack.extend(reversed([value for value in node.values() if isinstance(value, dict | list)]))
        elif isinstance(node, list):
            stack.extend(reversed(node))


def _select_items(nodes: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for node in nodes:
        if node.get("type") == "SELECT_NODE":
            yield from node["select_list"]


def _name(node: Mapping[str, Any]) -> str:
    """Lower-case name of a function or an unqualified column."""
    columns = node.get("column_names") or [""]
    return str(node.get("function_name") or (columns[0] if len(columns) == 1 else "")).lower()


def _is_column(node: Mapping[str, Any], alias: str) -> bool:
    names = node.get("column_names") or []
    return node.get("class") == "COLUMN_REF" and bool(names) and str(names[-1]).lower() == alias


def _tables(nodes: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    named = {str(node["table_name"]).lower() for node in nodes if node.get("type") == "BASE_TABLE"}
    inner = {
        str(entry["key"]).lower() for node in nodes for entry in (node.get("cte_map") or {}).get("map", [])
    }
    return frozenset(named - inner)


def _refusals(sql: str, nodes: Iterable[Mapping[str, Any]]) -> Iterator[Refusal]:
    for node in nodes:
        kind = str(node.get("type", ""))
        if kind.endswith("_NODE") and kind not in READING:
            yield Refusal(1, "must only read; it changes a table or writes a file")
        elif kind == "TABLE_FUNCTION":
            name = str(node["function"]["function_name"]).lower()
            if name not in HARMLESS:
                yield Refusal(_at(sql, node), f"table function {name}() is not allowed")
        elif kind == "BASE_TABLE" and _foreign(node):
            yield Refusal(_at(sql, node), f'"{node["table_name"]}" is not one of the tables')


def _foreign(node: Mapping[str, Any]) -> bool:
    """A table with a schema or catalog before its name, or a file name."""
    return bool(node["schema_name"] or node["catalog_name"]) or not re.fullmatch(r"\w+", node["table_name"])


def _at(sql: str, node: Mapping[str, Any]) -> int:
    place = int(node.get("query_location") or 0)
    encoded = sql.encode()
    return encoded[:place].count(b"\n") + 1 if place <= len(encoded) else 1
