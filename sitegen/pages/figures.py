"""The charts of a run page: the overview and the groups."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from markupsafe import Markup

from sitegen import charts
from sitegen.language import t
from sitegen.model import Incident, Series
from sitegen.pages import thresholds, words
from sitegen.reports.shapes import MetricView, RunReport

_BEHIND = {charts.FULL: "sg-behind", charts.SMALL: "sg-behind-small", charts.TINY: "sg-behind-small"}
_MANY = 120  # metrics; with more, the folded charts are drawn coarser
_NO_SLUG = re.compile(r"[^a-z0-9]+")
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
    metric: str = ""  # id of the chart of the metric it draws, "" = of none
    window: tuple[int, int] | None = None  # steps it begins with; None = all


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
    step: int | None = None  # the only step there is: numbers instead of curves

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
    if within.first == within.last:
        return _numbers_only(report, within.first)
    named = anchors(view.series.name for view in report.metrics)
    first = [view for view in report.metrics if view.overview]
    return Sheet(
        backdrops=tuple(charts.backdrop(within, size, _BEHIND[size]) for size in (charts.FULL, charts.SMALL)),
        overview=tuple(_figure(view, named, within, charts.FULL, report.incidents) for view in first),
        groups=tuple(_group(key, report, named, within) for key in _families(report.metrics)),
    )


def _numbers_only(report: RunReport, step: int) -> Sheet:
    """Groups of captions: one step has no course to draw."""
    named = anchors(view.series.name for view in report.metrics)
    groups = []
    for key in _families(report.metrics):
        views = [view for view in report.metrics if view.metric.group == key]
        figures = tuple(_caption(view, named, Markup("")) for view in views)
        groups.append(Group(key, t(_GROUPS.get(key, key.capitalize())), figures, ()))
    return Sheet((), (), tuple(groups), step)


def _mark(incident: Incident) -> charts.Mark:
    assert incident.first is not None
    title = f"{incident.rule} {incident.title}, {words.span(incident.first, incident.last)}"
    return charts.Mark(incident.first, incident.severity.word, incident.rule, title, f"#{incident.anchor}")


def _families(views: Sequence[MetricView]) -> list[str]:
    """Groups in page order: `report.metrics` is sorted by them."""
    return list(dict.fromkeys(view.metric.group for view in views))


def _group(key: str, report: RunReport, named: Mapping[str, str], within: charts.Frame) -> Group:
    views = [view for view in report.metrics if view.metric.group == key]
    size = charts.SMALL if len(report.metrics) <= _MANY else charts.TINY
    return Group(
        key=key,
        title=t(_GROUPS.get(key, key.capitalize())),
        figures=tuple(_figure(view, named, within, size, ()) for view in views if not view.overview),
        above=tuple((named[view.series.name], view.metric.title) for view in views if view.overview),
    )


def _figure(
    view: MetricView,
    named: Mapping[str, str],
    within: charts.Frame,
    size: charts.Size,
    incidents: Sequence[Incident],
) -> Figure:
    metric, limits = view.metric, thresholds.of_metric(view, incidents)
    svg = charts.chart(
        view.series, within, size, title=metric.title, unit=metric.unit, limits=limits, behind=_BEHIND[size]
    )
    return _caption(view, named, svg)


def _caption(view: MetricView, named: Mapping[str, str], svg: Markup) -> Figure:
    metric, series = view.metric, view.series
    note, at = _note(series, metric.unit), named[series.name]
    return Figure(at, metric.group, metric.title, series.name, note, svg, at)


def _note(series: Series, unit: str) -> str:
    """Last value with its unit, the caption's right end."""
    at = np.flatnonzero(np.isfinite(series.values) & series.live)
    last = int(series.steps[at[-1]]) if at.size else -1
    lost = [raw for step, raw in series.non_finite if step > last]
    if lost:
        return t("{value} at the end", value=_RAW.get(lost[-1], lost[-1]))
    return f"{charts.human(float(series.values[at[-1]]))} {unit}".rstrip() if at.size else unit


def anchors(names: Iterable[str]) -> Mapping[str, str]:
    """A fragment id per metric; names that look alike get a number."""
    return _anchors(tuple(names))


@lru_cache(maxsize=4)  # the charts of a page, their data and each incident ask for the same
def _anchors(names: tuple[str, ...]) -> Mapping[str, str]:
    taken: dict[str, int] = {}
    out: dict[str, str] = {}
    for name in names:
        slug = _NO_SLUG.sub("-", name.lower()).strip("-")[:60] or "x"
        taken[slug] = taken.get(slug, 0) + 1
        out[name] = f"m-{slug}" if taken[slug] == 1 else f"m-{slug}.{taken[slug]}"
    return out
