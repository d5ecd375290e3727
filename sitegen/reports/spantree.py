"""Spans of one trajectory in the order in which they are read: a parent, then what happened within it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]

MISSING = "the span it belongs to is missing"
LOOP = "it is its own ancestor"


def ordered(rows: Sequence[Row]) -> list[tuple[Row, int, str]]:
    """(span, depth, note) of all spans. One without its parent stands at the top, as does a loop's first."""
    rows = sorted(rows, key=_start)
    known = {row["span"] for row in rows}
    children: dict[str | None, list[int]] = {}
    tops: list[tuple[int, str]] = []
    for at, row in enumerate(rows):
        parent = row["parent"]
        if parent in known:
            children.setdefault(parent, []).append(at)
        else:
            tops.append((at, MISSING if parent else ""))
    found: list[tuple[Row, int, str]] = []
    seen: set[int] = set()
    for at, note in tops:
        _below(at, note, rows, children, seen, found)
    for at in range(len(rows)):
        if at not in seen:
            _below(at, LOOP, rows, children, seen, found)
    return found


def _below(
    top: int,
    note: str,
    rows: Sequence[Row],
    children: Mapping[str | None, Sequence[int]],
    seen: set[int],
    found: list[tuple[Row, int, str]],
) -> None:
    """Add a span and all within it. Not by recursion: traces may be nested as deeply as they like."""
    waiting = [(top, 0, note)]
    while waiting:
        at, depth, said = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        found.append((rows[at], depth, said))
        inner = children.get(rows[at]["span"], ())
        waiting += [(child, depth + 1, "") for child in reversed(inner)]


def _start(row: Row) -> tuple[float, str]:
    start = row["start_s"]
    return (float("inf") if start is None else start, row["span"] or "")
