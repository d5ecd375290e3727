"""Home: what is new, what is sick, who leads, the last runs, open problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from sitegen.language import t
from sitegen.model import BoardEntry, Leaderboard, Page, Severity, Status
from sitegen.pages import render as rendering
from sitegen.pages import words
from sitegen.pages.rows import last_seen
from sitegen.reports.shapes import ArchiveReport, IncidentRow, RunRow

DAY_S = 86_400.0
LAST_RUNS, LISTED = 15, 6
SICK = (Status.CRASHED, Status.FAILED)


@dataclass(frozen=True, slots=True)
class Lead:
    """First place of a leaderboard, and what it beat."""

    board: Leaderboard
    entry: BoardEntry
    before: BoardEntry | None


@dataclass(frozen=True, slots=True)
class News:
    """What came in a stretch of time before the newest time stamp of the archive."""

    name: str
    runs: tuple[RunRow, ...]
    incidents: tuple[IncidentRow, ...]
    records: tuple[Lead, ...]


def page(archive: ArchiveReport, render: rendering.Render, title: str = "RL run archive") -> Page:
    """The home page; an empty archive gets one that says how to add a run."""
    if not archive.runs:
        return rendering.page(
            render, "empty.html", "", title=title, description=t("How to add the first run."), kind="home",
            archive=archive,
        )  # fmt: skip
    leads = tuple(_leads(archive.leaderboards))
    return rendering.page(
        render,
        "home.html",
        "",
        title=title,
        description=f"{words.plural(len(archive.runs), 'run')}, {_as_of(archive)}",
        kind="home",
        search=False,
        archive=archive,
        statuses=Counter(str(row.status) for row in archive.runs),
        growing=sum(row.growing for row in archive.runs),
        news=(news(archive, leads, t("Last day"), 0, 1), news(archive, leads, t("Earlier this week"), 1, 7)),
        sick=sick(archive.runs),
        leads=leads,
        last=archive.runs[:LAST_RUNS],
        problems=Counter(problem.kind for _, problem in archive.problems),
        listed=LISTED,
    )


def news(archive: ArchiveReport, leads: Iterable[Lead], name: str, after: int, before: int) -> News:
    """Runs, incidents and records `after` to `before` days older than `archive.now`; remarks are no news."""

    def fresh(stamp: float | None) -> bool:
        age = None if stamp is None or archive.now is None else (archive.now - stamp) / DAY_S
        return age is not None and (after < age <= before or age == after == 0)

    rows = {row.id: row for row in archive.runs if fresh(last_seen(row))}
    return News(
        name,
        tuple(rows.values()),
        tuple(i for i in archive.incidents if i.severity > Severity.INFO and fresh(i.happened_at)),
        tuple(lead for lead in leads if lead.entry.run in rows),
    )


def sick(runs: Iterable[RunRow]) -> tuple[RunRow, ...]:
    """Runs that crashed or failed, newest first."""
    return tuple(row for row in runs if row.status in SICK)


def _leads(boards: Iterable[Leaderboard]) -> Iterable[Lead]:
    for board in boards:
        clean = [entry for entry in board.entries if not entry.mark]
        if clean:
            yield Lead(board, clean[0], clean[1] if len(clean) > 1 else None)


def _as_of(archive: ArchiveReport) -> str:
    return (
        t("as of {when}", when=words.minute(archive.now))
        if archive.now is not None
        else t("without time stamps")
    )
