"""Findings as text, JSON, Markdown and SARIF."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

import orjson

import sitegen
from sitegen.errors import Problem
from sitegen.model import Incident, Muted, Severity
from sitegen.pages.gfm import escape
from sitegen.pages.report_incidents import advised
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
    others = [_where(one) for one in alike if one is not worst]
    shown = ", ".join(dict.fromkeys(others[:_NAMED]))
    more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
    also = f" (also {len(others)} times, at {shown}{more})" if others else ""
    return ("  ", (f"{word:<9}", word), f" {worst.rule}  {_where(worst)}: {worst.message}{also}{advice}")


def _beyond(incident: Incident) -> float:
    value, threshold = incident.value, incident.threshold
    return abs(value / threshold) if value is not None and threshold else 0.0


def _text_muted(muted: Muted) -> tuple[Part, ...]:
    one = muted.incident
    return (f"  {'muted':<9} {one.rule}  {_where(one)}: {one.message} (muted: {muted.reason})",)


def _text_problem(problem: Problem) -> tuple[Part, ...]:
    place = problem.path if problem.line is None else f"{problem.path}:{problem.line}"
    hint = f". {problem.hint}" if problem.hint else ""
    return (f"  {problem.kind:<9} {place}: {problem.message}{hint}",)


def json(reports: Sequence[RunReport]) -> bytes:
    """`{"version": 1, "runs": […]}`, the fields of `/api/v1/runs/<run>.json`."""
    return api.dump({"version": api.VERSION, "runs": [api.run(report) for report in reports]})


def markdown(reports: Sequence[RunReport]) -> bytes:
    """A table of runs and, where there are any, a table of findings; fits a comment in a code review."""
    rows = ["| run | status | verdict | steps |", "|---|---|---|---:|"]
    rows += [_markdown_run(report) for report in reports]
    found = [(report, incident) for report in reports for incident in report.incidents]
    if found:
        rows += ["", "| severity | rule | run | where | finding | what to do |", "|---|---|---|---|---|---|"]
        rows += [_markdown_row(report, incident) for report, incident in found]
    muted = [(report, one) for report in reports for one in report.muted]
    if muted:
        rows += ["", "| muted | run | where | finding | why it does not count |", "|---|---|---|---|---|"]
        rows += [_markdown_muted(report, one) for report, one in muted]
    return ("\n".join(rows) + "\n").encode()


def _markdown_run(report: RunReport) -> str:
    verdict = f"**{escape(report.headline)}.** {escape(report.sentence)}"
    return f"| {escape(report.run.id)} | {report.status.value} | {verdict} | {report.run.steps} |"


def _markdown_muted(report: RunReport, muted: Muted) -> str:
    one = muted.incident
    cells = (one.rule, report.run.id, _where(one), one.message, muted.reason)
    return f"| {' | '.join(escape(cell) for cell in cells)} |"


def _markdown_row(report: RunReport, incident: Incident) -> str:
    cells = (
        incident.severity.word,
        incident.rule,
        report.run.id,
        _where(incident),
        incident.message,
    )
    advice = advised(incident.advice[0], report.run.config) if incident.advice else ""
    return f"| {' | '.join(escape(cell) for cell in cells)} | {advice} |"


def sarif(reports: Sequence[RunReport]) -> bytes:
    """SARIF 2.1.0: a result per finding, at the log line it rests on or at the run's first source.

    A muted finding is a suppressed result with the reason as its justification.
    """
    rules = {code: rule for report in reports for code, rule in sorted(report.rules.items())}
    codes = sorted({one.rule for report in reports for one in _all(report)})
    driver = {
        "name": "sitegen",
        "version": sitegen.__version__,
        "rules": [_sarif_rule(code, rules[code].title if code in rules else code) for code in codes],
    }
    results = [_sarif_result(report, one, codes) for report in reports for one in report.incidents]
    results += [
        _sarif_result(report, muted.incident, codes)
        | {"suppressions": [{"kind": "external", "status": "accepted", "justification": muted.reason}]}
        for report in reports
        for muted in report.muted
    ]
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results, "columnKind": "unicodeCodePoints"}],
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _all(report: RunReport) -> tuple[Incident, ...]:
    return (*report.incidents, *(muted.incident for muted in report.muted))


def _sarif_rule(code: str, title: str) -> dict[str, object]:
    return {"id": code, "name": title, "shortDescription": {"text": title}}


_LEVELS = {
    Severity.INFO: "note",
    Severity.WARNING: "warning",
    Severity.ERROR: "error",
    Severity.CRITICAL: "error",
}


def _sarif_result(report: RunReport, incident: Incident, codes: Sequence[str]) -> dict[str, object]:
    advice = f" {incident.advice[0]}" if incident.advice else ""
    return {
        "ruleId": incident.rule,
        "ruleIndex": codes.index(incident.rule),
        "level": _LEVELS[incident.severity],
        "message": {"text": f"{report.run.id}, {_where(incident)}: {incident.message}{advice}"},
        "locations": [_sarif_place(report, incident)],
        "partialFingerprints": {"incident/v1": incident.id},
        "properties": {"severity": incident.severity.word, "first": incident.first, "last": incident.last},
    }


def _sarif_place(report: RunReport, incident: Incident) -> dict[str, object]:
    lines = incident.evidence.lines
    path = lines[0].path if lines else next((source.path for source in report.run.sources), report.run.path)
    line = max(1, lines[0].line) if lines else 1
    return {
        "physicalLocation": {"artifactLocation": {"uri": quote(path)}, "region": {"startLine": line}},
        "logicalLocations": [{"name": report.run.id, "kind": "module"}],
    }


def _where(incident: Incident) -> str:
    if incident.first is None:
        return "before the first step"
    if incident.last is None or incident.last == incident.first:
        return f"step {incident.first}"
    return f"steps {incident.first}-{incident.last}{' (open)' if incident.open else ''}"


FORMATS: dict[str, Callable[[Sequence[RunReport]], Lines | bytes]] = {
    "text": text,
    "json": json,
    "markdown": markdown,
    "sarif": sarif,
}
