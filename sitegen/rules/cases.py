"""Runs the cases of cards: each case is a run of its own, all cases of a rule are one execution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sitegen.cards import Table
from sitegen.errors import Problem
from sitegen.model import Findings, Incident, LogLine, Outcome, Run, Segment, Severity, SourceFile
from sitegen.rules import casetext, engine
from sitegen.rules.casetext import Span
from sitegen.rules.definition import Definition
from sitegen.store import Frame, Store, empty_raw, keys_for, main_validations


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

    All of them are runs of one store, so that rows are made into relations once. Raises CardError when a
    card's SQL fails on them.
    """
    wanted = [rule for rule in catalog if codes is None or rule.code in codes]
    needed = [one for one in catalog if one in wanted or any(_feeds(one, rule) for rule in wanted)]
    shelf = CaseShelf({f"{rule.code}/{at}": case for rule in wanted for at, case in enumerate(rule.cases)})
    keys = keys_for(frozenset().union(*(one.metrics for one in needed)))
    with Store(shelf, frame=shelf.frame(keys)) as store:
        found = engine.evaluate_store(store, needed, {})
    return tuple(
        _result(rule, case, found[f"{rule.code}/{at}"], shelf.rows(f"{rule.code}/{at}"))
        for rule in wanted
        for at, case in enumerate(rule.cases)
    )


def _result(rule: Definition, case: Table, findings: Findings, rows: Mapping[int, int]) -> CaseResult:
    name = str(case.values["name"])
    wrong = judge(rule, case, findings, rows)
    message = f"{rule.path}:{case.line}: {rule.code}: {name}: {wrong}" if wrong else ""
    return CaseResult(rule.code, name, rule.path, case.line, not wrong, message)


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
            None if np.isnan(value) else float(value) for value in _stretched(text, rows, name)
        )
    expect = casetext.expected(case)
    spans = () if isinstance(expect, str) else tuple((span.first, span.last) for span in expect)
    outcome = expect if isinstance(expect, str) else "fires" if expect else "silent"
    return Sketch(str(case.values["name"]), series, spans, outcome)


def _stretched(text: str, rows: int, name: str) -> Any:
    values = casetext.values(text, name)
    return np.repeat(values, rows) if len(values) == 1 else values


class CaseShelf:
    """Cases as runs of an archive that exists only in memory."""

    def __init__(self, cases: Mapping[str, Table]) -> None:
        self._cases = cases
        self._steps = {run: _steps(case) for run, case in cases.items()}

    def runs(self) -> tuple[str, ...]:
        """One run per case."""
        return tuple(self._cases)

    def run(self, id: str) -> Run:
        """Facts of the run a case describes."""
        return _run(id, self._cases[id].values, self._steps[id])

    def steps(self, id: str) -> Path:
        """There is no file; see `frame`."""
        return Path(id)

    def columns(self, id: str) -> Mapping[str, str]:
        """There is no file; see `frame`."""
        return {}

    def log_lines(self, id: str) -> tuple[LogLine, ...]:
        """Lines a case mentions."""
        lines = self._cases[id].values.get("lines", [])
        return tuple(_line(number, one) for number, one in enumerate(lines, start=1))

    def problems(self) -> tuple[Problem, ...]:
        """None that belong to no run."""
        return ()

    def rows(self, id: str) -> dict[int, int]:
        """Step -> live row."""
        return {step: row for row, step in enumerate(sorted(set(self._steps[id][0].tolist())), start=1)}

    def frame(self, keys: Sequence[str]) -> Frame:
        """Rows of all cases with a column for each of `keys`."""
        raws = [self._raw(run, keys) for run in self._cases]
        return Frame(
            tuple(keys),
            pa.concat_tables([empty_raw(keys), *raws]),
            self._validations(),
            self._non_finite(),
        )

    def _series(self, run: str) -> dict[str, Any]:
        case = self._cases[run]
        rows = len(self._steps[run][0])
        return {name: _stretched(text, rows, name) for name, text in case.values.get("series", {}).items()}

    def _raw(self, run: str, keys: Sequence[str]) -> pa.Table:
        steps, segments, live = self._steps[run]
        series = self._series(run)
        cut = np.isin(np.arange(1, len(steps) + 1), self._cases[run].values.get("cut", []))
        blank = np.full(len(steps), np.nan)
        columns = {
            "run": [run] * len(steps),
            "segment": segments,
            "step": steps,
            "live": live,
            "time": pa.nulls(len(steps), pa.float64()),
            "cut": cut,
            "trains": np.ones(len(steps), np.bool_),
            **{key: pa.array(series.get(key, blank), from_pandas=True) for key in keys},
        }
        return pa.table(columns, schema=empty_raw(keys).schema)

    def _validations(self) -> pa.Table:
        found: list[tuple[str, str, str, int, float]] = []
        for run in self._cases:
            steps, _, live = self._steps[run]
            series = self._series(run)
            for check in main_validations(series):
                values = series[check.name]
                kept = np.flatnonzero(np.isfinite(values) & live)
                found += [(run, check.name, check.dataset, int(steps[at]), float(values[at])) for at in kept]
        return _arrow(
            found,
            {
                "run": pa.string(),
                "name": pa.string(),
                "dataset": pa.string(),
                "step": pa.int64(),
                "val": pa.float64(),
            },
        )

    def _non_finite(self) -> pa.Table:
        found = []
        for run, case in self._cases.items():
            steps, segments, _ = self._steps[run]
            for name, text in case.values.get("series", {}).items():
                for at, raw in casetext.non_finite(str(text), name).items():
                    found.append((run, int(segments[at]), int(steps[at]), name, raw, "case"))
        kinds = {"run": pa.string(), "segment": pa.int32(), "step": pa.int64(), "name": pa.string()}
        return _arrow(found, kinds | {"raw": pa.string(), "path": pa.string()})


