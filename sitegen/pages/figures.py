"""The charts of a run page: the overview, the groups, and the moment of an incident."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from sitegen import charts
from sitegen.model import Incident, Series, Severity
from sitegen.pages import words
from sitegen.reports.shapes import MetricView, RunReport

_BEHIND = {charts.FULL: "sg-behind", charts.SMALL: "sg-behind-small", charts.TINY: "sg-behind-small"}
_MANY = 120  # metrics; with more, the folded charts are drawn coarser
_RAW = {"nan": "NaN"}
_GROUPS = {
    "reward": "Reward",
    "kl": "KL",
    "entropy": "Entropy",
    "policy": "Policy",
    "critic": "Critic",
    "length": "Length",
    "rollout": "Rollout",
    "speed": "Speed",
    "memory": "Memory",
    "validation": "Validation",
    "other": "Other metrics",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart with its caption."""

    id: str
    family: str
    title: str
    name: str
    note: str
    svg: Markup


@dataclass(frozen=True, slots=True)
class Group:
    """Metrics of one family: those drawn here, and links to those in the overview."""

    key: str
    title: str
    figures: tuple[Figure, ...]
    above: tuple[tuple[str, str], ...]  # (id, title)

    @property
    def anchor(self) -> str:
        """Where its charts begin."""
        return f"group-{self.key}" if self.figures else self.above[0][0]

    @property
    def size(self) -> int:
        """Metrics of the family, wherever they are drawn."""
        return len(self.figures) + len(self.above)


@dataclass(frozen=True, slots=True)
class Sheet:
    """All charts of a page, and the backdrops they share."""

    backdrops: tuple[Markup, ...]
    overview: tuple[Figure, ...]
    groups: tuple[Group, ...]

    @property
    def size(self) -> int:
        """Metrics of the run."""
        return sum(group.size for group in self.groups)


def frame(report: RunReport) -> charts.Frame | None:
    """Range of x on the page: every step of the run, rewritten ones included. None without steps."""
    run = report.run
    ends = [step for segment in run.segments for step in (segment.first, segment.last)]
    ends += [step for step in (run.first_step, run.last_step) if step is not None]
    if not ends:
        return None
    marks = tuple(_mark(one) for one in report.incidents if one.first is not None)
    resumes = tuple(segment.first for segment in run.segments if segment.number > 0)
    return charts.Frame(min(ends), max(ends), charts.live_spans(report.phases, run.segments), marks, resumes)


def sheet(report: RunReport, within: charts.Frame | None) -> Sheet:
    """Overview and groups of a run; empty where no step was logged."""
    if within is None or not report.metrics:
        return Sheet((), (), ())
    ids = _ids(view.series.name for view in report.metrics)
    first = [view for view in report.metrics if view.overview]
    return Sheet(
        backdrops=tuple(charts.backdrop(within, size, _BEHIND[size]) for size in (charts.FULL, charts.SMALL)),
        overview=tuple(
            _figure(view, ids, within, charts.FULL, _limits(view, report.incidents)) for view in first
        ),
        groups=tuple(_group(key, report, ids, within) for key in _families(report.metrics)),
    )


def moment(incident: Incident, report: RunReport, within: charts.Frame | None) -> Figure | None:
    """The metric of an incident around its onset, with its threshold; None where there is nothing to draw."""
    found = _evidence(incident, report)
    if found is None or within is None or incident.first is None:
        return None
    series, title, unit, family = found
    window = _window(incident, within)
    limits = _limit(incident, series, window)
    svg = charts.chart(
        series,
        window,
        charts.EVIDENCE,
        title=title,
        unit=unit,
        limits=limits,
        show=_numbers(incident) if limits else (),
    )
    return Figure("", family, title, series.name, unit, svg)


def _mark(incident: Incident) -> charts.Mark:
    assert incident.first is not None
    title = f"{incident.rule} {incident.title}, {words.span(incident.first, incident.last)}"
    return charts.Mark(incident.first, incident.severity.word, incident.rule, title, f"#{incident.anchor}")


def _families(views: Sequence[MetricView]) -> list[str]:
    """Groups in page order: `report.metrics` is sorted by them."""
    return list(dict.fromkeys(view.metric.group for view in views))


