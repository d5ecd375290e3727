"""Leaderboards: cards over runs -> ranked entries.

catalog(folders)    the boards that come with sitegen, and those of a site
rank(store, marks)  every board with its entries and with what it leaves out
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path

from sitegen.leaderboards import loading, ranking
from sitegen.leaderboards.definition import Board
from sitegen.model import Leaderboard
from sitegen.store import Store

__all__ = ["Board", "catalog", "rank"]


def catalog(folders: Sequence[Path] = ()) -> tuple[Board, ...]:
    """Boards by slug: the cards that come with sitegen and those in `folders`.

    Raises CardError with every fault of every card.
    """
    with as_file(files("sitegen.leaderboards") / "catalog") as bundled:
        return loading.catalog([bundled, *folders])


def rank(
    store: Store, marks: Mapping[str, str], boards: Sequence[Board] | None = None
) -> tuple[Leaderboard, ...]:
    """Rank the runs of `store` on every board.

    Args:
        store: runs to rank.
        marks: run -> why it must be read with care. A marked run keeps its place and carries the reason.
        boards: cards to use; those that come with sitegen by default.

    Returns:
        one leaderboard per card, or per group of a card that groups (the benchmark, the model), by card and
        group. Equal values share a rank. Runs without a value are listed with the reason, never dropped.

    Raises:
        CardError: a card failed; it names the card, its line and DuckDB's message.
    """
    used = catalog() if boards is None else boards
    store.prepare(frozenset().union(*(board.words for board in used)))
    return tuple(found for board in used for found in ranking.leaderboards(store, board, marks))
