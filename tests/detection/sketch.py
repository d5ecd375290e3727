"""A simulated run in some 170 bytes: its line for a little chart, what was put in and what the rules said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sitegen.metrics import glossary
from sitegen.model import Floats, Incident, Ints
from sitegen.reports.scorecard import DIGITS
from sitegen.rules import Definition
from tests.detection.trace import Label, Trace

#: Values of a line; of more rows the lowest and the highest of each stretch are kept, in their order.
POINTS = 72


def sketch(
    trace: Trace, rule: Definition | None, label: Label | None, found: Incident | None
) -> list[object]:
    """The metric that shows it best, its range, first and last step, a letter per value, truth and finding.

    Args:
        rule: the one that is meant to see the label, or that spoke without reason.
        label: what was put in; None for a healthy run.
        found: what was said about it; None for a miss.
    """
    metric, name = _shown(trace, rule, found)
    live = trace.live
    steps, values = trace.steps[live], trace.metrics[name][live] if name else np.full(live.sum(), np.nan)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    return [
        metric,
        [float(f"{low:.4g}"), float(f"{high:.4g}")],
        [int(steps[0]), int(steps[-1])] if len(steps) else [0, 0],
        line(values, low, high),
        [label.first, label.last] if label is not None and not label.whole else None,
        [found.first or 0, found.last or 0] if found is not None else None,
    ]


def _shown(trace: Trace, rule: Definition | None, found: Incident | None) -> tuple[str, str | None]:
    """A metric and the name under which the trace logs it."""
    by_key: Mapping[str, str] = {
        key: name for name, key in sorted(glossary().canonical(trace.metrics).items(), reverse=True)
    }
    wanted = [found.metric] if found is not None else []
    wanted += [rule.metric, *rule.facts, *rule.needs] if rule is not None else []
    for one in (*wanted, "score", "sft_loss"):
        if one in trace.metrics:
            return str(one), one
        if one in by_key:
            return str(one), by_key[one]
    return "", None


def line(values: Floats, low: float, high: float) -> str:
    """One of DIGITS per value, from the lowest to the highest; a space where there is none."""
    kept = _thinned(values)
    span = high - low
    places = (
        np.round((kept - low) / span * (len(DIGITS) - 1))
        if span > 0
        else np.where(np.isnan(kept), np.nan, 31)
    )
    return "".join(" " if not np.isfinite(place) else DIGITS[int(place)] for place in places)


def _thinned(values: Floats) -> Floats:
    if len(values) <= POINTS:
        return values
    parts: Sequence[Floats] = np.array_split(values, POINTS // 2)
    return np.concatenate([_ends(part) for part in parts])


def _ends(part: Floats) -> Floats:
    known: Ints = np.flatnonzero(np.isfinite(part))
    if not len(known):
        return np.full(2, np.nan)
    ends = sorted((known[np.argmin(part[known])], known[np.argmax(part[known])]))
    return part[ends]
