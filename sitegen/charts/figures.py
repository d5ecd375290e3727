"""Figures that leave the site: what `report.md` shows, drawn by matplotlib as PNG or SVG.

The same input gives the same bytes: one figure is used again, styles never come from the user's own
settings, ids are salted and no date is written.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from sitegen.charts import fonts, palette
from sitegen.charts.drawing import Curve, Drawing, Mark
from sitegen.charts.labels import tick_labels
from sitegen.charts.scale import within
from sitegen.model import Floats, Phase

_STYLES = (("-", "—"), ((0, (6, 2)), "– –"), ((0, (2, 1.5)), "···"))  # colour is never the only sign
_WIDTH, _HEIGHT, _DPI = 10.0, 4.2, 110
_AXIS_GAP = 58  # points between the second and the third axis
_MOST_MARKS = 10


def draw(drawing: Drawing, form: str = "png") -> bytes:
    """`drawing` as "png" or "svg". Raises ValueError where no curve has a value."""
    curves = [replace(one, values=within(one.values)) for one in drawing.curves if len(one.steps)]
    if not curves:
        raise ValueError("nothing to draw: no curve has a value")
    with mpl.rc_context(), _own_style():
        figure = _figure()
        figure.clear()
        axes = _axes(figure, len(curves))
        low, high = _span(curves)
        _background(axes[0], drawing.phases, low, high)
        for place, (axis, curve) in enumerate(zip(axes, curves, strict=True)):
            _line(axis, curve, place)
        _marks(axes[-1], drawing.marks)
        _frame(axes, drawing, low, high)
        return _saved(figure, form)


@contextmanager
def _own_style() -> Iterator[None]:
    mpl.rcdefaults()
    mpl.rcParams.update(
        {
            "font.family": fonts.families(),
            "font.size": 9,
            "svg.hashsalt": "sitegen",
            "axes.edgecolor": palette.GRID,
            "axes.labelcolor": palette.INK,
            "xtick.color": palette.MUTED,
            "ytick.color": palette.MUTED,
        }
    )
    yield


@cache
def _figure() -> Figure:
    figure = Figure(figsize=(_WIDTH, _HEIGHT), dpi=_DPI)
    FigureCanvasAgg(figure)
    return figure


def _axes(figure: Figure, n: int) -> list[Axes]:
    first = figure.add_axes((0.075, 0.12, (0.845, 0.845, 0.765)[n - 1], 0.7))
    axes = [first, *(first.twinx() for _ in range(n - 1))]
    if n == 3:
        axes[2].spines["right"].set_position(("outward", _AXIS_GAP))
    return axes


def _span(curves: Sequence[Curve]) -> tuple[float, float]:
    low = float(min(curve.steps.min() for curve in curves))
    high = float(max(curve.steps.max() for curve in curves))
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _background(axis: Axes, phases: Sequence[Phase], low: float, high: float) -> None:
    for phase in phases:
        first, last = max(low, phase.first - 0.5), min(high, phase.last + 0.5)
        if last <= first:
            continue
        axis.axvspan(first, last, color=palette.PHASES.get(phase.phase, palette.OTHER), alpha=0.22, lw=0)
        name = phase.phase.replace("_", " ")
        if (last - first) / (high - low) > 0.0085 * len(name):
            axis.text(
                (first + last) / 2,
                0.985,
                name,
                transform=axis.get_xaxis_transform(),
                ha="center",
                va="top",
                fontsize=7.5,
                color=palette.MUTED,
            )


def _line(axis: Axes, curve: Curve, place: int) -> None:
    colour = palette.FAMILIES.get(curve.family, palette.OTHER)
    smooth = smoothed(curve.values)
    axis.plot(curve.steps, curve.values, color=colour, lw=0.8, alpha=0.3)
    style, sign = _STYLES[place]
    marker = "o" if len(curve.steps) < 4 else None
    axis.plot(curve.steps, smooth, color=colour, lw=1.6, ls=style, marker=marker, ms=4)
    low, high = _limits(curve.values)
    low = min(low, 0.0) if curve.family == "memory" else low  # a level: half as high must look half as much
    axis.set_ylim(low, high)
    _outliers(axis, curve, low, high, colour)
    unit = f" ({curve.unit})" if curve.unit else ""
    axis.set_ylabel(f"{sign}  {curve.label}{unit}", color=colour, fontsize=8.5, labelpad=3, parse_math=False)
    axis.yaxis.set_major_locator(MaxNLocator(5))
    axis.yaxis.set_major_formatter(FuncFormatter(_labeller(axis)))
    axis.tick_params(axis="y", colors=colour, labelsize=8, length=2)


def _labeller(axis: Axes):  # type: ignore[no-untyped-def]
    def label(value: float, _: int | None) -> str:
        ticks = axis.yaxis.get_majorticklocs()
        step = float(ticks[1] - ticks[0]) if len(ticks) > 1 else max(abs(value), 1.0)
        return tick_labels([value], step)[0][0].replace("-", "\u2212", 1)

    return label


def smoothed(values: Floats) -> Floats:
    """Centred median over about a fortieth of the run, which no lone spike moves; short runs stay."""
    width = max(1, len(values) // 40) | 1
    if width == 1:
        return values
    padded = np.pad(values, width // 2, mode="edge")
    return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(padded, width), axis=1))


def _limits(values: Floats) -> tuple[float, float]:
    """Range that the first step and lone spikes cannot blow up; room for the names on top."""
    low, high = (float(v) for v in np.percentile(values, (0.5, 99.5)))
    if len(values) < 40 or high == low:
        low, high = float(values.min()), float(values.max())
    else:
        room = 0.5 * (high - low)
        low, high = max(float(values.min()), low - room), min(float(values.max()), high + room)
    spread = (high - low) or max(abs(high), 1.0) * 0.1
    return low - 0.06 * spread, high + 0.16 * spread


def _outliers(axis: Axes, curve: Curve, low: float, high: float, colour: str) -> None:
    for outside, marker, edge in ((curve.values > high, "^", 0.985), (curve.values < low, "v", 0.015)):
        steps = curve.steps[outside]
        axis.plot(
            steps,
            np.full(len(steps), edge),
            marker,
            transform=axis.get_xaxis_transform(),
            color=colour,
            ms=3.5,
            clip_on=False,
        )


def _marks(axis: Axes, marks: Sequence[Mark]) -> None:
    width = axis.get_xlim()[1] - axis.get_xlim()[0]
    rows: list[float] = []  # where the last label of each row ends
    for place, mark in enumerate(sorted(marks, key=lambda one: (one.step, one.label))):
        colour = palette.SEVERITIES.get(mark.severity, palette.OTHER)
        axis.axvline(mark.step, color=colour, lw=0.9, ls=(0, (4, 2)), alpha=0.85)
        if place >= _MOST_MARKS:
            continue
        row = next((i for i, end in enumerate(rows) if end <= mark.step), len(rows))
        if row > 2:
            continue
        end = mark.step + width * 0.075
        rows[row : row + 1] = [end]
        axis.text(
            mark.step,
            1.012 + 0.045 * row,
            f"▾ {mark.label}",
            transform=axis.get_xaxis_transform(),
            fontsize=7.5,
            color=colour,
            ha="left",
            va="bottom",
            parse_math=False,
        )


def _frame(axes: Sequence[Axes], drawing: Drawing, low: float, high: float) -> None:
    first = axes[0]
    first.set_xlim(low, high)
    first.set_xlabel("step", fontsize=8.5, labelpad=2)
    first.xaxis.set_major_locator(MaxNLocator(9, integer=True, steps=[1, 2, 5, 10]))
    first.xaxis.set_major_formatter(FuncFormatter(lambda value, _: tick_labels([value], 1.0)[0][0]))
    first.tick_params(axis="x", labelsize=8, length=2)
    first.grid(axis="y", color=palette.GRID, lw=0.7)
    first.set_axisbelow(True)
    for axis in axes:
        axis.spines["top"].set_visible(False)
    title = fonts.legible(drawing.title, drawing.fallback)
    first.figure.text(
        0.075, 0.975, title, ha="left", va="top", fontsize=11, color=palette.INK, parse_math=False
    )


def _saved(figure: Figure, form: str) -> bytes:
    out = io.BytesIO()
    metadata = {"Date": None, "Creator": "sitegen"} if form == "svg" else {"Software": "sitegen"}
    figure.savefig(out, format=form, dpi=_DPI, metadata=metadata)
    return out.getvalue()
