"""Incident archive: every finding of every run as one line that can be narrowed."""

from __future__ import annotations

from sitegen.language import t
from sitegen.model import Page
from sitegen.pages import render as rendering
from sitegen.pages import words
from sitegen.pages.facets import facet, useful
from sitegen.pages.trend import trend
from sitegen.reports.shapes import ArchiveReport

PATH = "incidents/"
_YES = ("yes", "no")


def page(archive: ArchiveReport, render: rendering.Render) -> Page:
    """`/incidents/`, newest first."""
    rows = archive.incidents
    titles = {view.rule.code: view.rule.title for view in archive.rules}
    facets = useful(
        (
            facet("severity", "Severity", (row.severity.word for row in rows), words.SEVERITIES),
            facet("state", "At the end", ("open" if row.open else "over" for row in rows), ("open", "over")),
            facet(
                "explained", "Explained by people", ("yes" if row.explained else "no" for row in rows), _YES
            ),
            facet("rule", "Rule", (row.rule for row in rows)),
            facet("algorithm", "Algorithm", (row.algorithm for row in rows)),
            facet("model", "Model", (row.model for row in rows)),
            facet("month", "Month", (words.month(row.happened_at) for row in rows)),
        )
    )
    return rendering.page(
        render,
        "incidents.html",
        PATH,
        title=t("Incidents"),
        description=t(
            "{incidents} in {runs}.",
            incidents=words.plural(len(rows), "incident"),
            runs=words.plural(len(archive.runs), "run"),
        ),
        kind="incidents",
        search=False,
        rows=rows,
        facets=facets,
        titles=titles,
        runs=len(archive.runs),
        trend=trend(rows),
        severities=words.SEVERITIES,
    )
