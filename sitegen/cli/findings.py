"""Findings as text and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sitegen.errors import Problem
from sitegen.model import Incident, Muted
from sitegen.reports.shapes import RunReport
from sitegen.site import api

Part = str | tuple[str, str]
_NAMED = 6  # places of incidents alike that a line names


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines for a terminal; a part may carry the word whose colour it takes."""

    parts: tuple[tuple[Part, ...], ...]

    def plain(self) -> bytes:
        """The same without colour."""
        rows = ("".join(part if isinstance(part, str) else part[0] for part in parts) for parts in self.parts)
        return ("\n".join(rows) + "\n").encode()


def text(reports: Sequence[RunReport]) -> Lines:
    """A verdict per run, a line per finding and one for what could not be read or checked."""
    parts: list[tuple[Part, ...]] = []
    for report in reports:
        parts += [*_text_head(report), *map(_text_incidents, _alike(report.incidents))]
        parts += [_text_muted(muted) for muted in report.muted]
        parts += [_text_problem(problem) for problem in report.problems if problem.kind != "redacted"]
        parts.append(("",))
    return Lines(tuple(parts[:-1]))


def _text_head(report: RunReport) -> list[tuple[Part, ...]]:
    word = report.status.value
    head: tuple[Part, ...] = ((f"{word:<11}", word), f"{report.run.id}  {report.headline}")
    return [head, (f"  {report.sentence}",)] if report.sentence else [head]


def _alike(incidents: Sequence[Incident]) -> list[tuple[Incident, ...]]:
    """Incidents of one rule and severity together, from three on; in the order of the first."""
    groups: dict[tuple[str, int], list[Incident]] = {}
    for one in incidents:
        groups.setdefault((one.rule, one.severity), []).append(one)
    return [
        part
        for group in groups.values()
        for part in ([tuple(group)] if len(group) > 2 else [(one,) for one in group])
    ]


def _text_incidents(alike: Sequence[Incident]) -> tuple[Part, ...]:
    """The one that is furthest beyond its limit, and where the others are."""
    worst = max(alike, key=_beyond)
    word = worst.severity.word
    advice = f" → {worst.advice[0]}" if worst.advice else ""
    others = [where(one) for one in alike if one is not worst]
    shown = ", ".join(dict.fromkeys(others[:_NAMED]))
    more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
    also = f" (also {len(others)} times, at {shown}{more})" if others else ""
    return ("  ", (f"{word:<9}", word), f" {worst.rule}  {where(worst)}: {worst.message}{also}{advice}")


def _beyond(incident: Incident) -> float:
    value, threshold = incident.value, incident.threshold
    return abs(value / threshold) if value is not None and threshold else 0.0


def _text_muted(muted: Muted) -> tuple[Part, ...]:
    one = muted.incident
    return (f"  {'muted':<9} {one.rule}  {where(one)}: {one.message} (muted: {muted.reason})",)


def _text_problem(problem: Problem) -> tuple[Part, ...]:
    place = problem.path if problem.line is None else f"{problem.path}:{problem.line}"
    hint = f". {problem.hint}" if problem.hint else ""
    return (f"  {problem.kind:<9} {place}: {problem.message}{hint}",)


def json(reports: Sequence[RunReport]) -> bytes:
    """`{"version": 1, "runs": […]}`, the fields of `/api/v1/runs/<run>.json`."""
    return api.dump({"version": api.VERSION, "runs": [api.run(report) for report in reports]})


def where(incident: Incident) -> str:
    """`step 7`, `steps 7-9 (open)`, or `before the first step`."""
    if incident.first is None:
        return "before the first step"
    if incident.last is None or incident.last == incident.first:
        return f"step {incident.first}"
    return f"steps {incident.first}-{incident.last}{' (open)' if incident.open else ''}"
