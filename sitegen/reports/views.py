"""Charts of a run: which metrics, in which order, which of them first."""

from __future__ import annotations

import numpy as np

from sitegen.metrics import glossary
from sitegen.model import Series
from sitegen.reports.curves import Curves
from sitegen.reports.shapes import MetricView, ValidationView
from sitegen.reports.validation import headline_view

OVERVIEW = 12
_VALIDATION = "(validation)"
_TELLING = (  # canonical keys, most telling first; the first twelve that a run logs are its overview
    "score",
    _VALIDATION,
    "kl_ref",
    "entropy",
    "response_length",
    "grad_norm",
    "throughput",
    "train_loss",
    "response_clip_ratio",
    "clipfrac",
    "vf_explained_var",
    "pg_loss",
    "lr",
    "ppo_kl",
    "probs_diff_mean",
    "vf_loss",
    "time_step",
    "num_turns",
    "aborted_ratio",
    "mem_allocated_gb",
    "cpu_mem_gb",
    "rewards",
    "mfu",
)


def metric_views(curves: Curves, validation: tuple[ValidationView, ...]) -> tuple[MetricView, ...]:
    """Every metric that has a value anywhere, in page order."""
    book = glossary()
    first = _overview(curves, validation)
    shown = [(series, book.describe(series.name)) for series in curves if _drawable(series)]
    shown.sort(key=lambda pair: (*book.place(pair[1]), pair[0].name))
    return tuple(MetricView(series, metric, series.name in first) for series, metric in shown)


def _overview(curves: Curves, validation: tuple[ValidationView, ...]) -> frozenset[str]:
    headline = headline_view(validation)
    names = []
    for key in _TELLING:
        series = headline.series if key == _VALIDATION and headline else curves.by_key(key)
        if series is not None and _drawable(series):
            names.append(series.name)
    return frozenset(names[:OVERVIEW])


def _drawable(series: Series) -> bool:
    return bool(np.isfinite(series.values).any()) or bool(series.non_finite)
