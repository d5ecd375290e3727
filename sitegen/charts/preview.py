"""The picture that a link to a page unfolds into: 1 200 x 630 pixels, drawn by matplotlib.

Everything lies in one axes of the size of the picture, y downwards; an axes per curve would take as long as
all the rest. The same input gives the same bytes where fonts and matplotlib are the same.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont
from matplotlib.patches import FancyBboxPatch, Rectangle
from PIL import Image

from sitegen.charts import fonts, palette, textwidth
from sitegen.charts.drawing import Curve, Part, Preview
from sitegen.charts.figures import smoothed
from sitegen.charts.frame import Mark, Span
from sitegen.charts.scale import axis as value_axis
from sitegen.charts.scale import step_ticks
from sitegen.model import Floats

WIDTH, HEIGHT = 1200, 630
_EDGE = 56
_DPI = 100
_POINT = 72 / _DPI  # points per pixel
_RIBBON, _CHART = (296, 34), (346, 520)  # y and height; top and bottom
_LEFT, _RIGHT = _EDGE + 64, WIDTH - _EDGE - 64  # of the chart
_WORD = 17  # pixels of small words
_COLOURS = 64  # of the file: a third of the bytes, and no difference to see
_RANK = {"critical": 0, "error": 1, "warning": 2}


def draw(what: Preview) -> bytes:
    """`what` as PNG."""
    with mpl.rc_context():
        mpl.rcdefaults()
        sheet = _sheet()
        _head(sheet, what)
        if what.first is not None and what.last is not None:
            place = _Place(what.first, what.last)
            _ribbon(sheet, what.spans, place)
            _curves(sheet, what.curves, place)
            _marks(sheet, what.marks, place)
        elif what.bar:
            _bar(sheet, what.bar)
        _foot(sheet, what.facts)
        return _saved()


def foreign(what: Preview) -> bool:
    """Whether it has signs that only a font of this machine can have, not the one that matplotlib brings."""
    return not all(map(fonts.bundled, (what.title, what.verdict, *what.facts)))


@cache
def machine() -> str:
    """Changes with the font of this machine that `foreign` signs are drawn with."""
    state = hashlib.sha256()
    for name in fonts.families()[1:]:
        state.update(Path(findfont(name)).read_bytes())
    return state.hexdigest()[:16]


@cache
def _figure() -> Figure:
    figure = Figure(figsize=(WIDTH / _DPI, HEIGHT / _DPI), dpi=_DPI)
    FigureCanvasAgg(figure)
    return figure


def _sheet() -> Axes:
    figure = _figure()
    figure.clear()
    sheet = figure.add_axes((0, 0, 1, 1))
    sheet.set_axis_off()
    sheet.set_xlim(0, WIDTH)
    sheet.set_ylim(HEIGHT, 0)
    return sheet


class _Place:
    """Steps to pixels."""

    def __init__(self, first: int, last: int) -> None:
        self.first, self.last = first, last

    def of(self, step: float) -> float:
        """Pixel from the left, within the chart."""
        share = (step - self.first) / max(1, self.last - self.first)
        return _LEFT + (_RIGHT - _LEFT) * min(max(share, 0.0), 1.0)


def _say(
    sheet: Axes,
    x: float,
    y: float,
    words: str,
    size: float,
    colour: str,
    at: str = "left",
    bold: bool = False,
) -> None:
    """Words at a baseline. The font of this machine is asked only for what the bundled one has not."""
    plain = fonts.bundled(words)
    sheet.text(
        x,
        y,
        words,
        fontsize=size * _POINT,
        color=colour,
        ha=at,
        weight="bold" if bold and plain else "normal",
        family=fonts.families()[:1] if plain else fonts.families(),
        parse_math=False,
    )


def _head(sheet: Axes, what: Preview) -> None:
    room = float(WIDTH - 2 * _EDGE)
    if what.badge is not None:
        word, colour = what.badge
        wide = textwidth.pixels(word, 26) * 1.12 + 36
        box = FancyBboxPatch((_EDGE, 48), wide, 46, boxstyle="round,pad=0,rounding_size=8", fc=colour, lw=0)
        sheet.add_patch(box)
        _say(sheet, _EDGE + wide / 2, 80, word, 26, "#ffffff", "center", True)
    title = fonts.legible(what.title, what.fallback)
    left = _EDGE if what.badge is None else _EDGE + wide + 22
    _say(sheet, left, 81, textwidth.cut(title, 29, _EDGE + room - left), 29, palette.MUTED)
    shown = fonts.legible(what.verdict, what.fallback)
    for line, words in enumerate(textwidth.lines(shown, 47, room / 1.06, 3)):
        _say(sheet, _EDGE, 160 + 56 * line, words, 45, palette.INK, bold=True)


def _ribbon(sheet: Axes, spans: Sequence[Span], place: _Place) -> None:
    top, height = _RIBBON
    sheet.add_patch(Rectangle((_LEFT, top), _RIGHT - _LEFT, height, fc="#eef1f2", lw=0))
    for span in spans:
        left, right = place.of(span.first), place.of(span.last + 1)
        colour = palette.PHASES.get(span.phase, palette.OTHER)
        sheet.add_patch(Rectangle((left, top), right - left, height, fc=colour, lw=0))
        word = span.phase.replace("_", " ")
        if textwidth.pixels(word, _WORD) + 12 < right - left:
            _say(sheet, (left + right) / 2, top + 23, word, _WORD, palette.INK, "center")


def _curves(sheet: Axes, curves: Sequence[Curve], place: _Place) -> None:
    top, bottom = _CHART
    sheet.plot((_LEFT, _RIGHT), (bottom, bottom), color=palette.GRID, lw=1.5)
    for number, curve in enumerate(curves[:2]):
        colour = palette.FAMILIES.get(curve.family, palette.OTHER)
        scale = value_axis(curve.values)
        high, low = scale.hi, scale.lo

        def y(values: Floats, high: float = high, low: float = low) -> Floats:
            share = np.clip((high - values) / (high - low), 0.0, 1.0)
            return np.asarray(top + (bottom - top) * share)

        x = np.array([place.of(step) for step in curve.steps.tolist()])
        raw = scale.units(curve.values)
        sheet.plot(x, y(raw), color=colour, lw=1, alpha=0.3)
        style = "-" if number == 0 else (0, (5, 2))
        marker = "o" if len(x) < 4 else None
        sheet.plot(x, y(smoothed(raw)), color=colour, lw=3, ls=style, marker=marker)
        edge, side = ((_LEFT - 10, "right"), (_RIGHT + 10, "left"))[number]
        for value, label in zip(scale.ticks, scale.labels, strict=True):
            _say(sheet, edge, float(y(np.array([value]))[0]) + 6, label, _WORD, colour, side)
        name = f"{curve.label} ({curve.unit})" if curve.unit else curve.label
        name = textwidth.cut(f"{name} – –" if number else f"— {name}", 20, 460)
        _say(sheet, (_LEFT, _RIGHT)[number], bottom + 52, name, 20, colour, ("left", "right")[number])
    for step in step_ticks(place.first, place.last, 5)[1:-1]:
        _say(sheet, place.of(step), bottom + 22, f"{step}", _WORD, palette.MUTED, "center")


def _marks(sheet: Axes, marks: Sequence[Mark], place: _Place) -> None:
    """A dashed line where an incident began; the worst are named first, others where there is room."""
    top, bottom = _RIBBON[0], _CHART[1]
    taken: list[tuple[float, float]] = []
    for mark in sorted(marks, key=lambda one: (_RANK.get(one.severity, 9), one.step, one.label)):
        x = place.of(mark.step)
        colour = palette.SEVERITIES.get(mark.severity, palette.OTHER)
        sheet.plot((x, x), (top - 6, bottom), color=colour, lw=1.6, ls=(0, (4, 3)))
        half = textwidth.pixels(mark.label, _WORD) * 0.56 + 5
        if all(x + half <= left or x - half >= right for left, right in taken):
            _say(sheet, x, top - 10, mark.label, _WORD, colour, "center", True)
            taken.append((x - half, x + half))


def _bar(sheet: Axes, parts: Sequence[Part]) -> None:
    left, top = float(_EDGE), 320
    for part in parts:
        wide = (WIDTH - 2 * _EDGE) * part.share
        sheet.add_patch(Rectangle((left, top), max(wide - 3, 1), 64, fc=part.colour, lw=0))
        if textwidth.pixels(part.word, 22) + 10 < wide:
            _say(sheet, left + wide / 2, top + 40, part.word, 22, "#ffffff", "center", True)
        left += wide


def _foot(sheet: Axes, facts: Sequence[str]) -> None:
    words = textwidth.cut(" · ".join(fonts.legible(fact, "–") for fact in facts), 22, WIDTH - 2 * _EDGE)
    _say(sheet, _EDGE, HEIGHT - 20, words, 22, palette.MUTED)


def _saved() -> bytes:
    canvas = _figure().canvas
    assert isinstance(canvas, FigureCanvasAgg)
    canvas.draw()  # type: ignore[no-untyped-call]
    picture = Image.fromarray(np.asarray(canvas.buffer_rgba()))  # type: ignore[no-untyped-call]
    out = io.BytesIO()
    few = picture.convert("RGB").quantize(
        _COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE
    )
    few.save(out, "PNG", compress_level=6)
    return out.getvalue()
