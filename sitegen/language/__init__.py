"""What sitegen says in which language: English sentences are the keys, `<code>.toml` has the others.

A sentence is a whole pattern with named places, so that another language may order it as it likes. The
language is that of a build and lies in a context variable: sentences are made in many rooms, none of which
should have to hand it on. What is not in the catalog is said in English.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.resources import files

ENGLISH = "en"
#: Code of a language -> how it calls itself.
LANGUAGES: Mapping[str, str] = {ENGLISH: "English", "zh": "中文"}

TEXT, METRIC, SCRIPT, PROBLEM, FACT = "text", "metric", "script", "problem", "fact"  # tables of a catalog

_spoken: ContextVar[str] = ContextVar("language", default=ENGLISH)


def spoken() -> str:
    """Code of the language that is spoken now."""
    return _spoken.get()


def choose(code: str) -> None:
    """Speak `code` from now on, in a process that does nothing else. Raises KeyError for an unknown one."""
    LANGUAGES[code]
    _spoken.set(code)


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Speak `code` inside. Raises KeyError for an unknown one."""
    LANGUAGES[code]
    token = _spoken.set(code)
    try:
        yield
    finally:
        _spoken.reset(token)


@cache
def catalog(code: str) -> Mapping[str, Mapping[str, str]]:
    """Table -> English -> language `code`; empty tables for English itself."""
    if code == ENGLISH:
        return {TEXT: {}, METRIC: {}, SCRIPT: {}, PROBLEM: {}, FACT: {}}
    return tomllib.loads((files("sitegen.language") / f"{code}.toml").read_text(encoding="utf-8"))


def known(text: str, table: str = TEXT) -> str | None:
    """`text` in the spoken language, or None where the catalog does not have it; never in English."""
    return catalog(_spoken.get())[table].get(text)


def t(text: str, /, **places: object) -> str:
    """`text` in the spoken language, with its `{places}` filled."""
    pattern = catalog(_spoken.get())[TEXT].get(text, text)
    return pattern.format(**places) if places else pattern


def titled(title: str) -> str:
    """A title or unit of a metric in the spoken language: `Score, highest` is 得分（最大）."""
    if _spoken.get() == ENGLISH:
        return title
    whole = known(title, METRIC)
    if whole is not None:
        return whole
    first, *rest = (known(part, METRIC) for part in title.split(", "))
    parts = [part for part in rest if part is not None]
    if first is None or len(parts) < len(rest):
        return title
    return t("{title} ({aspects})", title=first, aspects=t(", ").join(parts)) if parts else first
