"""A line the size of a word: the course of a score, with ticks where incidents began."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

WIDTH, HEIGHT, EDGE = 120, 24, 2


def spark(
    values: Sequence[float | None],
    marks: Iterable[tuple[float, str]] = (),
    label: str = "",
) -> Markup:
    """Inline SVG of `values` (None = gap) over the whole width.

    Args:
        values: points at equal distances.
        marks: (position 0-1, severity word) of incidents.
        label: read out instead of the drawing; "" marks it as decoration.

    """
    if not any(_finite(v) for v in values):
        return Markup('<span class="sg-muted">–</span>')
    ticks = "".join(_tick(position, word) for position, word in marks)
    spoken = f'role="img" aria-label="{escape(label)}"' if label else 'aria-hidden="true"'
    return Markup(  # noqa: S704  built from numbers, fixed words and the escaped label only
        f'<svg class="sg-spark" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" {spoken}>'
        f'{ticks}<path d="{_path(values)}"/></svg>'
    )


def _path(values: Sequence[float | None]) -> str:
    finite = [float(v) for v in values if v is not None and math.isfinite(v)]
    low, high = min(finite), max(finite)
    height = HEIGHT - 2 * EDGE
    across = WIDTH / max(1, len(values) - 1)
    parts, pen = [], "M"
    for index, value in enumerate(values):
        if value is None or not math.isfinite(value):
            pen = "M"
            continue
        y = HEIGHT / 2 if high == low else EDGE + height * (high - value) / (high - low)
        parts.append(f"{pen}{round(index * across)} {_short(y)}")
        pen = "L"
    return "".join(parts) + ("h0" if len(finite) == 1 else "")  # a lone point shows as a round cap


def _tick(position: float, word: str) -> str:
    x = round(max(0.0, min(1.0, position)) * (WIDTH - 2) + 1)
    return f'<path class="sg-tick sg-tick--{escape(word)}" d="M{x} 0V{HEIGHT}"/>'


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)
