"""The page that lays runs over each other. Which ones is in its address, so the page itself holds none."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from sitegen.language import t
from sitegen.model import Page
from sitegen.pages import render as rendering
from sitegen.reports import interval
from sitegen.reports.shapes import ArchiveReport

PATH = "compare/"
MOST = 20  # runs in one comparison
_LISTED = 15


def page(archive: ArchiveReport, render: rendering.Render) -> Page:
    """`/compare/`: what it needs, and the newest runs; the rest is made in the browser."""
    return rendering.page(
        render,
        "compare.html",
        PATH,
        title=t("Compare runs"),
        description=t(
            "Two to twenty runs over each other: curves, outcomes, settings that differ, incidents."
        ),
        kind="compare",
        search=False,
        rows=archive.runs[:_LISTED],
        total=len(archive.runs),
        quantiles=[round(interval.quantile(df), 6) for df in range(1, MOST)],
    )


def link(root: str, runs: Iterable[str], **more: str) -> str:
    """Address of the comparison of `runs`, from a page whose way to the site root is `root`."""
    asked = "".join(f"&{key}={quote(value)}" for key, value in more.items())
    return f"{root}{PATH}?runs={','.join(map(quote, runs))}{asked}"
