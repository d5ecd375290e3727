"""Thresholds: drawn where they fit, named in words, told at the border where they are far off."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import escape
from numpy.typing import NDArray

from sitegen.charts import paths, scale
from sitegen.charts.frame import Limit
from sitegen.charts.plot import Plot
from sitegen.model import Floats, Series

_CHARACTER = 5.0  # px, mean width of one in a name
_FAR = 1.5  # spans of the data; a threshold further away is named at the border instead of drawn


def near_and_far(
    values: Floats, limits: Sequence[Limit], show: Sequence[float]
) -> tuple[list[Limit], list[Limit], list[float]]:
    """Thresholds that can share the picture with the values (n,) and the numbers to `show`, and the others.

    Returns:
        Near limits, far limits, and the values of the near ones that the axis should reach.
    """
    if not limits:
        return [], [], []
    lo, hi = scale.robust_range(scale.within(values))
    lo, hi = min(lo, *show, hi), max(hi, *show, lo)
    reach = _FAR * ((hi - lo) or abs(hi) or 1.0)
    seen = {id(one): [v for v in one.values if lo - reach <= v <= hi + reach] for one in limits}
    near = [one for one in limits if seen[id(one)]]
    return near, [one for one in limits if not seen[id(one)]], [v for one in near for v in seen[id(one)]]


def limit_lines(
    near: Sequence[Limit], far: Sequence[Limit], series: Series, live: NDArray[np.bool_], plot: Plot
) -> str:
    """Lines and names of thresholds, in half px of the plot, clear of the live curve of `series`."""
    if not (near or far):
        return ""
    curve = plot.x(series.steps[live]), plot.y(series.values[live])
    return "".join([*(_limit(one, plot, curve) for one in near), *(_beyond(one, plot, curve) for one in far)])


def _limit(limit: Limit, plot: Plot, curve: tuple[Floats, Floats]) -> str:
    steps, values = np.array(limit.steps, dtype=np.int64), np.array(limit.values, dtype=np.float64)
    units = plot.axis.units(values)
    inside = (units >= plot.axis.lo) & (units <= plot.axis.hi)
    x, y = np.clip(plot.x(steps[inside]), 0, plot.width), plot.y(values[inside])
    breaks = np.diff(np.flatnonzero(inside), prepend=0) > 1
    if x[-1] - x[0] < plot.width / 6:  # too short to be seen as a line
        x = np.append(x, min(float(plot.width), float(x[-1]) + plot.width / 6))
        x[0] = max(0.0, float(x[0]) - plot.width / 12)
        y, breaks = np.append(y, y[-1]), np.append(breaks, False)
    path = paths.polyline(x, y, breaks)
    ends = (("end", float(x[-1]), float(y[-1])), ("start", float(x[0]), float(y[0])))
    places = [(anchor, at, base) for anchor, at, level in ends for base in (level - 8, level + 24)]
    return f'<path class="sg-limit" d="{path}"/>{_name(limit.label, places, plot, curve)}'


def _beyond(limit: Limit, plot: Plot, curve: tuple[Floats, Floats]) -> str:
    up = float(plot.axis.units(np.array(limit.values[-1:]))[0]) > plot.axis.hi
    base = 22.0 if up else plot.height - 8.0
    places = [("end", float(plot.width), base), ("start", 0.0, base)]
    return _name(f"{limit.label}, {'above' if up else 'below'}", places, plot, curve)


def _name(
    words: str, places: Sequence[tuple[str, float, float]], plot: Plot, curve: tuple[Floats, Floats]
) -> str:
    """`words` at the place (anchor, x, base line) where it covers least of the curve (x, y)."""
    wide = 2 * _CHARACTER * len(words)
    inside = [place for place in places if 20 <= place[2] <= plot.height - 4] or places[:1]

    def covered(place: tuple[str, float, float]) -> int:
        anchor, at, base = place
        left = at - wide if anchor == "end" else at
        over = (
            (curve[0] >= left) & (curve[0] <= left + wide) & (curve[1] >= base - 20) & (curve[1] <= base + 4)
        )
        return int(over.sum()) + (10_000 if left < 0 or left + wide > plot.width else 0)

    anchor, at, base = min(inside, key=covered)
    return (
        f'<text class="sg-limit-name" transform="translate({at:.0f} {base:.0f})scale(2)" '
        f'text-anchor="{anchor}">{escape(words)}</text>'
    )
