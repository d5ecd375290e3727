"""A span of hits -> an Incident with its number, sentence and evidence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

import numpy as np

from sitegen.metrics import glossary
from sitegen.model import Evidence, Incident, Run, Severity
from sitegen.rules import evidence, message, presets, said
from sitegen.rules.answers import Answer
from sitegen.rules.definition import ADVICE, CAUSES, Definition
from sitegen.rules.evidence import Event
from sitegen.rules.nonfinite import NonFinite
from sitegen.rules.rowdata import RowData
from sitegen.rules.spans import Stretch
from sitegen.store import Store


class Maker:
    """Makes incidents of one batch; fetches the events only if a rule over events fires."""

    def __init__(self, store: Store, rows: RowData) -> None:
        self.store = store
        self.rows = rows
        self._odd = NonFinite(store)
        self._events: Mapping[tuple[str, int], Event] | None = None

    def incident(self, rule: Definition, run: Run, answer: Answer, span: Stretch) -> Incident:
        """An incident without its number (`id` ends with the code)."""
        place = peak(answer, span)
        events = self._of(answer, span) if rule.relation == "events" else []
        proof = self._evidence(rule, run, answer, span, place, events)
        first, last = self._steps(rule, run, answer, span)
        value, threshold = _finite(answer.value[place]), _finite(answer.threshold[place])
        return Incident(
            id=f"{run.id}/{rule.code}",
            run=run.id,
            segment=self._segment(run, answer, span, events),
            rule=rule.code,
            title=rule.title,
            severity=_severity(rule, answer, span),
            first=first,
            last=last,
            open=span.open,
            metric=proof.metric,
            value=value,
            threshold=threshold,
            message=self._sentence(rule, answer, span, place, proof, (first, last)),
            causes=items(rule.sections.get(CAUSES, "")),
            advice=items(rule.sections.get(ADVICE, "")),
            evidence=proof,
        )

    def _evidence(
        self, rule: Definition, run: Run, answer: Answer, span: Stretch, place: int, events: list[Event]
    ) -> Evidence:
        if rule.relation == "events" and rule.scope == "row":
            return evidence.of_events(rule, answer, span, events)
        if rule.scope == "run":
            return evidence.of_run(rule, run, answer, place, self.rows)
        return evidence.of_numbers(rule, answer, span, place, self.rows, self._odd)

    def _steps(
        self, rule: Definition, run: Run, answer: Answer, span: Stretch
    ) -> tuple[int | None, int | None]:
        if rule.scope == "run":
            onset = answer.steps[span.first] if answer.steps else None
            return (run.first_step if onset is None else onset), run.last_step
        return answer.steps[span.first], answer.steps[span.last]

    def _segment(self, run: Run, answer: Answer, span: Stretch, events: list[Event]) -> int:
        told = next((event.segment for event in events if event.segment is not None), None)
        if told is not None:
            return told
        here = self.rows.place(run.id)
        row = int(answer.row[span.first])
        if here.stop == here.start:
            return 0
        return int(self.rows.segment[min(here.start + max(row - 1, 0), here.stop - 1)])

    def _of(self, answer: Answer, span: Stretch) -> list[Event]:
        if self._events is None:
            self._events = _events(self.store)
        hits = (place for place in range(span.first, span.last + 1) if answer.hit[place])
        found = (self._events.get((answer.run, int(answer.idx[place]))) for place in hits)
        return [event for event in found if event is not None]

    def _sentence(
        self,
        rule: Definition,
        answer: Answer,
        span: Stretch,
        place: int,
        proof: Evidence,
        steps: tuple[int | None, int | None],
    ) -> str:
        value, threshold = _finite(answer.value[place]), _finite(answer.threshold[place])
        metric = glossary().by_key(proof.metric or "")
        names: dict[str, message.Value] = dict.fromkeys(
            f"{key}_{when}" for key in rule.facts for when in ("before", "after")
        )
        names |= dict(evidence.shown_facts(proof.facts))
        names |= {
            "value": value,
            "threshold": threshold,
            "ratio": value / threshold if value is not None and threshold else None,
            "first": steps[0],
            "last": steps[1],
            "rows": span.last - span.first + 1,
            "steps": steps[1] - steps[0] + 1 if steps[0] is not None and steps[1] is not None else None,
            "metric": metric.title if metric else proof.metric or "",
            "row": int(answer.row[place]),
            "idx": int(answer.idx[place]),
            "step": answer.steps[place],
            "name": answer.name,
            "run": answer.run,
        }
        names |= {extra: said.in_words(answer.extra[extra][place], rule.said) for extra in rule.extra}
        told = message.render(rule.message, names)
        return presets.marked(told, rule, names.get("asked"))


def peak(answer: Answer, span: Stretch) -> int:
    """Position of the hit that is furthest beyond its threshold; the first hit where numbers are missing."""
    hits = span.first + np.flatnonzero(answer.hit[span.first : span.last + 1])
    beyond = np.abs(answer.value[hits] - answer.threshold[hits])
    return int(hits[np.nanargmax(beyond)]) if np.isfinite(beyond).any() else int(hits[0])


def _severity(rule: Definition, answer: Answer, span: Stretch) -> Severity:
    if rule.presets:
        return Severity.INFO  # a band made elsewhere never raises an alarm
    if answer.severity is None:
        return rule.severity
    hits = (span.first + np.flatnonzero(answer.hit[span.first : span.last + 1])).tolist()
    return max(answer.severity[place] or rule.severity for place in hits)


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _events(store: Store) -> Mapping[tuple[str, int], Event]:
    columns = "run, idx, kind, metric, raw, segment, path, line"
    table = store.table(f"SELECT {columns} FROM events ORDER BY run, idx").to_pydict()  # noqa: S608
    lines = {(run, one.path, one.line): one for run in store.runs for one in store.lines(run)}
    return evidence.gather_events(table, lines)


@cache
def items(markdown: str) -> tuple[str, ...]:
    """Items of the first-level list in a section, each on one line; the paragraphs where it has no list."""
    parts = re.split(r"^(?:[-*+]|\d+[.)])\s+", markdown, flags=re.MULTILINE)
    texts = parts[1:] if len(parts) > 1 else markdown.split("\n\n")
    return tuple(joined for text in texts if (joined := " ".join(text.split())))
