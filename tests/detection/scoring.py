"""Recall, precision, onsets and false alarms, per rule and in all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from sitegen import rules
from sitegen.model import Findings, Incident, Outcome, Severity
from sitegen.rules import Definition
from tests.detection.incidents import STRENGTHS
from tests.detection.matching import Hit, Matched, match
from tests.detection.sketch import sketch
from tests.detection.trace import Label, Trace
from tests.detection.write import Shelf

BATCH = 150


@dataclass(frozen=True, slots=True)
class Scored:
    """One run, what the rules said, and how that compares."""

    name: str
    labels: tuple[Label, ...]
    rows: int
    findings: Findings
    matched: Matched
    sketches: tuple[tuple[str, list[object]], ...] = ()  # rule -> its part in this run, drawn

    @property
    def healthy(self) -> bool:
        return not self.labels

    def could(self, code: str) -> bool:
        """Whether the run logged what rule `code` needs."""
        return any(
            one.rule == code and one.outcome is not Outcome.NOT_APPLICABLE for one in self.findings.verdicts
        )


@dataclass(slots=True)
class Score:
    """Counts of one rule, one kind of incident, or everything."""

    name: str
    injected: int = 0
    found: int = 0
    stray: int = 0  # findings of warning or more in runs with an incident, unexplained
    alarms: int = 0  # findings of warning or more in healthy runs
    healthy: int = 0
    by_strength: dict[str, tuple[int, int]] = field(default_factory=dict)  # (injected, found)
    late: list[float] = field(default_factory=list)  # onset errors, % of the run, signed

    @property
    def missed(self) -> int:
        return self.injected - self.found

    @property
    def recall(self) -> float | None:
        return self.found / self.injected if self.injected else None

    @property
    def precision(self) -> float | None:
        said = self.found + self.stray + self.alarms
        return self.found / said if said else None

    @property
    def alarms_per_run(self) -> float | None:
        return self.alarms / self.healthy if self.healthy else None

    def onset(self, percentile: float) -> float | None:
        """Percentile of the absolute onset error, in % of the run."""
        return float(np.percentile(np.abs(self.late), percentile)) if self.late else None

    def count(self, label: Label, hit: Hit | None, rows: int) -> None:
        self.injected += 1
        self.found += hit is not None
        injected, found = self.by_strength.get(label.strength, (0, 0))
        self.by_strength[label.strength] = (injected + 1, found + (hit is not None))
        if hit is not None and hit.late is not None:
            self.late.append(100.0 * hit.late / rows)


def score(traces: Iterable[Trace], catalog: Sequence[Definition]) -> list[Scored]:
    """Run the rules on every trace."""
    return [one for batch in _batches(traces) for one in _score(batch, catalog)]


def _batches(traces: Iterable[Trace]) -> Iterator[list[Trace]]:
    flow = iter(traces)
    while batch := list(islice(flow, BATCH)):
        yield batch


def _score(batch: Sequence[Trace], catalog: Sequence[Definition]) -> Iterator[Scored]:
    with TemporaryDirectory() as folder:
        shelf = Shelf(Path(folder), batch)
        found = rules.evaluate(shelf, shelf.runs(), catalog)
    for trace in batch:
        scored = compare(trace, found[trace.name])
        yield replace(scored, sketches=tuple(_sketches(trace, scored.matched, catalog)))


def compare(trace: Trace, findings: Findings) -> Scored:
    """Findings of one run against its labels."""
    steps = np.unique(trace.steps[trace.live])
    return Scored(
        trace.name,
        trace.labels,
        max(1, trace.rows),
        findings,
        match(trace.labels, findings.incidents, steps, trace.true_of_log),
    )


def _sketches(
    trace: Trace, matched: Matched, catalog: Sequence[Definition]
) -> Iterator[tuple[str, list[object]]]:
    """Hits and misses for the rule that is meant, findings without reason for the rule that spoke."""
    rule_of = {rule.code: rule for rule in catalog}
    for hit in matched.hits:
        code = expected(hit.label, catalog)
        if code:
            yield code, sketch(trace, rule_of[code], hit.label, hit.incident)
    for label in matched.missed:
        code = expected(label, catalog)
        if code:
            yield code, sketch(trace, rule_of[code], label, None)
    if not trace.labels:
        for stray in matched.stray:
            yield stray.rule, sketch(trace, rule_of[stray.rule], None, stray)


def expected(label: Label, catalog: Sequence[Definition]) -> str | None:
    """The rule that is meant to see `label`: the first of its rules that has a card."""
    codes = {rule.code for rule in catalog}
    return next((code for code in label.codes if code in codes), None)


def overall(scored: Sequence[Scored], catalog: Sequence[Definition], hard: bool | None = None) -> Score:
    """Everything that some card is meant to see; only hard or soft faults if asked."""
    total = Score("all" if hard is None else "hard" if hard else "soft")
    for one in scored:
        total.healthy += one.healthy
        total.stray += 0 if one.healthy else len(one.matched.stray)
        total.alarms += len(one.matched.stray) if one.healthy else 0
        for label, hit in _labels(one):
            if expected(label, catalog) and hard in (None, label.hard):
                total.count(label, hit, one.rows)
    return total


def by_rule(scored: Sequence[Scored], catalog: Sequence[Definition]) -> dict[str, Score]:
    """Scores by rule. A label counts for the rule that is meant, whichever of its rules saw it."""
    scores = {rule.code: Score(rule.code) for rule in catalog}
    healthy = sum(one.healthy for one in scored)
    for each in scores.values():
        each.healthy = healthy
    for one in scored:
        for label, hit in _labels(one):
            code = expected(label, catalog)
            if code:
                scores[code].count(label, hit, one.rows)
        for stray in one.matched.stray:
            if one.healthy:
                scores[stray.rule].alarms += 1
            else:
                scores[stray.rule].stray += 1
    return scores


def by_kind(scored: Sequence[Scored]) -> dict[str, Score]:
    """Scores by kind of incident."""
    scores: dict[str, Score] = {}
    for one in scored:
        for label, hit in _labels(one):
            each = scores.setdefault(label.kind, Score(label.kind))
            each.count(label, hit, one.rows)
            each.stray += len(one.matched.stray)
    return scores


def _labels(one: Scored) -> Iterator[tuple[Label, Hit | None]]:
    hits = {id(hit.label): hit for hit in one.matched.hits}
    for label in one.labels:
        yield label, hits.get(id(label))


def alarms(scored: Sequence[Scored]) -> list[tuple[str, Incident]]:
    """Findings of warning or more that nothing explains: (run, finding)."""
    return [(one.name, stray) for one in scored for stray in one.matched.stray]


__all__ = [
    "STRENGTHS",
    "Score",
    "Scored",
    "Severity",
    "alarms",
    "by_kind",
    "by_rule",
    "compare",
    "expected",
    "overall",
    "score",
]
