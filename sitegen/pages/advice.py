"""Causes and advice of a card as HTML, with the run's own value beside every config key."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

from sitegen.language import t
from sitegen.pages import words

_KEY = re.compile(r"[A-Za-z_]\w*(?:\.\w+)+")
_LONGEST = 60


def lines(texts: Sequence[str], config: Mapping[str, str]) -> tuple[Markup, ...]:
    """Each of `texts` (one line of Markdown) as HTML; config keys in backticks show what the run used.

    Raw HTML is text, links other than http(s) are words.
    """
    return tuple(line(text, config) for text in texts)


def line(text: str, config: Mapping[str, str]) -> Markup:
    """One line of Markdown as HTML; see `lines`."""
    return Markup(_reader().renderInline(text, {"config": config}))  # noqa: S704  markdown-it escapes


def current(key: str, config: Mapping[str, str]) -> str | None:
    """What the run set `key` to. A key may be short for one longer key, if only one ends with it."""
    full = named(key, config)
    return None if full is None else config[full]


def named(key: str, config: Mapping[str, str]) -> str | None:
    """The key of `config` that `key` means; None where the run does not state it."""
    name = key.split("=")[0].strip().lstrip("+~")
    if not _KEY.fullmatch(name):
        return None
    if name in config:
        return name
    longer = [full for full in config if full.endswith("." + name)]
    return longer[0] if len(longer) == 1 else None


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).disable("image")
    reader.validateLink = lambda url: url.startswith(("https://", "http://"))  # type: ignore[method-assign]
    reader.add_render_rule("code_inline", _code)
    return reader


def _code(_: Any, tokens: Sequence[Token], index: int, __: Any, env: Mapping[str, Any]) -> str:
    content = tokens[index].content
    value = current(content, env["config"])
    now = "" if value is None else f' <span class="sg-now">{escape(_now(value))}</span>'
    return f"<code>{escape(content)}</code>{now}"


def _now(value: str) -> str:
    return t("(now {value})", value=words.clip(value, _LONGEST))
