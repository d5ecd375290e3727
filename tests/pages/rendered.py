"""Run pages rendered with the site's own templates, and questions to ask of their HTML."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser

from sitegen.model import Page
from sitegen.pages import run as run_page
from sitegen.reports.shapes import RunReport
from sitegen.site.rendering import renderer
from sitegen.site.templates import environment
from tests.pages import made_runs

VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}


def page(report: RunReport) -> Page:
    return run_page.page(report, renderer(environment()))


@cache
def made(name: str) -> Page:
    """The page of one of `made_runs.ALL`."""
    return page(made_runs.ALL[name]())


class Outline(HTMLParser):
    """Ids, links, headings, text and the balance of tags."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.faults: list[str] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.faults += [f"never closed: {tag}" for tag in self._open]

    @property
    def text(self) -> str:
        """All text with single spaces."""
        return " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.tags.append(tag)
        self.ids += [value for value in (named.get("id"),) if value]
        self.links += [value for value in (named.get("href"),) if value]
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"closed out of turn: {tag}")

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def outline(name: str) -> Outline:
    return Outline(made(name).html)
