"""Which thresholds belong on which chart."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sitegen import charts
from sitegen.language import t
from sitegen.model import Incident, Series, Severity
from sitegen.reports.shapes import MetricView


def of_metric(view: MetricView, incidents: Sequence[Incident]) -> tuple[charts.Limit, ...]:
    """Threshold of the worst incident of this metric; `incidents` come worst first."""
    keys = (view.metric.key, view.series.metric, view.series.name)
    for incident in incidents:
        if incident.metric in keys and incident.severity > Severity.INFO:
            return of_incident(incident, view.series)
    return ()


def of_incident(
    incident: Incident, series: Series, within: charts.Frame | None = None
) -> tuple[charts.Limit, ...]:
    """The threshold as far as the evidence knows it; one that never moved reaches over all of `within`."""
    known = _thresholds(incident) if _comparable(incident, series) else []
    if not known:
        return ()
    values = [limit for _, limit in known]
    label = t("{rule} limit", rule=incident.rule)
    if max(values) - min(values) <= 0.01 * abs(values[-1]):  # it never moved
        label += f" {charts.human(values[-1])}"
        known = known if within is None else [(within.first, values[-1]), (within.last, values[-1])]
    return (charts.Limit(label, tuple(step for step, _ in known), tuple(limit for _, limit in known)),)


def _comparable(incident: Incident, series: Series) -> bool:
    """Whether the rule compared the metric itself: a ratio or a count has no place on the metric's axis."""
    finite = series.values[np.isfinite(series.values)]
    compared = (incident.value, *incident.evidence.values)
    seen = [one for one in compared if one is not None and math.isfinite(one)]
    if not finite.size or not seen:
        return bool(finite.size)
    low, high = float(finite.min()), float(finite.max())
    slack = 0.05 * (high - low) + 1e-9 * abs(high)
    return min(seen) >= low - slack and max(seen) <= high + slack


def numbers(incident: Incident, within: charts.Frame) -> Sequence[float]:
    """What the evidence chart must show: the values that broke the rule, and what they broke."""
    pairs = zip(incident.evidence.steps, incident.evidence.values, strict=False)
    known = [value for step, value in pairs if within.first <= step <= within.last]
    return [one for one in (*known, incident.threshold) if one is not None and math.isfinite(one)]


def _thresholds(incident: Incident) -> list[tuple[int, float]]:
    evidence = incident.evidence
    pairs = zip(evidence.steps, evidence.thresholds, strict=False)
    known = [(step, limit) for step, limit in pairs if limit is not None and math.isfinite(limit)]
    if known or incident.first is None or incident.threshold is None or not math.isfinite(incident.threshold):
        return known
    return [(incident.first, incident.threshold)]
