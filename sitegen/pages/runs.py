"""All runs: one dense table, complete without JavaScript."""

from __future__ import annotations

import re

from sitegen.language import t
from sitegen.model import Page
from sitegen.pages import render as rendering
from sitegen.pages import words
from sitegen.pages.facets import facet, useful
from sitegen.reports.shapes import ArchiveReport

PATH = "runs/"
_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def page(archive: ArchiveReport, render: rendering.Render) -> Page:
    """`/runs/`: every run of the archive, newest first."""
    rows = archive.runs
    facets = useful(
        (
            facet("status", "Status", (str(row.status) for row in rows), words.STATUSES),
            facet("algorithm", "Algorithm", (row.algorithm for row in rows)),
            facet("model", "Model", (row.model for row in rows)),
            facet("project", "Project", (row.project for row in rows)),
            facet("tag", "Tag", (tag for row in rows for tag in row.tags)),
        )
    )
    return rendering.page(
        render,
        "runs.html",
        PATH,
        title=t("Runs"),
        description=t("All {runs} of the archive.", runs=words.plural(len(rows), "run")),
        kind="runs",
        search=False,
        rows=rows,
        facets=facets,
        projects=archive.projects,
        removed=[(run, date, why, is_address(run)) for run, date, why in archive.removed],
    )


def is_address(run: str) -> bool:
    """Whether `run`, written by a person into a file, can be part of a page's path."""
    return _SLUG.fullmatch(run) is not None


def tombstone(run: str, date: str, why: str, render: rendering.Render) -> Page:
    """Page of a run that was taken out of the archive on purpose."""
    return rendering.page(
        render,
        "tombstone.html",
        f"{PATH}{run}/",
        title=run,
        description=t("This run was removed on {date}.", date=date),
        kind="removed",
        search=False,
        run=run,
        date=date,
        why=why,
    )
