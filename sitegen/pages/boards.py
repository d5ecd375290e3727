"""Leaderboards: an index, and a page for each that says what it ranks and what it leaves out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from sitegen.language import t
from sitegen.model import Leaderboard, Page
from sitegen.pages import render as rendering
from sitegen.pages import words
from sitegen.reports.shapes import ArchiveReport, Place, RunRow

PATH = "leaderboards/"
TOP = 3
_LONGEST = 200  # characters of a name that are looked at
_JOINTS = " -_.,:/=#(["
_SEED = re.compile(r"(?i)(?:^|[^a-z])(?:seed|s)$")


def pages(archive: ArchiveReport, render: rendering.Render) -> Iterable[Page]:
    """The index and one page per board."""
    yield index(archive, render)
    rows = {row.id: row for row in archive.runs}
    for board in archive.leaderboards:
        yield page(board, rows, render, archive.places.get(board.slug, ()))


def family(titles: Sequence[str]) -> str:
    """What the names of kin begin with, without the word that their seeds hang on; else the first name."""
    clipped = [title[:_LONGEST] for title in titles]
    least, most = min(clipped), max(clipped)
    same = next((i for i, (a, b) in enumerate(zip(least, most, strict=False)) if a != b), len(least))
    shared = _SEED.sub("", least[:same].rstrip(_JOINTS)).rstrip(_JOINTS)
    return shared if len(shared) > 2 else titles[0]


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


def page(
    board: Leaderboard, rows: Mapping[str, RunRow], render: rendering.Render, places: Sequence[Place] = ()
) -> Page:
    """`/leaderboards/<slug>/`; with `places` where seeds share one."""
    return rendering.page(
        render,
        "board.html",
        f"{PATH}{board.slug}/",
        title=board.title,
        description=words.clip(board.summary, 200),
        kind="board",
        board=board,
        rows=rows,
        places=places or tuple(Place(e.rank, e.value, (e,), 1, None) for e in board.entries),
        shared=bool(places),
        family=family,
        marked=sum(bool(entry.mark) for entry in board.entries),
    )
