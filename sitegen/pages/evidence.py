"""The chart of an incident: its metric around the onset."""

from __future__ import annotations

import numpy as np

from sitegen import charts
from sitegen.model import Incident, Series
from sitegen.pages import figures, thresholds
from sitegen.reports.shapes import RunReport


def moment(incident: Incident, report: RunReport, within: charts.Frame | None) -> figures.Figure | None:
    """The metric of an incident around its onset, with its threshold; None where there is nothing to draw."""
    found = _evidence(incident, report)
    if found is None or within is None or incident.first is None:
        return None
    series, title, unit, family = found
    window = _window(incident, within)
    limits = thresholds.of_incident(incident, series, window)
    svg = charts.chart(
        series,
        window,
        charts.EVIDENCE,
        title=title,
        unit=unit,
        limits=limits,
        show=thresholds.numbers(incident, window) if limits else (),
    )
    steps = (window.first, window.last)
    return figures.Figure("", family, title, series.name, unit, svg, _anchor(series, report), steps)


def _anchor(series: Series, report: RunReport) -> str:
    """Id of the chart of `series` among the metrics; "" where the evidence brought its own numbers."""
    if all(view.series is not series for view in report.metrics):
        return ""
    return figures.anchors(view.series.name for view in report.metrics)[series.name]


def _evidence(incident: Incident, report: RunReport) -> tuple[Series, str, str, str] | None:
    """Series, title, unit and family to draw: the run's own metric, else the numbers of the evidence."""
    for view in report.metrics:
        names = (view.metric.key, view.series.metric, view.series.name)
        if incident.metric is not None and incident.metric in names:
            return view.series, view.metric.title, view.metric.unit, view.metric.group
    evidence = incident.evidence
    if not any(value is not None for value in evidence.values):
        return None
    name = evidence.metric or incident.metric or incident.rule
    n = len(evidence.steps)
    values = np.array([np.nan if value is None else value for value in evidence.values], dtype=np.float64)
    series = Series(
        name,
        name,
        np.array(evidence.steps, dtype=np.int64),
        values,
        np.zeros(n, dtype=np.int64),
        np.ones(n, dtype=bool),
    )
    return series, name, "", "other"


def _window(incident: Incident, within: charts.Frame) -> charts.Frame:
    """Steps around the onset: as much before as it takes to see what was usual, and the first part of it."""
    assert incident.first is not None
    onset = min(max(incident.first, within.first), within.last)
    last = onset if incident.last is None else min(max(incident.last, onset), within.last)
    room = max(20, (within.last - within.first) // 8, min(last - onset, 60))
    return charts.Frame(
        max(within.first, onset - room),
        min(within.last, max(onset + 2 * room, within.first + room)),
        within.spans,
        tuple(mark for mark in within.marks if mark.href == f"#{incident.anchor}"),
    )
