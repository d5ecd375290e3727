"""Values beyond the range of a chart, marked at its border with their number."""

from __future__ import annotations

import numpy as np
from markupsafe import escape
from numpy.typing import NDArray

from sitegen.charts.labels import human
from sitegen.charts.scale import Axis
from sitegen.language import t
from sitegen.model import Floats, Ints

_ROOM = 24.0  # half px; closer outliers share a mark


def triangles(
    steps: Ints, values: Floats, units: Floats, x: Floats, axis: Axis, height: int, unit: str
) -> str:
    """Triangles for values (n,), `units` (n,) on the axis, beyond its ends, at x (n,) in half px."""
    above = _side(units > axis.hi, steps, values, x, "M{x} 0l-6 9h12z", 1.0, unit)
    below = _side(units < axis.lo, steps, values, x, f"M{{x}} {height}l-6-9h12z", -1.0, unit)
    return above + below


def _side(
    out: NDArray[np.bool_], steps: Ints, values: Floats, x: Floats, shape: str, sign: float, unit: str
) -> str:
    at = np.flatnonzero(out)
    if not at.size:
        return ""
    room = np.floor(x[at] / _ROOM)
    groups = np.split(at, np.flatnonzero(np.diff(room)) + 1)
    return "".join(_triangle(group, steps, values, x, shape, sign, unit) for group in groups)


def _triangle(
    group: NDArray[np.intp], steps: Ints, values: Floats, x: Floats, shape: str, sign: float, unit: str
) -> str:
    worst = int(group[np.argmax(sign * values[group])])
    value = f"{human(float(values[worst]))} {unit}".rstrip()
    words = t("step {step}: {value}", step=steps[worst], value=value)
    if group.size > 1:
        first, last = steps[group[0]], steps[group[-1]]
        told = "{value}, the furthest of {n} in steps {first} to {last}"
        words = t(told, value=words, n=group.size, first=first, last=last)
    path = shape.format(x=round(float(x[worst])))
    return f'<path class="sg-out" d="{path}"><title>{escape(words)}</title></path>'
