"""Leaderboards: an index, and a page for each that says what it ranks and what it leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby

from sitegen.language import t
from sitegen.model import Leaderboard, Page
from sitegen.pages import render as rendering
from sitegen.pages import words
from sitegen.reports.shapes import ArchiveReport, RunRow

PATH = "leaderboards/"
TOP = 3


def pages(archive: ArchiveReport, render: rendering.Render) -> Iterable[Page]:
    """The index and one page per board."""
    yield index(archive, render)
    rows = {row.id: row for row in archive.runs}
    for board in archive.leaderboards:
        yield page(board, rows, render)


def index(archive: ArchiveReport, render: rendering.Render) -> Page:
    """`/leaderboards/`: all boards by group with their first places."""
    ordered = sorted(
        (board for board in archive.leaderboards if board.entries), key=lambda board: board.group
    )
    groups = [(name, tuple(boards)) for name, boards in groupby(ordered, key=lambda board: board.group)]
    return rendering.page(
        render,
        "boards.html",
        PATH,
        title="Leaderboards",
        description=t("What is ranked, over what, and who leads."),
        kind="boards",
        search=False,
        groups=groups,
        empty=[board for board in archive.leaderboards if not board.entries],
        top=TOP,
    )


def page(board: Leaderboard, rows: Mapping[str, RunRow], render: rendering.Render) -> Page:
    """`/leaderboards/<slug>/`."""
    return rendering.page(
        render,
        "board.html",
        f"{PATH}{board.slug}/",
        title=board.title,
        description=words.clip(board.summary, 200),
        kind="board",
        board=board,
        rows=rows,
        marked=sum(bool(entry.mark) for entry in board.entries),
    )