def _group(key: str, report: RunReport, ids: dict[str, str], within: charts.Frame) -> Group:
    views = [view for view in report.metrics if view.metric.group == key]
    size = charts.SMALL if len(report.metrics) <= _MANY else charts.TINY
    return Group(
        key=key,
        title=_GROUPS.get(key, key.capitalize()),
        figures=tuple(_figure(view, ids, within, size, ()) for view in views if not view.overview),
        above=tuple((ids[view.series.name], view.metric.title) for view in views if view.overview),
    )


def _figure(
    view: MetricView,
    ids: dict[str, str],
    within: charts.Frame,
    size: charts.Size,
    limits: Sequence[charts.Limit],
) -> Figure:
    metric, series = view.metric, view.series
    svg = charts.chart(
        series, within, size, title=metric.title, unit=metric.unit, limits=limits, behind=_BEHIND[size]
    )
    return Figure(ids[series.name], metric.group, metric.title, series.name, _note(series, metric.unit), svg)


def _note(series: Series, unit: str) -> str:
    """Last value with its unit, the caption's right end."""
    at = np.flatnonzero(np.isfinite(series.values) & series.live)
    last = int(series.steps[at[-1]]) if at.size else -1
    lost = [raw for step, raw in series.non_finite if step > last]
    if lost:
        return f"{_RAW.get(lost[-1], lost[-1])} at the end"
    return f"{charts.human(float(series.values[at[-1]]))} {unit}".rstrip() if at.size else unit


def _ids(names: Iterable[str]) -> dict[str, str]:
    """A fragment id per metric; names that look alike get a number."""
    taken: dict[str, int] = {}
    out: dict[str, str] = {}
    for name in names:
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or "x"
        taken[slug] = taken.get(slug, 0) + 1
        out[name] = f"m-{slug}" if taken[slug] == 1 else f"m-{slug}.{taken[slug]}"
    return out


def _evidence(incident: Incident, report: RunReport) -> tuple[Series, str, str, str] | None:
    """Series, title, unit and family to draw: the run's own metric, else the numbers of the evidence."""
    for view in report.metrics:
        if incident.metric is not None and incident.metric in (
            view.metric.key,
            view.series.metric,
            view.series.name,
        ):
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


def _limits(view: MetricView, incidents: Sequence[Incident]) -> tuple[charts.Limit, ...]:
    """Threshold of the worst incident of this metric; `incidents` come worst first."""
    keys = (view.metric.key, view.series.metric, view.series.name)
    for incident in incidents:
        if incident.metric in keys and incident.severity > Severity.INFO:
            return _limit(incident, view.series)
    return ()


def _limit(
    incident: Incident, series: Series, within: charts.Frame | None = None
) -> tuple[charts.Limit, ...]:
    """The threshold as far as the evidence knows it; one that never moved reaches over all of `within`."""
    known = _thresholds(incident) if _comparable(incident, series) else []
    if not known:
        return ()
    values = [limit for _, limit in known]
    label = f"{incident.rule} limit"
    if max(values) - min(values) <= 0.01 * abs(values[-1]):  # it never moved
        label += f" {charts.human(values[-1])}"
        known = known if within is None else [(within.first, values[-1]), (within.last, values[-1])]
    return (charts.Limit(label, tuple(step for step, _ in known), tuple(limit for _, limit in known)),)


def _comparable(incident: Incident, series: Series) -> bool:
    """Whether the rule compared the metric itself: a ratio or a count has no place on the metric's axis."""
    finite = series.values[np.isfinite(series.values)]
    seen = [
        one for one in (incident.value, *incident.evidence.values) if one is not None and np.isfinite(one)
    ]
    if not finite.size or not seen:
        return bool(finite.size)
    low, high = float(finite.min()), float(finite.max())
    slack = 0.05 * (high - low) + 1e-9 * abs(high)
    return min(seen) >= low - slack and max(seen) <= high + slack


def _numbers(incident: Incident) -> Sequence[float]:
    """What the evidence chart must show: the value that broke the rule, and what it broke."""
    known = (incident.value, incident.threshold)
    return [one for one in known if one is not None and np.isfinite(one)]


def _thresholds(incident: Incident) -> list[tuple[int, float]]:
    evidence = incident.evidence
    pairs = zip(evidence.steps, evidence.thresholds, strict=False)
    known = [(step, limit) for step, limit in pairs if limit is not None and np.isfinite(limit)]
    if known or incident.first is None or incident.threshold is None or not np.isfinite(incident.threshold):
        return known
    return [(incident.first, incident.threshold)]
