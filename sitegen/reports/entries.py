"""What is kept of a run between builds, and what cross-run pages are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sitegen.errors import Problem
from sitegen.language import t
from sitegen.model import Leaderboard, Outcome, Rule
from sitegen.reports.shapes import (
    ArchiveReport,
    CaseView,
    IncidentRow,
    RuleView,
    RunReport,
    RunRow,
)


@dataclass(frozen=True, slots=True)
class Entry:
    """All that pages across runs know of one run."""

    row: RunRow
    incidents: tuple[IncidentRow, ...]
    outcomes: Mapping[str, Outcome]  # rule code -> verdict
    problems: tuple[Problem, ...]


def entry(report: RunReport, incidents: tuple[IncidentRow, ...]) -> Entry:
    """The entry of a run that was just read."""
    outcomes = {verdict.rule: verdict.outcome for verdict in report.verdicts}
    return Entry(report.row, incidents, outcomes, report.problems)


def archive_report(
    entries: Sequence[Entry],
    catalog: Sequence[Rule],
    cases: Mapping[str, tuple[CaseView, ...]],
    boards: tuple[Leaderboard, ...],
    own: tuple[tuple[Problem, ...], tuple[str, ...], float | None, tuple[tuple[str, str, str], ...]],
) -> ArchiveReport:
    """Put the archive together. `own` = problems, ignored files, newest time stamp and removed runs."""
    problems, ignored, now, removed = own
    incidents = sorted((row for one in entries for row in one.incidents), key=_newest_incident)
    return ArchiveReport(
        runs=tuple(sorted((one.row for one in entries), key=_newest_run)),
        incidents=tuple(incidents),
        leaderboards=boards,
        rules=tuple(_rule_view(rule, entries, incidents, cases.get(rule.code, ())) for rule in catalog),
        problems=(
            *(("", problem) for problem in problems),
            *((one.row.id, problem) for one in entries for problem in one.problems),
        ),
        ignored=ignored,
        now=now,
        removed=removed,
    )


def marks(entries: Sequence[Entry]) -> dict[str, str]:
    """Run -> why it is marked on the boards: its first critical incident that never closed."""
    found: dict[str, str] = {}
    for one in entries:
        for incident in one.incidents:
            if incident.open and incident.severity.word == "critical":
                found.setdefault(one.row.id, t("open critical incident {rule}", rule=incident.rule))
    return found


def _rule_view(
    rule: Rule, entries: Sequence[Entry], incidents: Sequence[IncidentRow], cases: tuple[CaseView, ...]
) -> RuleView:
    said = [one.outcomes[rule.code] for one in entries if rule.code in one.outcomes]
    fired = tuple(row for row in incidents if row.rule == rule.code)
    counts = {outcome: said.count(outcome) for outcome in Outcome}
    return RuleView(rule, fired, counts, cases, _muting(rule, entries))


def _muting(rule: Rule, entries: Sequence[Entry]) -> tuple[tuple[str, str], ...]:
    rows = (one.row for one in entries if one.outcomes.get(rule.code) is Outcome.MUTED)
    return tuple(sorted((row.id, row.title) for row in rows))


def _newest_run(row: RunRow) -> tuple[float, str]:
    stamp = row.ended_at if row.ended_at is not None else row.started_at
    return -(stamp if stamp is not None else float("-inf")), row.id


def _newest_incident(row: IncidentRow) -> tuple[float, int, str, str]:
    stamp = row.happened_at if row.happened_at is not None else float("-inf")
    return -stamp, -row.severity, row.run, row.id
