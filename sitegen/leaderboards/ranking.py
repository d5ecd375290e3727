"""Rows of a board's SQL -> ranked entries and what is left out."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sitegen.errors import CardError
from sitegen.language import t
from sitegen.leaderboards.definition import Board
from sitegen.model import BoardEntry, Leaderboard
from sitegen.store import RefusedError, Store

#: Values closer than this, relative to their size, share a rank: they differ by rounding alone.
SAME = 1e-9
SILENT = "the board's query says nothing about it"

Row = Mapping[str, Any]


def leaderboards(store: Store, board: Board, marks: Mapping[str, str]) -> Iterator[Leaderboard]:
    """The boards of one card, by group; a card without groups gives exactly one."""
    rows = _ask(store, board)
    titles = {run.id: run.title for run in store.facts()}
    silent = [{"run": run, "left_out": SILENT} for run in sorted(set(titles) - {row["run"] for row in rows})]
    for group, members in _groups(board, [*rows, *silent]).items():
        yield _leaderboard(board, group, members, titles, marks)


def _ask(store: Store, board: Board) -> list[dict[str, Any]]:
    try:
        return store.select(board.sql, board.params)
    except RefusedError as error:
        line = board.sql_line + error.line - 1
        raise CardError(f"{board.path}:{line}: {board.slug}: {error.message}") from None


def _groups(board: Board, rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Group -> its rows. A run that is left out of everything is left out of each group.

    Groups in which nobody is ranked would be empty boards: their runs share one without a group.
    """
    if board.group_by is None:
        return {"": list(rows)}
    name = board.group_by
    loose = [row for row in rows if row.get(name) is None]
    named = sorted({str(row[name]) for row in rows if row.get(name) is not None})
    groups = {group: [row for row in rows if str(row.get(name)) == group] for group in named}
    ranked = {group: [*loose, *members] for group, members in groups.items() if any(map(_is_ranked, members))}
    rest = [row for group, members in groups.items() if group not in ranked for row in members]
    return ranked if ranked and not rest else {**ranked, "": rest if ranked else [*loose, *rest]}


def _is_ranked(row: Row) -> bool:
    return _number(row.get("value")) is not None


def _leaderboard(
    board: Board, group: str, rows: Sequence[Row], titles: Mapping[str, str], marks: Mapping[str, str]
) -> Leaderboard:
    ranked = [row for row in rows if _is_ranked(row)]
    left_out = {(row["run"], _reason(row)) for row in rows if not _is_ranked(row)}
    return Leaderboard(
        slug=f"{board.slug}-{_slug(group)}" if group else board.slug,
        title=f"{board.title}: {group}" if group else board.title,
        summary=board.summary,
        unit=board.unit,
        better=board.better,
        columns=board.columns,
        entries=tuple(_entries(board, ranked, titles, marks)),
        left_out=tuple(sorted(left_out)),
        group=group,
    )


def _entries(
    board: Board, rows: Sequence[Row], titles: Mapping[str, str], marks: Mapping[str, str]
) -> Iterator[BoardEntry]:
    sign = -1.0 if board.better == "up" else 1.0
    rank, before = 0, math.nan
    ordered = sorted(rows, key=lambda one: (sign * float(one["value"]), one["run"]))
    for place, row in enumerate(ordered, start=1):
        value = float(row["value"])
        if not math.isclose(value, before, rel_tol=SAME, abs_tol=0.0):
            rank, before = place, value
        run = str(row["run"])
        extra = {name: _shown(row[name]) for name in board.columns}
        yield BoardEntry(rank, run, titles[run], value, _step(row), marks.get(run, ""), extra)


def _number(value: Any) -> float | None:
    """`value` as a finite number; what is not finite cannot be ranked."""
    return float(value) if value is not None and math.isfinite(value) else None


def _reason(row: Row) -> str:
    return t(str(row.get("left_out") or "it has no value"))


def _step(row: Row) -> int | None:
    return None if row["step"] is None else int(row["step"])


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def _slug(group: str) -> str:
    """Lower-case words of `group`; with a hash where that is not all of it, so that no two groups meet."""
    plain = re.sub(r"[^a-z0-9]+", "-", group.lower()).strip("-")
    if plain == group:
        return plain
    return f"{plain[:60]}-{hashlib.sha256(group.encode()).hexdigest()[:6]}".strip("-")
