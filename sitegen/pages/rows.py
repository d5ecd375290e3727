"""Small questions that tables ask of their rows. Used by templates as filters."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from sitegen.model import BoardEntry, Severity
from sitegen.reports.shapes import IncidentRow, RunRow, Varied


def last_seen(row: RunRow) -> float | None:
    """Unix seconds of the run's last sign of life."""
    return row.ended_at if row.ended_at is not None else row.started_at


def weight(counts: Mapping[str, int]) -> int:
    """Order of rows by incidents: one error weighs more than any number of warnings."""
    return sum(min(n, 999) * 1000 ** (Severity.of(word) - 1) for word, n in counts.items())


def by_rule(incidents: Iterable[IncidentRow]) -> list[tuple[str, int]]:
    """(rule code, incidents), most frequent first."""
    return ranked(Counter(incident.rule for incident in incidents))


def ranked(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Items of `counts`, most frequent first, then by name."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def by_reason(left_out: Iterable[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """(why, runs) for the (run, why) pairs of a leaderboard, most runs first."""
    groups: dict[str, list[str]] = {}
    for run, why in left_out:
        groups.setdefault(why, []).append(run)
    return sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))


def statuses(entries: Iterable[BoardEntry], rows: Mapping[str, RunRow]) -> list[tuple[str, int]]:
    """(status, runs) of what shares a place, most runs first."""
    return ranked(Counter(str(rows[one.run].status) for one in entries if one.run in rows))


def kind(varied: Varied) -> str:
    """How a column of settings sorts: "num" where every value is a number, else "text"."""
    try:
        return "num" if all(math.isfinite(float(text)) for text in varied.values.values()) else "text"
    except ValueError:
        return "text"


FILTERS = {
    "kind": kind,
    "statuses": statuses,
    "last_seen": last_seen,
    "weight": weight,
    "by_rule": by_rule,
    "ranked": ranked,
    "by_reason": by_reason,
}
