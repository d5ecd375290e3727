"""Why an incident was raised: the numbers around it, before and after, and the log lines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sitegen.language import FACT, known
from sitegen.metrics import glossary
from sitegen.model import Evidence, Fact, Floats, Ints, LogLine, Run
from sitegen.rules.answers import Answer
from sitegen.rules.definition import Definition
from sitegen.rules.message import Value
from sitegen.rules.nonfinite import NonFinite
from sitegen.rules.rowdata import RowData
from sitegen.rules.spans import Stretch

#: Points of a chart of evidence; longer stretches keep the extremes of each bucket.
POINTS = 240
LINES = 12


@dataclass(frozen=True, slots=True)
class Event:
    """A row of relation `events`."""

    kind: str
    metric: str | None
    raw: str | None
    segment: int | None
    line: LogLine | None


def of_numbers(
    rule: Definition, answer: Answer, span: Stretch, peak: int, rows: RowData, odd: NonFinite
) -> Evidence:
    """Evidence for a span of steps or validations."""
    shown = [at for at in _window(answer, span, peak, rows) if answer.steps[at] is not None]
    return Evidence(
        metric=answer.name or rule.metric,
        steps=tuple(step for at in shown if (step := answer.steps[at]) is not None),
        values=_listed(answer.value[shown]),
        thresholds=_listed(answer.threshold[shown]),
        facts=(*before_after(rule, answer, span, rows, odd), *extras(rule, answer, peak)),
    )


def of_events(rule: Definition, answer: Answer, span: Stretch, events: Sequence[Event]) -> Evidence:
    """Evidence for a span of events: log lines as they are, values that are not finite as a fact."""
    steps = [step for place in range(span.first, span.last + 1) if (step := answer.steps[place]) is not None]
    lines = [event.line for event in events if event.line is not None][:LINES]
    metrics = sorted({event.metric for event in events if event.metric})
    kept = tuple(dict.fromkeys(steps))[:POINTS]
    return Evidence(
        metric=metrics[0] if len(metrics) == 1 else rule.metric,
        steps=kept,
        values=(None,) * len(kept),
        thresholds=(None,) * len(kept),
        facts=extras(rule, answer, span.first)
        or (Fact("events", _called("events"), "", None, float(len(events))),),
        lines=tuple(lines),
    )


def of_run(rule: Definition, run: Run, answer: Answer, place: int, rows: RowData) -> Evidence:
    """Evidence for a statement about a whole run: the metric over all rows, or the number alone."""
    value, threshold = _number(answer.value[place]), _number(answer.threshold[place])
    steps, values = _whole(rule, run.id, rows)
    numbers = (Fact("value", _called("value"), "", threshold, value),) if value is not None else ()
    known = (*numbers, *extras(rule, answer, place))
    told = known or (Fact("steps", _called("steps_logged"), "", None, float(run.steps)),)
    return Evidence(rule.metric, steps, values, (threshold,) * len(steps), told)


def before_after(
    rule: Definition, answer: Answer, span: Stretch, rows: RowData, odd: NonFinite
) -> tuple[Fact, ...]:
    """Medians of the w rows before the onset and of the rows inside.

    Of finite values; NaN where there is none but one that is not finite was logged, None where nothing was.
    """
    here = rows.place(answer.run)
    onset = here.start + max(int(answer.row[span.first]) - 1, 0)
    end = here.start + int(answer.row[span.last])
    if here.stop == here.start:
        return ()
    width = int(rows.w[min(onset, here.stop - 1)])
    sides = slice(max(here.start, onset - width), onset), slice(onset, max(end, onset + 1))
    facts = []
    for key in rule.facts:
        told = [_median(rows.metrics[key][side]) for side in sides]
        if told != [None, None]:
            for at, side in enumerate(sides):
                numbers = range(side.start - here.start + 1, side.stop - here.start + 1)
                if told[at] is None and odd.among(answer.run, key, numbers):
                    told[at] = math.nan
            facts.append(_fact(key, *told))
    return tuple(facts)


def extras(rule: Definition, answer: Answer, place: int) -> tuple[Fact, ...]:
    """Numbers the card computed besides value and threshold, where it mattered most."""
    found = []
    for name in rule.extra:
        value = answer.extra[name][place] if answer.extra[name] else None
        if isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value):
            found.append(Fact(name, _called(name), "", None, float(value)))
    return tuple(found)


def _called(name: str) -> str:
    """What people read for a column of an answer."""
    words = name.replace("_", " ")
    return known(words, FACT) or words


def shown_facts(facts: Sequence[Fact]) -> Iterator[tuple[str, Value]]:
    """Names a message may use for facts."""
    for fact in facts:
        yield f"{fact.metric}_before", fact.before
        yield f"{fact.metric}_after", fact.after


def gather_events(
    table: Mapping[str, Sequence[object]], lines: Mapping[tuple[str, str, int], LogLine]
) -> dict[tuple[str, int], Event]:
    """(run, idx) -> event, from columns of relation `events`."""
    found: dict[tuple[str, int], Event] = {}
    columns = (table[name] for name in ("run", "idx", "kind", "metric", "raw", "segment", "path", "line"))
    for run, idx, kind, metric, raw, segment, path, line in zip(*columns, strict=True):
        key = (str(run), str(path), int(str(line)) if line is not None else 0)
        found[str(run), int(str(idx))] = Event(
            kind=str(kind),
            metric=None if metric is None else str(metric),
            raw=None if raw is None else str(raw),
            segment=None if segment is None else int(str(segment)),
            line=lines.get(key),
        )
    return found


def _window(answer: Answer, span: Stretch, peak: int, rows: RowData) -> list[int]:
    """Positions to show: the span with its surroundings, thinned to POINTS without losing extremes."""
    here = rows.place(answer.run)
    width = int(rows.w[here][-1]) if here.stop > here.start else 20
    first = max(0, span.first - 2 * width)
    last = min(len(answer.hit) - 1, span.last + width)
    places = np.arange(first, last + 1)
    if len(places) <= POINTS:
        return [int(place) for place in places]
    kept = {first, last, span.first, span.last, peak}
    extremes = first + _extremes(answer.value[first : last + 1], (POINTS - len(kept)) // 2)
    return sorted(kept.union(extremes.tolist()))


def _whole(rule: Definition, run: str, rows: RowData) -> tuple[tuple[int, ...], tuple[float | None, ...]]:
    """Steps and values of the rule's metric over a run, at most POINTS of them."""
    here = rows.place(run)
    if rule.metric is None or rule.metric not in rows.metrics or here.stop == here.start:
        return (), ()
    values = rows.metrics[rule.metric][here]
    places = np.unique(_extremes(values, POINTS // 2)).tolist()
    steps = rows.step[here]
    return tuple(int(steps[at]) for at in places), tuple(float(values[at]) for at in places)


def _extremes(values: Floats, buckets: int) -> Ints:
    """Positions of the lowest and highest finite value in each of at most `buckets` equal stretches."""
    size = -(-len(values) // max(buckets, 1)) or 1
    padded = np.full(-(-len(values) // size) * size, np.nan)
    padded[: len(values)] = values
    parts = padded.reshape(-1, size)
    known = np.isfinite(parts)
    start = np.arange(len(parts)) * size
    low = start + np.where(known, parts, np.inf).argmin(axis=1)
    high = start + np.where(known, parts, -np.inf).argmax(axis=1)
    return np.unique(np.concatenate([low, high])[np.tile(known.any(axis=1), 2)])


def _fact(key: str, before: float | None, after: float | None) -> Fact:
    metric = glossary().by_key(key)
    return Fact(key, metric.title if metric else key, metric.unit if metric else "", before, after)


def _median(values: Floats) -> float | None:
    finite = values[np.isfinite(values)]
    return float(2 * np.median(finite / 2)) if len(finite) else None  # halves: the largest add up to inf


def _listed(values: Floats) -> tuple[float | None, ...]:
    known = np.isfinite(values).tolist()
    return tuple(value if good else None for value, good in zip(values.tolist(), known, strict=True))


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
