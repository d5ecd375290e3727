"""How many incidents each month brought, for the archive of incidents."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.charts.months import Column, months
from sitegen.language import t
from sitegen.pages import words
from sitegen.reports.shapes import IncidentRow


@dataclass(frozen=True, slots=True)
class Trend:
    """The drawing, and its numbers: (month, count per severity, all) of months with any, newest first."""

    drawing: Markup
    rows: tuple[tuple[str, tuple[int, ...], int], ...]
    undated: int


def trend(incidents: Sequence[IncidentRow]) -> Trend | None:
    """Counts by month and severity, months without any included; None with fewer than two months."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in incidents:
        counts[words.month(row.happened_at)][row.severity.word] += 1
    undated = sum(counts.pop("", Counter()).values())
    if len(counts) < 2:
        return None
    rows = [
        (name, tuple(counts[name][word] for word in words.SEVERITIES))
        for name in _all(min(counts), max(counts))
    ]
    columns = [
        Column(name, _told(name, each), f"?month={name}", tuple(zip(words.SEVERITIES, each, strict=True)))
        for name, each in rows
    ]
    label = t("Incidents by month, {first} to {last}", first=rows[0][0], last=rows[-1][0])
    told = tuple((name, each, sum(each)) for name, each in reversed(rows) if any(each))
    return Trend(months(columns, label), told, undated)


def _all(first: str, last: str) -> Iterator[str]:
    """Every month from `first` to `last`, both as `2026-11`."""
    year, month = map(int, first.split("-"))
    while (name := f"{year:04}-{month:02}") <= last:
        yield name
        year, month = (year + 1, 1) if month == 12 else (year, month + 1)


def _told(name: str, counts: Sequence[int]) -> str:
    parts = [words.severity(word, n) for word, n in zip(words.SEVERITIES, counts, strict=True) if n]
    return f"{name}: {t(', ').join(parts)}"
