"""Rules and leaderboards as cards define them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sitegen.model.words import Severity


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule card as the engine and the pages see it."""

    code: str
    slug: str
    title: str
    summary: str
    kind: str  # "incident" or "phase"
    severity: Severity
    needs: tuple[str, ...]
    since: str
    params: Mapping[str, float | int | str | bool]
    sql: str
    sections: Mapping[str, str]  # heading -> Markdown
    path: str
    relation: str = "steps"  # what a row is: "steps", "evals" (validations) or "events" (log lines)
    persist: tuple[int, int] = (1, 1)  # opens when true in k of m rows
    exit: int = 0  # rows of calm that close it
    mute: bool = False  # opens nothing during warm-up
    also: tuple[str, ...] = ()  # what people call it, in any language: search finds the card by these
    presets: tuple[str, ...] = ()  # runs only where one of these was asked for; () = everywhere
    severities: tuple[Severity, ...] = ()  # all that its findings may have, mildest first
    meanings: Mapping[str, str] = field(default_factory=dict)  # param -> what it is, in words


@dataclass(frozen=True, slots=True)
class BoardEntry:
    rank: int
    run: str
    title: str
    value: float
    step: int | None
    mark: str  # "" or why the entry is marked, e.g. "open critical incident REW-05"
    extra: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Leaderboard:
    slug: str
    title: str
    summary: str  # what it ranks, over what
    unit: str
    better: str  # "up" or "down"
    columns: tuple[str, ...]  # keys of BoardEntry.extra shown
    entries: tuple[BoardEntry, ...]
    left_out: tuple[tuple[str, str], ...]  # (run, why)
    group: str = ""  # e.g. the benchmark
