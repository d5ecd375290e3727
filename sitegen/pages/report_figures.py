"""What the figures beside `report.md` show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sitegen.charts.drawing import Curve, Drawing, Mark
from sitegen.model import Floats, Ints, Severity
from sitegen.reports.shapes import MetricView, RunReport

TREND, EFFICIENCY = "trend", "efficiency"
TREND_KEYS = (
    ("score", "rewards", "train_loss"),
    ("kl_ref", "ppo_kl", "val_loss"),
    ("pg_loss", "actor_loss"),
)
EFFICIENCY_KEYS = (("throughput",), ("mem_allocated_gb", "mem_reserved_gb"), ("cpu_mem_gb",))


def drawings(report: RunReport) -> dict[str, Drawing]:
    """Figures of the report that have something to show, by kind."""
    marks = tuple(
        Mark(one.first, one.rule, one.severity.word)
        for one in report.incidents
        if one.first is not None and one.severity >= Severity.WARNING
    )
    wanted = {TREND: TREND_KEYS, EFFICIENCY: EFFICIENCY_KEYS}
    found = {kind: tuple(_curves(report, keys)) for kind, keys in wanted.items()}
    return {
        kind: Drawing(report.run.title, report.run.id, curves, report.phases, marks)
        for kind, curves in found.items()
        if curves
    }


def views(report: RunReport, keys: Sequence[str]) -> list[MetricView]:
    """Charts of those of `keys` that have a value, in this order."""
    by_key = {view.series.metric: view for view in report.metrics}
    return [by_key[key] for key in keys if key in by_key and np.isfinite(by_key[key].series.values).any()]


def live(view: MetricView) -> tuple[Ints, Floats]:
    """Steps and finite values of the rows that no later segment rewrote, by step."""
    series = view.series
    there = series.live & np.isfinite(series.values)
    order = np.argsort(series.steps[there], kind="stable")
    return series.steps[there][order], series.values[there][order]


def _curves(report: RunReport, wanted: Sequence[Sequence[str]]) -> Iterator[Curve]:
    for keys in wanted:
        for view in views(report, keys)[:1]:
            steps, values = live(view)
            yield Curve(view.metric.title, view.metric.unit, view.metric.group, steps, values)
