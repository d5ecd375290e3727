"""Markdown of cards and notes to HTML; raw HTML in it is text, scripts cannot be linked."""

from __future__ import annotations

import re
from functools import cache

from markdown_it import MarkdownIt
from markupsafe import Markup

_LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+", re.MULTILINE)


@cache
def _reader() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def html(markdown: str) -> Markup:
    """Block-level HTML of `markdown`."""
    return Markup(_reader().render(markdown))  # noqa: S704  markdown-it escapes, html is off


def inline(markdown: str) -> Markup:
    """One line of `markdown` without a paragraph around it."""
    return Markup(_reader().renderInline(markdown))  # noqa: S704
