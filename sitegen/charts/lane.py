"""NaN and infinite values in a lane of their own below the curve."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import escape

from sitegen.charts.frame import Frame, Size

LANE = 11  # px
_WORDS = {"nan": "NaN", "inf": "inf", "-inf": "-inf", "null": "null"}
_SIGNS = {"nan": "m-2-2 4 4m0-4-4 4", "inf": "m-2 2 2-4 2 4", "-inf": "m-2-2 2 4 2-4", "null": "m-2 0h4"}


def lane(lost: Sequence[tuple[int, str]], frame: Frame, size: Size) -> str:
    """Marks of non-finite values: a cross for NaN, arrows for the infinities, a bar for null.

    Args:
        lost: (step, "nan" | "inf" | "-inf" | "null"), at least one, within the frame.
        frame: x range.
        size: of the chart.
    """
    top = size.top + size.plot_height - LANE + 1
    kinds = sorted({raw for _, raw in lost})
    box = f'x="{size.left}" y="{top}" width="{size.plot_width}" height="{LANE - 1}"'
    ground = f'<rect class="sg-lane" {box}/>'
    name = escape(_WORDS.get(kinds[0], kinds[0]) if len(kinds) == 1 else "NaN/inf")
    text = f'<text x="{size.left - 6}" y="{top + 9}" text-anchor="end">{name}</text>'
    by_kind = {kind: [step for step, raw in lost if raw == kind] for kind in kinds}
    marks = "".join(_kind(kind, steps, top + 5, frame, size) for kind, steps in by_kind.items())
    return ground + text + marks


def _kind(kind: str, steps: Sequence[int], y: int, frame: Frame, size: Size) -> str:
    """All marks of one kind as one path; marks closer than their width are drawn once."""
    places = sorted({round((size.left + frame.position(step) * size.plot_width) / 5) * 5 for step in steps})
    sign = _SIGNS.get(kind, _SIGNS["nan"])
    path = "".join(f"M{x} {y}{sign}" for x in places)
    word = _WORDS.get(kind, kind)
    where = f"step {steps[0]}" if len(steps) == 1 else f"{len(steps)} steps, {min(steps)} to {max(steps)}"
    return f'<path class="sg-nan" d="{path}"><title>{escape(word)} at {where}</title></path>'
