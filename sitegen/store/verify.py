"""What is wrong with the SQL of a card, found without any run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import duckdb

from sitegen.cards import nearest
from sitegen.store import relations, statement
from sitegen.store.statement import Refusal


@dataclass(frozen=True, slots=True)
class Answers:
    """What SQL of a card was found to be.

    Args:
        columns: result column -> DuckDB type, in the order of the SELECT; empty where the SQL is refused.
        tables: relations it reads.
        words: every identifier-like word, so that only the metrics it may name are loaded.
        refusals: what is wrong, by line.
    """

    columns: Mapping[str, str]
    tables: frozenset[str]
    words: frozenset[str]
    refusals: tuple[Refusal, ...]


def verify(sql: str, params: Mapping[str, object]) -> Answers:
    """Check SQL of a card against the relations: one SELECT, known names, no bad habits, all params used."""
    parsed = statement.parse(sql)
    if parsed.refusals:
        return Answers({}, parsed.tables, parsed.words, parsed.refusals)
    known = relations.columns()
    found = [
        Refusal(1, f"no relation {table}; there are {', '.join(known)}{nearest(table, known)}")
        for table in sorted(parsed.tables - known.keys())
    ]
    found += _parameters(parsed, params)
    columns: Mapping[str, str] = {}
    if not parsed.tables - known.keys() and parsed.parameters <= params.keys():
        columns, more = _bind(parsed, params)
        found += more
    found += statement.habits(parsed)
    found += statement.shadows(parsed, known)
    return Answers(columns, parsed.tables, parsed.words, tuple(sorted(set(found), key=lambda one: one.line)))


def _parameters(parsed: statement.Statement, params: Mapping[str, object]) -> list[Refusal]:
    unknown = sorted(parsed.parameters - params.keys())
    unused = sorted(params.keys() - parsed.parameters)
    return [
        *(Refusal(_line(parsed.sql, name), f"no param ${name}{nearest(name, params)}") for name in unknown),
        *(Refusal(1, f"param {name} is set but the SQL does not use ${name}") for name in unused),
    ]


def _line(sql: str, name: str) -> int:
    return sql[: max(sql.find("$" + name), 0)].count("\n") + 1


def _bind(
    parsed: statement.Statement, params: Mapping[str, object]
) -> tuple[Mapping[str, str], list[Refusal]]:
    given = {name: params[name] for name in parsed.parameters}
    try:
        rows = _described(parsed, given, narrow="steps" in parsed.tables and not statement.has_star(parsed))
    except duckdb.Error:
        try:  # once more with every column, so that the complaint can name those that were meant
            rows = _described(parsed, given, narrow=False)
        except duckdb.Error as error:
            return {}, [statement.refusal(error)]
    names = [str(row[0]) for row in rows]
    twice = sorted({name for name in names if names.count(name) > 1})
    return {str(row[0]): str(row[1]) for row in rows}, [
        Refusal(1, f"two result columns {name}") for name in twice
    ]


def _described(
    parsed: statement.Statement, given: Mapping[str, object], *, narrow: bool
) -> list[tuple[object, ...]]:
    """Columns of the answer, as DuckDB's DESCRIBE lists them."""
    cursor = relations.blank().cursor()
    if narrow:
        relations.narrow(cursor, parsed.words, relations.columns()["steps"])
    return cursor.execute(f"DESCRIBE {parsed.sql}", given).fetchall()