def _arrow(rows: Sequence[tuple[Any, ...]], kinds: Mapping[str, pa.DataType]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(kinds)
    return pa.table(
        {name: pa.array(column, kind) for (name, kind), column in zip(kinds.items(), columns, strict=True)}
    )


def _steps(case: Table) -> tuple[Any, Any, Any]:
    """Steps, segment numbers and liveness of the rows of a case."""
    stride = int(case.values.get("stride", 1))
    spans = case.values.get("segments")
    if spans is None:
        first = int(case.values.get("first_step", 1))
        spans = [[first, first + (casetext.length(case) - 1) * stride]] if casetext.length(case) else []
    parts = [np.arange(first, last + 1, stride) for first, last in spans]
    steps = np.concatenate([*parts, np.zeros(0, np.int64)]).astype(np.int64)
    segments = np.repeat(np.arange(len(parts), dtype=np.int32), [len(part) for part in parts])
    latest = {int(step): int(number) for step, number in zip(steps, segments, strict=True)}
    live = np.array(
        [latest[int(step)] == number for step, number in zip(steps, segments, strict=True)], np.bool_
    )
    return steps, segments, live


def _line(number: int, given: Mapping[str, Any]) -> LogLine:
    return LogLine(
        path="case.log",
        line=int(given.get("line", number)),
        time=None,
        level=str(given.get("level", "error")),
        kind=str(given["kind"]),
        step=given.get("step"),
        text=str(given.get("text", "")),
    )


def _run(id: str, given: Mapping[str, Any], rows: tuple[Any, Any, Any]) -> Run:
    steps, segments, _ = rows
    distinct = sorted(set(steps.tolist()))
    first, last = (distinct[0], distinct[-1]) if distinct else (None, None)
    return Run(
        id=id,
        path="case.log",
        title=id,
        project=None,
        experiment=None,
        algorithm=given.get("algorithm"),
        model=None,
        verl_version=None,
        commit=None,
        hardware=None,
        gpus=None,
        started_at=None,
        ended_at=None,
        wall_s=None,
        steps=len(distinct),
        first_step=first,
        last_step=last,
        planned_steps=given.get("planned"),
        finished=bool(given.get("finished", False)),
        growing=bool(given.get("growing", False)),
        segments=tuple(_segment(one, steps[segments == one]) for one in sorted(set(segments.tolist()))),
        sources=(SourceFile("case.log", "console", 0, "", len(steps), first, last),),
        formats=("console",),
        tags=(),
        owner=None,
        baseline=None,
        notes="",
        aliases=(),
        config={str(key): str(value) for key, value in given.get("config", {}).items()},
        summary=(),
        problems=tuple(_problem(one) for one in given.get("problems", [])),
        fingerprint=id,
    )


def _segment(number: int, steps: Any) -> Segment:
    reason = "rewind" if number else "start"
    return Segment(number, int(steps[0]), int(steps[-1]), len(steps), "case.log", reason)


def _problem(given: Mapping[str, Any]) -> Problem:
    return Problem("case.log", given.get("line"), str(given["kind"]), str(given.get("message", "")))
