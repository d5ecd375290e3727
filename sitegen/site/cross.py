"""Pages that span runs, kept for as long as nothing they show has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import fields

import orjson

from sitegen.archive import Archive
from sitegen.model import Page, Rule
from sitegen.pages import boards, compare, home, incidents, problems, projects, rules, runs
from sitegen.pages.render import Render
from sitegen.reports.shapes import ArchiveReport, RuleView

ROOM = "cross-pages"
_RULE = tuple(field.name for field in fields(Rule))


def cross_pages(report: ArchiveReport, render: Render, title: str) -> Iterator[Page]:
    """All pages that span runs, and the notes on removed ones."""
    yield home.page(report, render, title)
    yield runs.page(report, render)
    yield compare.page(report, render)
    yield from boards.pages(report, render)
    yield from projects.pages(report, render)
    yield incidents.page(report, render)
    yield from rules.pages(report, render)
    yield problems.page(report, render)
    present = {row.id for row in report.runs}
    for run, date, why in report.removed:
        if run not in present and runs.is_address(run):
            yield runs.tombstone(run, date, why, render)


def kept(
    archive: Archive, report: ArchiveReport, render: Render, title: str, digest: str
) -> tuple[Page, ...]:
    """`cross_pages` from the cache, or made and kept; `digest` stands for templates and code."""
    key = _key(report, title, digest)
    pages = _unpack(archive.cached(ROOM, key))
    if pages is None:
        pages = tuple(cross_pages(report, render, title))
        archive.keep(ROOM, key, orjson.dumps(pages))
    archive.prune(ROOM, {key})
    return pages


def _key(report: ArchiveReport, title: str, digest: str) -> str:
    """Hash of everything that the pages may show."""
    own = [getattr(report, field.name) for field in fields(report) if field.name != "rules"]
    shown = [title, digest, own, [_rule(view) for view in report.rules]]
    return hashlib.sha256(orjson.dumps(shown, option=orjson.OPT_NON_STR_KEYS)).hexdigest()


def _rule(view: RuleView) -> list[object]:
    """A rule without what only the engine needs of it, which is not all JSON."""
    card = [getattr(view.rule, name) for name in _RULE]
    card = [dict(part) if isinstance(part, dict) or hasattr(part, "items") else part for part in card]
    return [
        card,
        view.fired,
        sorted(view.outcomes.items()),
        view.cases,
        view.muted,
        dict(view.changed),
        view.score,
    ]


def _unpack(data: bytes | None) -> tuple[Page, ...] | None:
    try:
        return None if data is None else tuple(page(raw) for raw in orjson.loads(data))
    except (ValueError, TypeError, KeyError):
        return None  # damaged: made again


def page(raw: dict[str, object]) -> Page:
    """A page that went through JSON; raises TypeError or ValueError for anything else."""
    pairs = {key: tuple((name, value) for name, value in raw[key]) for key in ("filters", "found")}  # type: ignore[attr-defined]
    return Page(**(raw | pairs))  # type: ignore[arg-type]
