"""Sentences that were made in English and stored, in the spoken language: those of data problems.

An archive is made once for all languages, so what its problems say is recognised when it is shown: table
[problem] of a catalog has the English patterns. What fills a place may be a sentence of the table itself.
"""

from __future__ import annotations

import re
from functools import lru_cache

from sitegen.language import ENGLISH, PROBLEM, catalog, spoken

_PLACE = re.compile(r"\{(\w+)\}")
_LONGEST = 2_000  # characters of a text that is looked at: a log may have filled its places
_DEEPEST = 3


def retold(text: str) -> str:
    """`text` in the spoken language where its pattern is known, else as it is."""
    code = spoken()
    return text if code == ENGLISH or len(text) > _LONGEST else _retold(code, text, 0)


@lru_cache(maxsize=8192)
def _retold(code: str, text: str, depth: int) -> str:
    said = catalog(code)[PROBLEM].get(text)
    if said is not None:
        return said
    for pattern, words in _patterns(code):
        if found := pattern.fullmatch(text):
            places = found.groupdict()
            if depth < _DEEPEST:
                places = {name: _retold(code, value, depth + 1) for name, value in places.items()}
            return words.format(**places)
    return text


@lru_cache
def _patterns(code: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Patterns with places, those with the most words of their own first."""
    found = [(english, words) for english, words in catalog(code)[PROBLEM].items() if _PLACE.search(english)]
    found.sort(key=lambda one: -len(_PLACE.sub("", one[0])))
    return tuple((re.compile(_expression(english), re.DOTALL), words) for english, words in found)


def _expression(english: str) -> str:
    """A regular expression for what a pattern may have become; a place holds a sign or more."""
    parts = _PLACE.split(english)
    return "".join(f"(?P<{part}>.+?)" if place % 2 else re.escape(part) for place, part in enumerate(parts))
