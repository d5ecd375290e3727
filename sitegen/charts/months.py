"""Counts by month as stacked columns, the gravest at the bottom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from sitegen.charts.markup import drawn

_WIDTH, _LEFT, _TOP, _FLOOR, _HEIGHT = 560, 40, 12, 84, 106
_WIDEST, _GAP = 44, 0.2  # of a column in px; between columns as a share of their pitch
_LABELS = 6  # months that are named below the columns at most


@dataclass(frozen=True, slots=True)
class Column:
    """A month: name, content in words, where it leads, and (severity word, count), gravest first."""

    name: str
    told: str
    href: str
    parts: tuple[tuple[str, int], ...]

    @property
    def height(self) -> int:
        return sum(count for _, count in self.parts)


def months(columns: Sequence[Column], label: str) -> Markup:
    """Columns from left to right as SVG; each leads to its month. Raises ValueError without any."""
    most = max(column.height for column in columns) or 1
    pitch = (_WIDTH - _LEFT) / len(columns)
    wide = min(_WIDEST, pitch * (1 - _GAP))
    drawings = "".join(
        _column(one, _LEFT + pitch * (place + 0.5) - wide / 2, wide, most)
        for place, one in enumerate(columns)
    )
    return drawn(
        f'<svg class="sg-svg sg-months" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="group" '
        f'aria-label="{escape(label)}">{_grid(most)}{drawings}{_names(columns, pitch)}</svg>'
    )


def _column(one: Column, x: float, wide: float, most: int) -> str:
    y, boxes = float(_FLOOR), []
    for word, count in one.parts:
        tall = (_FLOOR - _TOP) * count / most
        y -= tall
        if count:
            boxes.append(
                f'<rect class="sg-in-{escape(word)}" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" '
                f'height="{tall:.1f}"/>'
            )
    if not boxes:
        return ""
    return (
        f'<a href="{escape(one.href)}" aria-label="{escape(one.told)}"><title>{escape(one.told)}</title>'
        f"{''.join(boxes)}</a>"
    )


def _grid(most: int) -> str:
    lines = ((_TOP, str(most)), (_FLOOR, "0"))
    return "".join(
        f'<path class="sg-gridline" d="M{_LEFT} {y}H{_WIDTH}"/>'
        f'<text class="sg-tick" x="{_LEFT - 6}" y="{y + 4}" text-anchor="end">{text}</text>'
        for y, text in lines
    )


def _names(columns: Sequence[Column], pitch: float) -> str:
    step = -(-len(columns) // _LABELS)
    return "".join(
        f'<text class="sg-tick" x="{_LEFT + pitch * (place + 0.5):.1f}" y="{_HEIGHT - 4}" '
        f'text-anchor="middle">{escape(one.name)}</text>'
        for place, one in enumerate(columns)
        if place % step == 0
    )
