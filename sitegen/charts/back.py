"""What lies behind every chart of a page: phases, incidents and the x axis."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import escape

from sitegen.charts.frame import Frame, Mark, Size, Span
from sitegen.charts.scale import step_ticks

_LINES = 12  # more dashed lines than that hide the data; the others keep their mark
_RANK = {"critical": 0, "error": 1, "warning": 2, "info": 3}
_SHAPES = {  # one shape per severity, 8 px wide, at the top; colour is not the only sign
    "critical": "M{x} .5l4 4-4 4-4-4z",
    "error": "M{left} 1h8l-4 7.5z",
    "warning": "M{left} 8.5h8l-4-7.5z",
}


def whole(frame: Frame, size: Size) -> str:
    """Phases, incidents and x axis as SVG elements."""
    return _phases(frame, size) + _marks(frame, size) + _x_axis(frame, size)


def _x(frame: Frame, size: Size, step: float) -> float:
    return size.left + frame.position(step) * size.plot_width


def _phases(frame: Frame, size: Size) -> str:
    shown = [span for span in frame.spans if span.last >= frame.first and span.first <= frame.last]
    if not shown:
        return ""
    return f'<g class="sg-phases">{"".join(_phase(span, frame, size) for span in shown)}</g>'


def _phase(span: Span, frame: Frame, size: Size) -> str:
    """A phase reaches to where the next one starts: one step further than its last."""
    left, right = _x(frame, size, span.first), _x(frame, size, span.last + 1)
    if frame.first == frame.last:
        left, right = size.left, size.left + size.plot_width
    return (
        f'<rect class="sg-bg-{escape(span.phase)}" x="{left:.0f}" y="{size.top}" '
        f'width="{max(right - left, 1):.0f}" height="{size.plot_height}"/>'
    )


def _marks(frame: Frame, size: Size) -> str:
    drawable = [mark for mark in frame.marks if mark.severity in _SHAPES]
    inside = [mark for mark in drawable if frame.first <= mark.step <= frame.last]
    worst = sorted(inside, key=lambda mark: (_RANK[mark.severity], mark.step))
    return "".join(_mark(mark, mark in worst[:_LINES], frame, size) for mark in inside)


def _mark(mark: Mark, lined: bool, frame: Frame, size: Size) -> str:
    x = round(_x(frame, size, mark.step))
    shape = _SHAPES[mark.severity].format(x=x, left=x - 4)
    line = f'<path class="sg-when" d="M{x} {size.top}v{size.plot_height}"/>' if lined else ""
    return (
        f'<g class="sg-s-{mark.severity}"><title>{escape(mark.title)}</title>{line}'
        f'<path class="sg-when-mark" d="{shape}"/></g>'
    )


def _x_axis(frame: Frame, size: Size) -> str:
    y, right = size.height - 4, size.left + size.plot_width
    ticks = step_ticks(frame.first, frame.last, size.x_ticks)
    out = [f'<text x="{_x(frame, size, t):.0f}" y="{y}">{_step(t)}</text>' for t in _middle(ticks)]
    if len(ticks) > 1:
        out.append(f'<text x="{size.left}" y="{y}" text-anchor="start">{_step(ticks[0])}</text>')
        out.append(f'<text x="{right}" y="{y}" text-anchor="end">{_step(ticks[-1])}</text>')
    return f'<g text-anchor="middle">{"".join(out)}</g>'


def _middle(ticks: Sequence[int]) -> Sequence[int]:
    return ticks if len(ticks) == 1 else ticks[1:-1]


def _step(step: int) -> str:
    if abs(step) >= 10_000 and step % 1000 == 0:
        return f"{step // 1000}k"
    return str(step)
