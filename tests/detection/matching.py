"""Findings against labels.

A finding matches a label when its rule is one that the label names, it is severe enough, and either the two
overlap or the onsets lie close: from 5 rows early to max(20 rows, 5 % of the run) late. The pairing is one to
one, with as many pairs as possible and then the smallest distance of onsets in all. Everything is counted in
rows of the log, whatever its stride.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sitegen.model import Incident, Ints, Severity
from tests.detection.trace import Label

EARLY = 5


@dataclass(frozen=True, slots=True)
class Span:
    """Rows of a finding or a label; row -1 is before the first."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Hit:
    label: Label
    incident: Incident
    late: float | None  # rows from the onset of the label to that of the finding; None where neither has one


@dataclass(frozen=True, slots=True)
class Matched:
    """What became of the labels and findings of one run. Only findings of warning or more can be stray."""

    hits: tuple[Hit, ...]
    missed: tuple[Label, ...]
    explained: tuple[Incident, ...]  # of a named rule, or of one that may follow, at the same time
    stray: tuple[Incident, ...]


def match(
    labels: Sequence[Label], incidents: Sequence[Incident], steps: Ints, true_of_log: tuple[str, ...] = ()
) -> Matched:
    """Pair `incidents` of one run with its `labels`.

    Args:
        steps: those of the live rows, ascending.
        true_of_log: rules that are right about this log whatever the labels say; neither hit nor stray.
    """
    label_spans = [_rows(label.first, label.last, steps) for label in labels]
    spans = [_rows(one.first, one.last, steps) for one in incidents]
    reach = max(20, round(0.05 * len(steps)))
    fits = [
        [at for at, one in enumerate(incidents) if _fits(label, one, label_spans[of], spans[at], reach)]
        for of, label in enumerate(labels)
    ]
    late = {(of, at): spans[at].first - label_spans[of].first for of in range(len(labels)) for at in fits[of]}
    pairs = _pairing(fits, late, 0, frozenset())[1]
    hits = tuple(
        Hit(labels[of], incidents[at], None if labels[of].whole else float(late[of, at])) for of, at in pairs
    )
    taken = {at for _, at in pairs}
    loud = [at for at, one in enumerate(incidents) if at not in taken and one.severity >= Severity.WARNING]
    rest = [at for at in loud if incidents[at].rule not in true_of_log]
    known = [
        at
        for at in rest
        if any(
            _follows(label, incidents[at], expected, spans[at], reach)
            for label, expected in zip(labels, label_spans, strict=True)
        )
    ]
    return Matched(
        hits=hits,
        missed=tuple(label for of, label in enumerate(labels) if of not in {pair[0] for pair in pairs}),
        explained=tuple(incidents[at] for at in known),
        stray=tuple(incidents[at] for at in rest if at not in known),
    )


def _rows(first: int | None, last: int | None, steps: Ints) -> Span:
    start = -1 if first is None or first == 0 else int(np.searchsorted(steps, first))
    end = start if last is None else int(np.searchsorted(steps, last, side="right")) - 1
    return Span(start, max(start, end))


def _fits(label: Label, one: Incident, expected: Span, found: Span, reach: int) -> bool:
    return one.rule in label.codes and one.severity >= label.least and _near(label, expected, found, reach)


def _near(label: Label, expected: Span, found: Span, reach: int) -> bool:
    overlap = found.first <= expected.last and expected.first - EARLY <= found.last
    return label.whole or overlap or -EARLY <= found.first - expected.first <= reach


def _follows(label: Label, one: Incident, expected: Span, found: Span, reach: int) -> bool:
    """Whether a label explains a finding: of its own rules, or a consequence that begins with it or later."""
    if label.whole:
        return one.rule in (*label.codes, *label.also)
    if found.last < expected.first - EARLY:
        return False
    return one.rule in label.also or (one.rule in label.codes and found.first <= expected.last + 2 * reach)


Pairs = tuple[tuple[int, int], ...]


def _pairing(
    fits: Sequence[Sequence[int]], late: dict[tuple[int, int], int], of: int, taken: frozenset[int]
) -> tuple[tuple[int, float], Pairs]:
    """Best pairing of the labels from `of` on: (pairs, -distance), then the pairs."""
    if of == len(fits):
        return (0, 0.0), ()
    best = _pairing(fits, late, of + 1, taken)
    for at in fits[of]:
        if at not in taken:
            (count, near), pairs = _pairing(fits, late, of + 1, taken | {at})
            gain = (count + 1, near - abs(late[of, at]))
            if gain > best[0]:
                best = gain, ((of, at), *pairs)
    return best
