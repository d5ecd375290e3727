"""Cases of a card drawn as little charts: the invented series, and the rows where it must fire."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from sitegen.language import t
from sitegen.pages import words
from sitegen.reports.shapes import CaseView

WIDTH, HEIGHT, EDGE = 240, 56, 4


@dataclass(frozen=True, slots=True)
class Drawing:
    """A case with one drawing per series."""

    name: str
    fires: bool
    expectation: str
    charts: tuple[tuple[str, str, Markup], ...]  # (metric, "0.05 to 0.9", SVG)


def draw(case: CaseView, phases: bool = False) -> Drawing:
    """`case` ready for a template; with `phases` its spans follow on one another and are no alarm."""
    marks = _borders(case.expect) if phases else _bands(case.expect)
    charts = tuple((name, _range(values), _svg(name, values, marks)) for name, values in case.series.items())
    return Drawing(case.name, case.outcome == "fires" and not phases, _expectation(case, phases), charts)


def _expectation(case: CaseView, phases: bool) -> str:
    if case.outcome == "not_applicable":
        return t("cannot be checked")
    if phases:
        begins = ", ".join(str(first) for first, _ in case.expect)
        return t("phases begin at rows {rows}", rows=begins)
    if case.outcome != "fires":
        return t("stays silent")
    rows = ", ".join(f"{first}–{last}" if last != first else str(first) for first, last in case.expect)
    return t("fires on rows {rows}", rows=rows) if rows else t("fires")


def _bands(expect: Sequence[tuple[int, int]]) -> list[tuple[int, int, str]]:
    return [(first - 1, last - first + 1, "sg-case-band") for first, last in expect]


def _borders(expect: Sequence[tuple[int, int]]) -> list[tuple[int, int, str]]:
    return [(first - 1, 0, "sg-case-border") for first, _ in expect if first > 1]


def _range(values: Sequence[float | None]) -> str:
    finite = [v for v in values if v is not None and math.isfinite(v)]
    if not finite:
        return t("no finite value")
    low, high = min(finite), max(finite)
    return (
        words.number(low)
        if low == high
        else t("{first} to {last}", first=words.number(low), last=words.number(high))
    )


def _svg(name: str, values: Sequence[float | None], marks: Sequence[tuple[int, int, str]]) -> Markup:
    """`marks` are (rows before, rows covered, class); a mark that covers none is a line."""
    across = WIDTH / max(1, len(values))
    drawn = "".join(
        f'<rect class="{kind}" x="{before * across:.1f}" y="0" '
        f'width="{max(1.0, covered * across):.1f}" height="{HEIGHT}"/>'
        for before, covered, kind in marks
    )
    return Markup(  # noqa: S704  built from numbers and the escaped name only
        f'<svg class="sg-case" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(name)}: {_range(values)}">{drawn}<path d="{_path(values, across)}"/></svg>'
    )


def _path(values: Sequence[float | None], across: float) -> str:
    finite = [float(v) for v in values if v is not None and math.isfinite(v)]
    if not finite:
        return ""
    low, high = min(finite), max(finite)
    parts, pen = [], "M"
    for index, value in enumerate(values):
        if value is None or not math.isfinite(value):
            pen = "M"
            continue
        y = HEIGHT / 2 if high == low else EDGE + (HEIGHT - 2 * EDGE) * (high - value) / (high - low)
        parts.append(f"{pen}{(index + 0.5) * across:.1f} {y:.1f}")
        pen = "L"
    return "".join(parts) + ("h0" if len(finite) == 1 else "")
