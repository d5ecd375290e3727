"""A line the size of a word, for tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from markupsafe import Markup, escape

from sitegen.charts import paths, scale
from sitegen.charts.labels import human
from sitegen.charts.markup import drawn
from sitegen.model import Floats

_WIDTH, _HEIGHT = 120, 24
_POINTS = 60
_TICKS = 6
_RANK = {"critical": 0, "error": 1, "warning": 2, "info": 3}


def spark(
    values: Sequence[float | None],
    marks: Sequence[tuple[float, str]] = (),
    *,
    label: str = "score",
    family: str = "reward",
) -> Markup:
    """Values at equal distances as a spark line of at most 600 bytes.

    Args:
        values: None is a gap; more than 60 are thinned to 60, extremes kept.
        marks: incidents as (position 0-1, severity word); at most 6 are drawn, the worst.
        label: what the values are; read aloud with first and last.
        family: glossary group, for the colour.

    Returns:
        An `<svg>`, or empty Markup where there is no finite value.
    """
    return _spark(tuple(values), tuple(marks), label, family)


@lru_cache(maxsize=4096)  # every leaderboard shows the same sparks again
def _spark(
    values: tuple[float | None, ...], marks: tuple[tuple[float, str], ...], label: str, family: str
) -> Markup:
    y = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    y = _thin(np.where(np.isfinite(y), y, np.nan))
    at = np.flatnonzero(~np.isnan(y))
    if not at.size:
        return drawn("")
    x: Floats = np.array([_WIDTH / 2])
    if y.size > 1:
        x = np.linspace(2.0, _WIDTH - 2.0, y.size)[at]
    line = paths.polyline(x, _levels(y[at]), np.diff(at, prepend=at[0]) > 1)
    words = f"{label} from {human(float(y[at[0]]))} to {human(float(y[at[-1]]))}"
    return drawn(
        f'<svg class="sg-svg sg-spark sg-g-{escape(family)}" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(words)}">{_ticks(marks)}<path class="sg-line" d="{line}"/></svg>'
    )


def _levels(values: Floats) -> Floats:
    values = scale.within(values)
    lo, hi = float(values.min()), float(values.max())
    if lo == hi:
        return np.full(values.size, _HEIGHT / 2)
    return (hi - values) * ((_HEIGHT - 6) / (hi - lo)) + 3


def _thin(values: Floats) -> Floats:
    """At most 60 of (n,) values: of each stretch the value furthest from the median of all."""
    if values.size <= _POINTS or np.isnan(values).all():
        return values
    level = scale.within(values)
    far = np.where(np.isnan(values), -1.0, np.abs(level - np.nanmedian(level)))
    places = np.array_split(np.arange(values.size), _POINTS)
    return values[[part[np.argmax(far[part])] for part in places]]


def _ticks(marks: Sequence[tuple[float, str]]) -> str:
    worst = sorted(marks, key=lambda mark: (_RANK.get(mark[1], 9), mark[0]))[:_TICKS]
    out = []
    for severity in sorted({word for _, word in worst}, key=lambda word: _RANK.get(word, 9)):
        path = "".join(
            f"M{round(position * (_WIDTH - 4)) + 2} 0v{_HEIGHT}"
            for position, word in sorted(worst)
            if word == severity
        )
        out.append(f'<path class="sg-when sg-s-{escape(severity)}" d="{path}"/>')
    return "".join(out)
