"""Projects: what their runs reached over time, and what was varied against what came of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.charts.timeline import Dot, timeline
from sitegen.language import t
from sitegen.model import Page
from sitegen.pages import render as rendering
from sitegen.pages import words
from sitegen.pages.rows import last_seen
from sitegen.reports.projects import slug
from sitegen.reports.shapes import ArchiveReport, Project, RunRow

PATH = "projects/"
_CHARTS = 4


@dataclass(frozen=True, slots=True)
class Timeline:
    """A chart of one kind of score."""

    label: str
    runs: int
    svg: Markup


@dataclass(frozen=True, slots=True)
class Listed:
    """A project in the list of all."""

    project: Project
    statuses: Sequence[tuple[str, int]]
    best: RunRow | None
    last: float | None  # Unix seconds


def path(name: str) -> str:
    """Where the page of the project `name` lies below the site root."""
    return f"{PATH}{slug(name)}/"


def pages(archive: ArchiveReport, render: rendering.Render) -> Iterable[Page]:
    """The list of projects and a page for each; nothing where no run names one."""
    rows = {row.id: row for row in archive.runs}
    if archive.projects:
        yield _index(archive.projects, rows, render)
    for project in archive.projects:
        yield page(project, [row for row in archive.runs if row.project == project.name], render)


def page(project: Project, rows: Sequence[RunRow], render: rendering.Render) -> Page:
    """`/projects/<slug>/`; `rows` newest first."""
    return rendering.page(
        render,
        "project.html",
        path(project.name),
        title=words.clip(project.name, 200),
        description=t(
            "{runs} of the project {name}.",
            runs=words.plural(len(rows), "run"),
            name=words.clip(project.name, 120),
        ),
        kind="project",
        search=False,
        project=project,
        rows=rows,
        statuses=_statuses(rows),
        timelines=timelines(rows, rendering.root(path(project.name))),
        undated=sum(row.best is not None and last_seen(row) is None for row in rows),
    )


def timelines(rows: Sequence[RunRow], root: str) -> tuple[Timeline, ...]:
    """A chart per kind of score that two dated runs or more reached, the most frequent first."""
    found: dict[tuple[str, str], list[Dot]] = defaultdict(list)
    for row in rows:
        when = last_seen(row)
        if row.best is not None and when is not None:
            dot = Dot(when, row.best.value, words.date(when), str(row.status), words.clip(row.title, 80),
                      f"{root}runs/{row.id}/")  # fmt: skip
            found[row.best.label, row.best.name].append(dot)
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple(
        Timeline(label if label == name else f"{label} ({name})", len(dots), timeline(dots, label))
        for (label, name), dots in ordered[:_CHARTS]
        if len(dots) > 1
    )


def _statuses(rows: Iterable[RunRow]) -> list[tuple[str, int]]:
    counts = Counter(str(row.status) for row in rows)
    return [(word, counts[word]) for word in words.STATUSES if counts[word]]


def _index(projects: Sequence[Project], rows: Mapping[str, RunRow], render: rendering.Render) -> Page:
    listed = []
    for project in projects:
        own = [rows[run] for run in project.runs if run in rows]
        dates = [when for row in own if (when := last_seen(row)) is not None]
        scored = [row for row in own if row.best is not None]
        best = max(scored, key=lambda row: row.best.value if row.best else 0.0, default=None)
        listed.append(Listed(project, _statuses(own), best, max(dates, default=None)))
    return rendering.page(
        render,
        "projects.html",
        PATH,
        title=t("Projects"),
        description=t("{projects} of the archive.", projects=words.plural(len(projects), "project")),
        kind="projects",
        search=False,
        listed=listed,
    )
