"""The chart of an incident: its metric around the onset."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sitegen import charts
from sitegen.model import Incident, Series
from sitegen.pages import figures, thresholds
from sitegen.reports.shapes import RunReport


@dataclass(frozen=True, slots=True)
class Moment:
    """What the chart of an incident shows.

    Args:
        series, title, unit, family: the metric.
        window: steps around the onset, with the mark of this incident only.
        limits: thresholds it was held against.
        show: numbers that the y axis must reach.
    """

    series: Series
    title: str
    unit: str
    family: str
    window: charts.Frame
    limits: tuple[charts.Limit, ...]
    show: tuple[float, ...]


def moment(incident: Incident, report: RunReport, within: charts.Frame | None) -> Moment | None:
    """The metric of an incident around its onset, with its threshold; None where there is nothing to draw."""
    found = _evidence(incident, report)
    if found is None or within is None or incident.first is None:
        return None
    window = _window(incident, within)
    limits = thresholds.of_incident(incident, found[0], window)
    show = tuple(thresholds.numbers(incident, window)) if limits else ()
    return Moment(*found, window, limits, show)


def figure(incident: Incident, report: RunReport, within: charts.Frame | None) -> figures.Figure | None:
    """The chart of `moment`."""
    made = moment(incident, report, within)
    if made is None:
        return None
    svg = charts.chart(
        made.series,
        made.window,
        charts.EVIDENCE,
        title=made.title,
        unit=made.unit,
        limits=made.limits,
        show=made.show,
    )
    steps = (made.window.first, made.window.last)
    at = _anchor(made.series, report)
    return figures.Figure("", made.family, made.title, made.series.name, made.unit, svg, at, steps)


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
