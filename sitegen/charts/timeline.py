"""The best score of runs by date, and the record they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape

from sitegen.charts import scale
from sitegen.charts.labels import human
from sitegen.charts.markup import drawn
from sitegen.model import Floats

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _FLOOR = 560, 180, 46, 12, 12, 158
_SIGNS = {"crashed": "x", "failed": "x", "attention": "triangle", "unfinished": "ring"}


@dataclass(frozen=True, slots=True)
class Dot:
    """A run of a timeline. `when` in Unix seconds; `day` is its date as text."""

    when: float
    value: float
    day: str
    status: str
    title: str
    href: str


def timeline(dots: Sequence[Dot], label: str, rising: bool = True) -> Markup:
    """Scores of runs over time as SVG; each dot leads to its run.

    Args:
        dots: one per run, two or more, in any order.
        label: what the score is.
        rising: whether more is better; the line follows the best so far.
    """
    ordered = sorted(dots, key=lambda one: (one.when, one.href))
    values = np.array([one.value for one in ordered])
    axis = scale.axis(values)
    first, last = ordered[0].when, ordered[-1].when
    width = _WIDTH - _LEFT - _RIGHT
    xs = [_LEFT + width * ((one.when - first) / (last - first) if last > first else 0.5) for one in ordered]
    ys = [_y(float(unit), axis) for unit in axis.units(values)]
    best = int(np.argmax(values) if rising else np.argmin(values))
    days = f"{ordered[0].day} to {ordered[-1].day}"
    words = f"{label} of {len(ordered)} runs from {days}, best {human(float(values[best]))}"
    line = _record(values, xs, ys, rising)
    marks = "".join(_dot(one, x, y) for one, x, y in zip(ordered, xs, ys, strict=True))
    return drawn(
        f'<svg class="sg-svg sg-timeline" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="group" '
        f'aria-label="{escape(words)}">{_grid(axis)}{_days(ordered)}{line}{marks}</svg>'
    )


def _y(unit: float, axis: scale.Axis) -> float:
    share = (min(max(unit, axis.lo), axis.hi) - axis.lo) / (axis.hi - axis.lo)
    return _FLOOR - share * (_FLOOR - _TOP)


def _grid(axis: scale.Axis) -> str:
    out = []
    for tick, label in zip(axis.ticks, axis.labels, strict=True):
        y = _y(tick, axis)
        out.append(
            f'<path class="sg-gridline" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>'
            f'<text class="sg-tick" x="{_LEFT - 6}" y="{y + 3:.1f}" text-anchor="end">{escape(label)}</text>'
        )
    return "".join(out)


def _days(ordered: Sequence[Dot]) -> str:
    ends = ((_LEFT, "start", ordered[0].day), (_WIDTH - _RIGHT, "end", ordered[-1].day))
    shown = ends[:1] if ordered[0].day == ordered[-1].day else ends
    return "".join(
        f'<text class="sg-tick" x="{x}" y="{_HEIGHT - 6}" text-anchor="{anchor}">{escape(day)}</text>'
        for x, anchor, day in shown
    )


def _record(values: Floats, xs: Sequence[float], ys: Sequence[float], rising: bool) -> str:
    """The best so far, as steps."""
    path, best = f"M{xs[0]:.1f} {ys[0]:.1f}", float(values[0])
    for value, x, y in zip(values[1:], xs[1:], ys[1:], strict=True):
        if value > best if rising else value < best:
            best = float(value)
            path += f"H{x:.1f}V{y:.1f}"
    return f'<path class="sg-record" d="{path}H{xs[-1]:.1f}"/>'


def _dot(one: Dot, x: float, y: float) -> str:
    sign = _SIGNS.get(one.status, "disc")
    shape = {
        "x": f'<path class="sg-sign" d="M{x - 4:.1f} {y - 4:.1f}l8 8m0-8l-8 8"/>',
        "triangle": f'<path class="sg-shape" d="M{x:.1f} {y - 5:.1f}l5 9h-10z"/>',
        "ring": f'<circle class="sg-sign" cx="{x:.1f}" cy="{y:.1f}" r="4"/>',
        "disc": f'<circle class="sg-shape" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>',
    }[sign]
    told = f"{one.title}: {human(one.value, 4)}, {one.status}, {one.day}"
    return (
        f'<a class="sg-at-{escape(one.status)}" href="{escape(one.href)}" aria-label="{escape(told)}">'
        f"<title>{escape(told)}</title>{shape}</a>"
    )
