"""Validation metrics: which data set, which statistic, and the number a run is known by."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sitegen.language import t
from sitegen.metrics import glossary
from sitegen.model import Series
from sitegen.reports.curves import Curves
from sitegen.reports.shapes import Best, ValidationView

_MODERN = re.compile(
    r"val-(?P<kind>core|aux)/(?P<dataset>.+)/(?P<variable>[^/]+)"
    r"/(?P<statistic>mean|best|worst|maj|std)@(?P<n>\d+)(?:/(?P<part>mean|std))?"
)
_OLDER = re.compile(r"(?:val/)?test_score/(?P<dataset>.+)")
_STATISTICS = ("mean", "maj", "best", "worst", "std")
_SFT = "val_loss"


@dataclass(frozen=True, slots=True)
class Name:
    """A validation metric taken apart."""

    dataset: str
    core: bool
    variable: str
    statistic: str  # "mean", "maj", "best", "worst", "std"
    n: int  # answers per prompt
    spread: bool  # a spread of scores, not a score

    @property
    def rank(self) -> tuple[object, ...]:
        """Sort key: the headline number of a data set first."""
        return (
            not self.core,
            self.spread,
            _STATISTICS.index(self.statistic),
            self.variable != "acc",
            self.variable,
            -self.n,
        )


def parse(raw: str) -> Name | None:
    """Take a logged name apart; None where it is no validation score of a data set.

    A data set may contain slashes (`openai/gsm8k`), so names are split from the right.
    """
    modern = _MODERN.fullmatch(raw)
    if modern:
        statistic, part = modern["statistic"], modern["part"]
        return Name(
            modern["dataset"],
            modern["kind"] == "core",
            modern["variable"],
            statistic,
            int(modern["n"]),
            statistic == "std" or part == "std",
        )
    older = _OLDER.fullmatch(raw)
    return Name(older["dataset"], True, "reward", "mean", 1, False) if older else None


def views(curves: Curves) -> tuple[ValidationView, ...]:
    """Every validation metric with a value, data set by data set, headline number first."""
    found = [(name, series) for series in curves if (name := parse(series.name)) is not None]
    # verl 0.1 says the first and the last one under another name: the fuller series is the metric
    values = {series.name: len(curves.points(series)[0]) for _, series in found}
    found.sort(key=lambda pair: (pair[0].dataset, pair[0].rank, -values[pair[1].name], pair[1].name))
    scores = [view for name, series in found if (view := _view(curves, name.dataset, name.core, series))]
    loss = curves.by_key(_SFT)
    extra = _view(curves, "loss", True, loss) if loss is not None else None
    return tuple(scores if extra is None else [*scores, extra])


def best(curves: Curves, seen: Iterable[ValidationView]) -> Best | None:
    """The number a run is known by; None where it logged neither validation nor score nor loss.

    Best headline validation where there is one: of the data set validated most often, by name where that
    ties. Else the best window mean of the training score, never a single lucky step.
    """
    headline = _headline(seen)
    if headline is not None:
        return Best(_label(headline), headline.name, headline.best, headline.best_step, True)
    for key, label in (("score", t("training score")), ("rewards", t("training reward"))):
        found = _best_window(curves, key, label)
        if found is not None:
            return found
    return None


def _label(view: ValidationView) -> str:
    """The data set; with the statistic where that is not the one verl calls its core."""
    name = parse(view.name)
    if name is None or name.core:
        return view.dataset
    return f"{view.dataset} ({name.variable}, {name.statistic} of {name.n})"


def headline_view(seen: Iterable[ValidationView]) -> ValidationView | None:
    """The validation metric that stands for the run, or None."""
    return _headline(seen)


def _headline(seen: Iterable[ValidationView]) -> ValidationView | None:
    firsts: dict[str, ValidationView] = {}
    for view in seen:
        name = parse(view.name)
        if name is None or not name.spread:
            firsts.setdefault(view.dataset, view)
    ranked = sorted(firsts.values(), key=lambda view: (not view.core, -_evals(view), view.dataset))
    return ranked[0] if ranked else None


def _evals(view: ValidationView) -> int:
    return int(np.isfinite(view.series.values[view.series.live]).sum())


def _view(curves: Curves, dataset: str, core: bool, series: Series) -> ValidationView | None:
    steps, values = curves.points(series)
    if not len(values):
        return None
    lower = glossary().describe(series.name).better == "down"
    place = int(np.argmin(values) if lower else np.argmax(values))
    return ValidationView(
        dataset,
        series.name,
        core,
        series,
        float(values[0]),
        float(values[-1]),
        float(values[place]),
        int(steps[place]),
    )


def _best_window(curves: Curves, key: str, label: str) -> Best | None:
    series = curves.by_key(key)
    if series is None:
        return None
    steps, values = curves.points(series)
    if not len(values):
        return None
    width = min(len(values), max(3, min(20, len(values) // 10)))
    means = np.convolve(values, np.full(width, 1.0 / width), mode="valid")
    means = np.clip(means, values.min(), values.max())  # rounding must not lift one of equal means
    place = int(np.argmax(means))
    same = bool((values[place : place + width] == values[place]).all())
    step = steps[place if same else place + width - 1]  # a constant level was reached at its first step
    label = t("{label}, mean of {width} steps", label=label, width=width) if width > 1 else label
    return Best(label, series.name, float(means[place]), int(step), False)
