"""Stored column names. DuckDB's ignore case, so names that differ in case only get a "#2", "#3" suffix."""

from __future__ import annotations

from collections.abc import Iterable

FIXED = ("row", "segment", "step", "live", "time", "line", "source", "cut")


def stored(names: Iterable[str]) -> dict[str, str]:
    """Name as logged -> name of its column, in sorted order of the logged names; unique whatever the case."""
    taken = {name.casefold() for name in FIXED}
    logged = sorted(set(names))
    exact = {name.casefold() for name in logged}
    result: dict[str, str] = {}
    for name in logged:
        column, n = name, 1
        while column.casefold() in taken or (n > 1 and column.casefold() in exact):
            n += 1
            column = f"{name}#{n}"
        taken.add(column.casefold())
        result[name] = column
    return result
