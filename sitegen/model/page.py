"""A finished page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """A finished page: `html` is a complete fragment, autoescaped where it holds data."""

    path: str  # "runs/<run>/" below the site root, always ends with "/"; "" is home
    title: str
    description: str
    html: str
    search: bool = True
    kind: str = "page"  # "run", "rule", "board", "incidents", "home", ...
    filters: tuple[tuple[str, str], ...] = ()  # (name, value) by which search narrows; a name may recur
    also: tuple[str, ...] = ()  # other names of what it is about, by which it is found
    found: tuple[tuple[str, str], ...] = ()  # (anchor, severity word or "muted") of incidents told on it
