"""A leaderboard as its card defines it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """What a board ranks, and how.

    Args:
        slug: name in addresses; the file name of the card.
        title: heading; a board with groups adds the group to it.
        summary: what it ranks, over what.
        unit: of the value, "" where dimensionless.
        better: "up" or "down".
        group_by: column that splits the card into several boards, or None.
        columns: result columns shown beside the value.
        params: numbers the SQL names as $name.
        sql: one SELECT: run, value, step, left_out, the group and the columns.
        sql_line: line of the card where the SQL begins.
        words: words of the SQL, to load only the metrics it may name.
        sections: prose of the card.
        path: the card, as shown to people.
    """

    slug: str
    title: str
    summary: str
    unit: str
    better: str
    group_by: str | None
    columns: tuple[str, ...]
    params: Mapping[str, float | int | str | bool]
    sql: str
    sql_line: int
    words: frozenset[str]
    sections: Mapping[str, str]
    path: str
