"""Leaderboards in which the runs of a seed group share one place: their mean, and how sure it is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sitegen.model import BoardEntry, Leaderboard
from sitegen.reports.interval import interval
from sitegen.reports.shapes import Place, SeedGroup

_SAME = 1e-9  # as on boards of single runs: what differs by rounding alone shares a rank


def placed(boards: Iterable[Leaderboard], groups: Sequence[SeedGroup]) -> dict[str, tuple[Place, ...]]:
    """Slug -> places, for boards that rank two runs or more of a group."""
    kin = {one.run: group for group in groups for one in group.members}
    found = ((board.slug, _places(board, kin)) for board in boards)
    return {slug: places for slug, places in found if any(one.interval for one in places)}


def _places(board: Leaderboard, kin: Mapping[str, SeedGroup]) -> tuple[Place, ...]:
    together: dict[tuple[str, ...], list[BoardEntry]] = {}
    for entry in board.entries:
        group = kin.get(entry.run)
        key = tuple(one.run for one in group.members) if group else (entry.run,)
        together.setdefault(key, []).append(entry)
    places = [_place(entries, len(key)) for key, entries in together.items()]
    sign = -1.0 if board.better == "up" else 1.0
    places.sort(key=lambda one: (sign * one.value, one.entries[0].run))
    return tuple(_ranked(places))


def _place(entries: Sequence[BoardEntry], members: int) -> Place:
    if len(entries) == 1:
        return Place(0, entries[0].value, tuple(entries), members, None)
    found = interval([one.value for one in entries])
    return Place(0, found.mean, tuple(entries), members, found)


def _ranked(places: Iterable[Place]) -> Iterable[Place]:
    rank, before = 0, math.nan
    for number, one in enumerate(places, start=1):
        if not math.isclose(one.value, before, rel_tol=_SAME, abs_tol=0.0):
            rank, before = number, one.value
        yield replace(one, rank=rank)
