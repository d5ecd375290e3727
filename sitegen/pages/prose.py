"""Markdown of cards and notes to HTML; raw HTML is text, images are links, scripts cannot be linked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape

_LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+", re.MULTILINE)


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.add_render_rule("image", _linked)
    return reader


def _linked(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    """A link in place of an image, its words within a link: a page loads nothing from elsewhere."""
    token = tokens[index]
    address = str(token.attrs.get("src", ""))
    words = renderer.renderInlineAsText(token.children, options, env) or address
    if sum(before.nesting for before in tokens[:index] if before.type.startswith("link_")):
        return str(escape(words))
    return f'<a href="{escape(address)}">{escape(words)}</a>'


def html(markdown: str) -> Markup:
    """Block-level HTML of `markdown`."""
    return Markup(_reader().render(markdown))  # noqa: S704  markdown-it escapes, html is off


def inline(markdown: str) -> Markup:
    """One line of `markdown` without a paragraph around it."""
    return Markup(_reader().renderInline(markdown))  # noqa: S704
