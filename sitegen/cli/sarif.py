"""Findings as SARIF 2.1.0: a code-review tool shows them on the line of a log or of the run's YAML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import orjson

import sitegen
from sitegen.cli import whereabouts
from sitegen.cli.findings import where
from sitegen.cli.whereabouts import Checked, Spot
from sitegen.errors import Problem
from sitegen.model import Incident, Severity

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {
    Severity.INFO: "note",
    Severity.WARNING: "warning",
    Severity.ERROR: "error",
    Severity.CRITICAL: "error",
}
_BY_PEOPLE = ("run-toml", "note")  # kinds of problems of files that people write and can mend


def document(found: Sequence[Checked], site_url: str = "") -> bytes:
    """A result per finding, and per fault of a run.toml or a note.

    A muted finding is a suppressed result with the reason as its justification. `site_url` leads to cards.
    """
    titles = {code: rule.title for each in found for code, rule in each.report.rules.items()}
    codes = sorted(
        {one.rule for each in found for one in _incidents(each)} | {_code(p) for _, p in _faults(found)}
    )
    results = [_result(each, one, codes) for each in found for one in each.report.incidents]
    results += [
        _result(each, muted.incident, codes)
        | {"suppressions": [{"kind": "external", "status": "accepted", "justification": muted.reason}]}
        for each in found
        for muted in each.report.muted
    ]
    results += [_fault(each, problem, codes) for each, problem in _faults(found)]
    driver = {
        "name": "sitegen",
        "version": sitegen.__version__,
        "rules": [_rule(code, titles.get(code, ""), site_url) for code in codes],
    }
    whole = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results, "columnKind": "unicodeCodePoints"}],
    }
    return orjson.dumps(whole, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _incidents(each: Checked) -> Iterator[Incident]:
    yield from each.report.incidents
    yield from (muted.incident for muted in each.report.muted)


def _faults(found: Sequence[Checked]) -> Iterator[tuple[Checked, Problem]]:
    for each in found:
        yield from ((each, problem) for problem in each.report.problems if problem.kind in _BY_PEOPLE)


def _code(problem: Problem) -> str:
    return f"problem/{problem.kind}"


def _rule(code: str, title: str, site_url: str) -> dict[str, object]:
    made: dict[str, object] = {"id": code, "shortDescription": {"text": title or code}}
    if title:
        made["name"] = title
        if site_url:
            made["helpUri"] = f"{site_url}rules/{code}/"
    return made


def _result(each: Checked, incident: Incident, codes: Sequence[str]) -> dict[str, object]:
    advice = f" {incident.advice[0]}" if incident.advice else ""
    setting = whereabouts.of_setting(each, incident)
    text = f"{each.report.run.id}, {where(incident)}: {incident.message}{advice}"
    made: dict[str, object] = {
        "ruleId": incident.rule,
        "ruleIndex": codes.index(incident.rule),
        "level": _LEVELS[incident.severity],
        "message": {"text": text},
        "locations": [_location(each, whereabouts.of_incident(each, incident))],
        "partialFingerprints": {"incident/v1": f"{each.site_id}/{incident.anchor}"},
        "properties": {"severity": incident.severity.word, "first": incident.first, "last": incident.last},
    }
    if setting is not None:
        set_here = {
            "message": {"text": "What the advice speaks of is set here"},
            "physicalLocation": _place(setting),
        }
        made["relatedLocations"] = [{"id": 1, **set_here}]
    return made


def _fault(each: Checked, problem: Problem, codes: Sequence[str]) -> dict[str, object]:
    code = _code(problem)
    return {
        "ruleId": code,
        "ruleIndex": codes.index(code),
        "level": "note",
        "message": {"text": f"{problem.message}. {problem.hint}".rstrip()},
        "locations": [_location(each, whereabouts.spot(each, problem.path, problem.line or 1))],
    }


def _location(each: Checked, spot: Spot) -> dict[str, object]:
    return {
        "physicalLocation": _place(spot),
        "logicalLocations": [{"name": each.report.run.id, "kind": "module"}],
    }


def _place(spot: Spot) -> dict[str, object]:
    return {"artifactLocation": {"uri": spot.uri}, "region": {"startLine": spot.line}}
