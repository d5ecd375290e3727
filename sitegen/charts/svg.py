"""One metric as an inline SVG: band and median, gaps, spikes, NaN, forks, thresholds, phases, incidents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from markupsafe import Markup, escape
from numpy.typing import NDArray

from sitegen.charts import buckets, paths, scale
from sitegen.charts.back import whole
from sitegen.charts.border import triangles
from sitegen.charts.describe import describe
from sitegen.charts.frame import Frame, Limit, Size
from sitegen.charts.lane import LANE, lane
from sitegen.charts.limits import limit_lines, near_and_far
from sitegen.charts.markup import drawn
from sitegen.charts.plot import Plot
from sitegen.model import Floats, Ints, Series

FULL = Size(380, 150, 44, 8, 12, 16, raw=90, buckets=164, x_ticks=4, y_ticks=4)
SMALL = Size(280, 104, 44, 8, 10, 15, raw=80, buckets=90, x_ticks=3, y_ticks=3)
EVIDENCE = Size(380, 180, 44, 8, 12, 16, raw=250, buckets=164, x_ticks=4, y_ticks=5)
TINY = replace(SMALL, raw=45, buckets=45)  # for pages of hundreds of metrics

_DOTTED = 24  # so few rows are drawn with a dot each


def chart(
    series: Series,
    frame: Frame,
    size: Size = FULL,
    *,
    title: str = "",
    unit: str = "",
    limits: Sequence[Limit] = (),
    show: Sequence[float] = (),
    behind: str = "",
) -> Markup:
    """Draw one metric.

    Args:
        series: all rows of a run; those outside the frame are left out.
        frame: shared x range, phases and incidents.
        size: FULL, SMALL or EVIDENCE.
        title: how people call the metric; read aloud, not drawn.
        unit: read aloud and shown with the marks at the border.
        limits: thresholds to draw and name.
        show: finite numbers that must be within the y range, however far from the rest.
        behind: id of a `backdrop` on the same page; without it phases and incidents are drawn here.

    Returns:
        An `<svg role="img">` with its summary in `aria-label`.
    """
    shown = (series.steps >= frame.first) & (series.steps <= frame.last)
    finite = np.isfinite(series.values) & shown
    lost = [(step, raw) for step, raw in series.non_finite if frame.first <= step <= frame.last]
    summary = describe(series, finite & series.live, lost, title, unit)
    picture = _drawing(series, finite, lost, frame, size, limits, show, unit)
    ground = f'<use href="#{escape(behind)}"/>' if behind else whole(frame, size)
    return drawn(
        f'<svg class="sg-svg" viewBox="0 0 {size.width} {size.height}" role="img" '
        f'aria-label="{escape(summary)}">{ground}{picture}</svg>'
    )


def backdrop(frame: Frame, size: Size, name: str) -> Markup:
    """Phases, incidents and x axis once per page, for charts drawn with `behind=name`."""
    content = whole(frame, size)
    return drawn(
        '<svg class="sg-svg sg-hidden" aria-hidden="true">'
        f'<g class="sg-svg" id="{escape(name)}">{content}</g></svg>'
    )


def _drawing(
    series: Series,
    finite: NDArray[np.bool_],
    lost: Sequence[tuple[int, str]],
    frame: Frame,
    size: Size,
    limits: Sequence[Limit],
    show: Sequence[float],
    unit: str,
) -> str:
    width, height = 2 * size.plot_width, 2 * size.plot_height - (2 * LANE if lost else 0)
    place = f'<g transform="translate({size.left} {size.top})scale(.5)">'
    strip = lane(lost, frame, size) if lost else ""
    if not finite.any():
        words = "no finite value" if lost else "not logged in this range"
        middle = size.left + size.plot_width // 2
        return f'<text x="{middle}" y="{size.top + height // 4}" text-anchor="middle">{words}</text>{strip}'
    near, far, near_values = near_and_far(series.values[finite], limits, show)
    axis = scale.axis(series.values[finite], [*show, *near_values], size.y_ticks)
    plot = Plot(frame, width, height, axis)
    body = _curves(series, finite, lost, plot, size, unit)
    named = limit_lines(near, far, series, finite & series.live, plot)
    return f"{_y_axis(plot, size)}{place}{body}{named}</g>{strip}"


def _y_axis(plot: Plot, size: Size) -> str:
    axis = plot.axis
    share = (axis.hi - np.array(axis.ticks)) / (axis.hi - axis.lo)
    at = np.rint(share * (plot.height / 2)).astype(int) + size.top
    lines = "".join(f"M{size.left} {y}h{size.plot_width}" for y in at)
    texts = "".join(
        f'<text x="{size.left - 6}" y="{y + 3}">{label}</text>'
        for y, label in zip(at, axis.labels, strict=True)
    )
    note = f"+ {axis.offset}" if axis.offset else "log scale" if axis.log else ""
    extra = f'<text x="{size.left + 3}" y="{size.top + 8}">{note}</text>' if note else ""
    return f'<path class="sg-grid-lines" d="{lines}"/><g text-anchor="end">{texts}</g>{extra}'


def _curves(
    series: Series,
    finite: NDArray[np.bool_],
    lost: Sequence[tuple[int, str]],
    plot: Plot,
    size: Size,
    unit: str,
) -> str:
    live = finite & series.live
    out = [
        _fork(series, finite & (series.segments == number), plot, size) for number in _forked(series, finite)
    ]
    if live.any():
        steps, values = _rising(series.steps[live], series.values[live])
        course = buckets.course(steps, np.array([step for step, _ in lost], dtype=np.int64), plot, size)
        units = plot.axis.units(values)
        out.append(_line(buckets.columns(course, plot.height_of(units)), steps.size))
        out.append(triangles(steps, values, units, course.x, plot.axis, plot.height, unit))
    return "".join(out)


def _line(cols: buckets.Columns, rows: int) -> str:
    line = f'<path class="sg-line" d="{paths.polyline(cols.x, cols.middle, cols.breaks)}"/>'
    if cols.banded:
        return f'<path class="sg-band" d="{paths.area(cols.x, cols.low, cols.high, cols.breaks)}"/>{line}'
    if rows <= _DOTTED:
        return f'{line}<path class="sg-points" d="{paths.dots(cols.x, cols.middle)}"/>'
    return line


def _forked(series: Series, finite: NDArray[np.bool_]) -> list[int]:
    return [int(number) for number in np.unique(series.segments[finite & ~series.live])]


def _fork(series: Series, of_segment: NDArray[np.bool_], plot: Plot, size: Size) -> str:
    """Rows of a segment that a later one rewrote, led in by its last row that was kept."""
    dead = of_segment & ~series.live
    kept = of_segment & series.live & (series.steps < series.steps[dead].min())
    if kept.any():
        dead = dead.copy()
        dead[np.flatnonzero(kept)[-1]] = True
    steps, values = _rising(series.steps[dead], series.values[dead])
    cols = buckets.columns(buckets.course(steps, steps[:0], plot, size), plot.y(values))
    x, y = np.repeat(cols.x, 2), np.column_stack((cols.low, cols.high)).ravel()
    breaks = np.column_stack((cols.breaks, np.zeros_like(cols.breaks))).ravel()
    if not cols.banded:
        x, y, breaks = cols.x, cols.middle, cols.breaks
    title = f"rewritten later: steps {steps[0]} to {steps[-1]}"
    return f'<path class="sg-fork" d="{paths.polyline(x, y, breaks)}"><title>{title}</title></path>'


def _rising(steps: Ints, values: Floats) -> tuple[Ints, Floats]:
    if steps.size < 2 or bool((np.diff(steps) >= 0).all()):
        return steps, values
    order = np.argsort(steps, kind="stable")
    return steps[order], values[order]
