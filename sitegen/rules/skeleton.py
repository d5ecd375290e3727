"""A new card to start from: it loads, its cases pass, and every line to fill in says TODO."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from importlib.resources import files

from sitegen import __version__
from sitegen.metrics import glossary

MARK = "TODO"


def skeleton(code: str, title: str, metric: str) -> tuple[str, str]:
    """File name and text of a card about `metric`, a key of the glossary. Raises KeyError for another."""
    known = glossary().by_key(metric)
    if known is None:
        raise KeyError(metric)
    text = (files("sitegen.rules") / "skeleton.md").read_text(encoding="utf-8")
    words = {"code": code, "title": title, "metric": metric, "named": known.title, "since": __version__}
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    return f"{code}-{_slug(title)}.md", text


def open_lines(text: str) -> tuple[tuple[int, str], ...]:
    """(1-based line, what to write there) for every line of a card that still says TODO."""
    marked = re.compile(rf"\b{MARK}: (.*)")
    found = ((number, marked.search(line)) for number, line in enumerate(text.splitlines(), 1))
    return tuple((number, one[1]) for number, one in found if one)


def next_free(code: str, taken: Iterable[str]) -> str:
    """The first free code after all of the same group."""
    group = code.split("-")[0]
    numbers = [int(one.split("-")[1]) for one in taken if one.startswith(f"{group}-")]
    return f"{group}-{max(numbers, default=0) + 1:02d}"


def _slug(title: str) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60].strip("-") or "new-rule"
