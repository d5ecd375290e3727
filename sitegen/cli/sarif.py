"""Findings as SARIF 2.1.0: a code-review tool shows them on the line of the run's YAML or of a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

import orjson

import sitegen
from sitegen.cli import whereabouts
from sitegen.cli.findings import where
from sitegen.cli.whereabouts import Checked, Spot
from sitegen.errors import Problem
from sitegen.model import Incident, Rule, Severity

Json = dict[str, Any]
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {
    Severity.INFO: "note",
    Severity.WARNING: "warning",
    Severity.ERROR: "error",
    Severity.CRITICAL: "error",
}
_ORDER = ("error", "warning", "note")
_MOST = 25_000  # results of a file that GitHub accepts
_SHOWN = 5_000  # of which it shows
_BY_PEOPLE = ("run-toml", "note")  # kinds of problems of files that people write and can mend


def document(found: Sequence[Checked], site_url: str = "") -> bytes:
    """A result per finding, and per fault of a run.toml or a note.

    A finding is on the line of the run's YAML that sets what its advice speaks of, and related to that of the
    log; without such a line, and where another finding of its rule is there already, on that of the log.
    A muted finding is a suppressed result with the reason as its justification. `site_url` leads to cards.
    GitHub refuses a file with more than 25 000 results and shows 5 000: beyond that the worst come first.
    """
    cards = {code: rule for each in found for code, rule in each.report.rules.items()}
    codes = sorted(
        {one.rule for each in found for one, _ in _incidents(each)} | {_code(p) for _, p in _faults(found)}
    )
    results = [made for each in found for made in _results(each, codes)]
    results += [_fault(each, problem, codes) for each, problem in _faults(found)]
    left = len(results) - _MOST
    if len(results) > _SHOWN:
        results = sorted(results, key=lambda one: _ORDER.index(one["level"]))[:_MOST]
    driver = {
        "name": "sitegen",
        "version": sitegen.__version__,
        "rules": [_rule(code, cards.get(code), site_url) for code in codes],
    }
    run = {"tool": {"driver": driver}, "results": results, "columnKind": "unicodeCodePoints"}
    if left > 0:
        run["invocations"] = [_cut(left)]
    whole = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return orjson.dumps(whole, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _cut(left: int) -> Json:
    text = f"{left} results are left out: a file holds {_MOST} at most, the worst of them."
    told = {"level": "warning", "message": {"text": text}}
    return {"executionSuccessful": True, "toolExecutionNotifications": [told]}


def _incidents(each: Checked) -> Iterator[tuple[Incident, str | None]]:
    """All findings of a run, with the reason where one is muted."""
    yield from ((one, None) for one in each.report.incidents)
    yield from ((muted.incident, muted.reason) for muted in each.report.muted)


def _results(each: Checked, codes: Sequence[str]) -> Iterator[Json]:
    taken: set[tuple[str, Spot]] = set()
    for incident, muted in sorted(_incidents(each), key=lambda one: -one[0].severity):
        setting = whereabouts.of_setting(each, incident)
        if setting is not None and (incident.rule, setting) in taken:
            setting = None
        elif setting is not None:
            taken.add((incident.rule, setting))
        made = _result(each, incident, setting, codes)
        if muted is not None:
            made["suppressions"] = [{"kind": "external", "status": "accepted", "justification": muted}]
        yield made


def _faults(found: Sequence[Checked]) -> Iterator[tuple[Checked, Problem]]:
    for each in found:
        yield from ((each, problem) for problem in each.report.problems if problem.kind in _BY_PEOPLE)


def _code(problem: Problem) -> str:
    return f"problem/{problem.kind}"


def _rule(code: str, card: Rule | None, site_url: str) -> Json:
    """What GitHub asks of a rule: both descriptions and a help, whether or not it has a card."""
    if card is None:
        text = "What people wrote beside a run holds a fault"
        return {"id": code, "shortDescription": {"text": text}, **_told(text, text)}
    advice = card.sections.get("What to do", card.summary)
    made: Json = {"id": code, "name": card.title, "shortDescription": {"text": card.title}}
    made |= _told(card.summary, advice)
    made["defaultConfiguration"] = {"level": _LEVELS[card.severity]}
    if site_url:
        made["helpUri"] = f"{site_url}rules/{quote(code)}/"
    return made


def _told(text: str, advice: str) -> Json:
    return {"fullDescription": {"text": text}, "help": {"text": advice, "markdown": advice}}


def _result(each: Checked, incident: Incident, setting: Spot | None, codes: Sequence[str]) -> Json:
    advice = f" {incident.advice[0]}" if incident.advice else ""
    text = f"{each.report.run.id}, {where(incident)}: {incident.message.rstrip('.')}.{advice}"
    logged = whereabouts.of_incident(each, incident)
    made: Json = {
        "ruleId": incident.rule,
        "ruleIndex": codes.index(incident.rule),
        "level": _LEVELS[incident.severity],
        "message": {"text": text},
        "locations": [_location(each, setting or logged)],
        "partialFingerprints": {"incident/v1": f"{each.site_id}/{incident.anchor}"},
        "properties": {"severity": incident.severity.word, "first": incident.first, "last": incident.last},
    }
    if setting is not None:
        shown = {"id": 1, "message": {"text": "What was logged"}, "physicalLocation": _place(logged)}
        made["relatedLocations"] = [shown]
    return made


def _fault(each: Checked, problem: Problem, codes: Sequence[str]) -> Json:
    code = _code(problem)
    return {
        "ruleId": code,
        "ruleIndex": codes.index(code),
        "level": "note",
        "message": {"text": f"{problem.message}. {problem.hint}".rstrip()},
        "locations": [_location(each, whereabouts.spot(each, problem.path, problem.line or 1))],
    }


def _location(each: Checked, spot: Spot) -> Json:
    return {
        "physicalLocation": _place(spot),
        "logicalLocations": [{"name": each.report.run.id, "kind": "module"}],
    }


def _place(spot: Spot) -> Json:
    return {"artifactLocation": {"uri": spot.uri}, "region": {"startLine": spot.line}}
