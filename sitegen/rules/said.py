"""Texts that a query answers, in the language of the card."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sitegen.rules.message import Value

_ANYTHING = re.compile(r"\\{\\}")


def in_words(value: Value, words: Mapping[str, str]) -> Value:
    """`value` as `words` say it; what they do not know, and numbers, stay.

    A key of `words` is a text of the query, or a pattern in which each `{}` stands for what its value
    repeats in the same order. Lists with commas are said item by item.
    """
    if not isinstance(value, str) or not words:
        return value
    whole = _said(value, words)
    if whole is not None:
        return whole
    parts = value.split(", ")
    return ", ".join(_said(part, words) or part for part in parts)


def _said(text: str, words: Mapping[str, str]) -> str | None:
    if text in words:
        return words[text]
    for pattern, told in words.items():
        found = (
            re.fullmatch(_ANYTHING.sub("(.+?)", re.escape(pattern)), text, re.DOTALL)
            if "{}" in pattern
            else None
        )
        if found:
            for part in found.groups():
                told = told.replace("{}", part.replace("{}", "{ }"), 1)
            return told
    return None
