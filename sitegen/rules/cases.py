"""Runs the cases of cards: each case is a run of its own, all cases of a rule are one execution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sitegen.cards import Table
from sitegen.errors import CardError
from sitegen.model import Findings, Incident, Outcome, Severity
from sitegen.rules import casetext, engine
from sitegen.rules.caseshelf import CaseShelf, stretched
from sitegen.rules.casetext import Span
from sitegen.rules.definition import Definition
from sitegen.store import CARD_SECONDS, Store, keys_for

#: How long a card may think about all cases together, a few thousand rows: as long as about a batch of runs.
SECONDS = CARD_SECONDS


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What a case of a card said."""

    rule: str
    name: str
    path: str
    line: int
    passed: bool
    message: str  # `path:line: …` what was expected and what was found; "" when passed


@dataclass(frozen=True, slots=True)
class Sketch:
    """A case for drawing: values and the row spans (1-based, inclusive) that must be found."""

    name: str
    series: Mapping[str, tuple[float | None, ...]]
    expect: tuple[tuple[int, int], ...]
    outcome: str = "silent"  # "fires", "silent" or "not_applicable"


def cases(rule: Definition) -> tuple[Sketch, ...]:
    """The cases of a card with their series written out."""
    return tuple(map(_sketch, rule.cases))


def test(catalog: Sequence[Definition], codes: Sequence[str] | None = None) -> tuple[CaseResult, ...]:
    """Run the cases of `codes` (every card by default), in the order of the cards.

    All of them are runs of one store, so that rows are made into relations once. A card whose SQL fails on
    them, or takes longer than it may in a build, fails in all of its cases and spares the others.
    """
    wanted = [rule for rule in catalog if codes is None or rule.code in codes]
    needed = [one for one in catalog if one in wanted or any(_feeds(one, rule) for rule in wanted)]
    shelf = CaseShelf(
        {f"{rule.code}/{at}": _asking(rule, case) for rule in wanted for at, case in enumerate(rule.cases)}
    )
    keys = keys_for(frozenset().union(*(one.metrics for one in needed)))
    faults: dict[str, CardError] = {}
    with Store(shelf, frame=shelf.frame(keys), seconds=SECONDS) as store:
        found = engine.evaluate_store(store, needed, {}, faults=faults)
    broken = [one for one in needed if one.code in faults]

    def result(rule: Definition, at: int) -> CaseResult:
        run, case = f"{rule.code}/{at}", rule.cases[at]
        for one in broken:
            if one.code in (rule.code, *rule.after):
                return _failed(rule, case, faults[one.code])
        return _result(rule, case, found[run], shelf.rows(run))

    return tuple(result(rule, at) for rule in wanted for at in range(len(rule.cases)))


def _asking(rule: Definition, case: Table) -> Table:
    """The case as a run that asks for the presets of its card."""
    return replace(case, values={"presets": rule.presets, **case.values}) if rule.presets else case


def _result(rule: Definition, case: Table, findings: Findings, rows: Mapping[int, int]) -> CaseResult:
    name = str(case.values["name"])
    wrong = judge(rule, case, findings, rows)
    message = f"{rule.path}:{case.line}: {rule.code}: {name}: {wrong}" if wrong else ""
    return CaseResult(rule.code, name, rule.path, case.line, not wrong, message)


def _failed(rule: Definition, case: Table, fault: CardError) -> CaseResult:
    """For a card that failed, or reads spans of one that did."""
    return CaseResult(rule.code, str(case.values["name"]), rule.path, case.line, False, str(fault))


def _feeds(one: Definition, rule: Definition) -> bool:
    """Whether `rule` reads spans of `one`; the phase card may read those of every incident."""
    return one.code in rule.after or (
        rule.kind == "phase" and one.kind == "incident" and "spans" in rule.words
    )


def judge(rule: Definition, case: Table, findings: Findings, rows: Mapping[int, int]) -> str:
    """What is wrong with the findings; "" when they are as expected. `rows` maps steps to live rows."""
    wanted = casetext.expected(case)
    verdict = next(one for one in findings.verdicts if one.rule == rule.code)
    if wanted == "not_applicable":
        return (
            ""
            if verdict.outcome is Outcome.NOT_APPLICABLE
            else f"expected not_applicable, found {verdict.outcome}"
        )
    if verdict.outcome is Outcome.NOT_APPLICABLE:
        why = f"missing {', '.join(verdict.missing)}" if verdict.missing else verdict.reason
        return f"expected {_words(wanted)}, but the rule is not applicable: {why}"
    incidents = [one for one in findings.incidents if one.rule == rule.code]
    spans = _phase_spans(findings, rows) if rule.kind == "phase" else [_span(one, rows) for one in incidents]
    if wanted == "fires":
        return "" if spans else "expected it to fire, but it stayed silent"
    assert not isinstance(wanted, str)
    if not _match(wanted, spans, int(case.values.get("tolerance", 0)), rule.kind == "phase"):
        return f"expected {_words(wanted)}, found {_words(spans)}"
    return _wrong_severity(case, incidents)


def _wrong_severity(case: Table, incidents: Sequence[Incident]) -> str:
    wanted = case.values.get("severity")
    if wanted is None or not incidents:
        return ""
    worst = max(one.severity for one in incidents)
    return "" if worst is Severity.of(wanted) else f"expected severity {wanted}, found {worst.word}"


def _words(spans: Sequence[Span] | str) -> str:
    if isinstance(spans, str):
        return spans
    return ", ".join(f"rows {span}" for span in spans) or "silence"


def _match(wanted: Sequence[Span], found: Sequence[Span], tolerance: int, phases: bool) -> bool:
    if len(wanted) != len(found):
        return False
    pairs = zip(wanted, found, strict=True)
    return all(
        abs(a.first - b.first) <= tolerance
        and abs(a.last - b.last) <= tolerance
        and (not phases or a.phase == b.phase)
        for a, b in pairs
    )


def _span(incident: Incident, rows: Mapping[int, int]) -> Span:
    return Span(_row(incident.first, rows), _row(incident.last, rows))


def _row(step: int | None, rows: Mapping[int, int]) -> int:
    """Row of `step`, or of the last one before it; 0 before the first."""
    if step is None:
        return 0
    return rows[step] if step in rows else max((row for at, row in rows.items() if at <= step), default=0)


def _phase_spans(findings: Findings, rows: Mapping[int, int]) -> list[Span]:
    return [Span(rows[one.first], rows[one.last], one.phase.value) for one in findings.phases]


def _sketch(case: Table) -> Sketch:
    rows = casetext.length(case)
    series = {}
    for name, text in case.values.get("series", {}).items():
        series[name] = tuple(
            None if np.isnan(value) else float(value) for value in stretched(text, rows, name)
        )
    expect = casetext.expected(case)
    spans = () if isinstance(expect, str) else tuple((span.first, span.last) for span in expect)
    outcome = expect if isinstance(expect, str) else "fires" if expect else "silent"
    return Sketch(str(case.values["name"]), series, spans, outcome)
