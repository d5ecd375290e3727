"""Markdown of cards and notes to HTML; raw HTML is text, images are links, scripts cannot be linked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markupsafe import Markup, escape

_REL = "nofollow noopener"
_LOWER = 3  # levels: cards have headings of the third
_LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+", re.MULTILINE)


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.add_render_rule("image", _linked)
    return reader


@cache
def _people() -> MarkdownIt:
    """Reader of notes by people: links are nobody's recommendation, headings stay below those of the page."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.add_render_rule("image", _linked_only)
    reader.add_render_rule("link_open", _nofollow)
    reader.core.ruler.push("lower_headings", _lowered)
    return reader


def _nofollow(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    tokens[index].attrSet("rel", _REL)
    return renderer.renderToken(tokens, index, options, env)


def _linked_only(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return _linked(renderer, tokens, index, options, env).replace("<a ", f'<a rel="{_REL}" ', 1)


def _lowered(state: StateCore) -> None:
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1:]) + _LOWER)}"


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


def note(markdown: str) -> Markup:
    """Block-level HTML of what a person wrote beside a run."""
    return Markup(_people().render(markdown))  # noqa: S704  markdown-it escapes, html is off


def inline(markdown: str) -> Markup:
    """One line of `markdown` without a paragraph around it."""
    return Markup(_reader().renderInline(markdown))  # noqa: S704
