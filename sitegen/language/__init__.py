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
def sentences(code: str) -> Mapping[str, str]:
    """English -> the sentence in language `code`; empty for English itself."""
    if code == ENGLISH:
        return {}
    return tomllib.loads((files("sitegen.language") / f"{code}.toml").read_text(encoding="utf-8"))


def known(text: str) -> str | None:
    """`text` in the spoken language, or None where the catalog does not have it; never in English."""
    return sentences(_spoken.get()).get(text)


def t(text: str, /, **places: object) -> str:
    """`text` in the spoken language, with its `{places}` filled."""
    pattern = sentences(_spoken.get()).get(text, text)
    return pattern.format(**places) if places else pattern
