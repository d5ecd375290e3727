"""Simulated runs drawn as little charts: what was put in, and what the rule said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from sitegen.language import t
from sitegen.pages import words
from sitegen.reports.shapes import RuleScore, RunSketch

WIDTH, HEIGHT, EDGE = 240, 56, 4
BAR = 5  # height of the bar below a line that marks the finding

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A run with its drawing. `outcome` is missed, found or alarm."""

    name: str
    anchor: str
    outcome: str
    says: str
    metric: str
    range: str
    svg: Markup


def anchor(name: str) -> str:
    """Where the page of a rule shows the run of this name."""
    return f"run-{name}"


def drawings(score: RuleScore) -> tuple[Drawn, ...]:
    """The runs that were kept: misses, findings without reason, hits, each in the order of their names."""
    missed = {one.name(seed) for one in score.runs for seed in one.missed}
    order = {"missed": 0, "alarm": 1, "found": 2}
    drawn = [
        _drawn(name, one, "missed" if name in missed else "alarm" if name in score.alarmed else "found")
        for name, one in score.sketches.items()
    ]
    return tuple(sorted(drawn, key=lambda one: order[one.outcome]))


def _drawn(name: str, one: RunSketch, outcome: str) -> Drawn:
    low, high = words.number(one.low), words.number(one.high)
    height = low if low == high else t("{first} to {last}", first=low, last=high)
    says = _says(one, outcome)
    return Drawn(name, anchor(name), outcome, says, one.metric, height, _svg(f"{name}: {says}", one))


def _says(one: RunSketch, outcome: str) -> str:
    if outcome == "alarm":
        return t("fired without reason on {steps}", steps=_steps(one.found))
    put = t("put in at {steps}", steps=_steps(one.truth)) if one.truth else t("the whole run is like that")
    if outcome == "missed":
        return t("missed; {put}", put=put)
    if not one.truth or not one.found or 0 in (one.truth[0], one.found[0]):
        return t("found; {put}", put=put)
    return t("found {when}; {put}", when=_late(one.found[0] - one.truth[0]), put=put)


def _late(steps: int) -> str:
    if not steps:
        return t("at its first step")
    by = words.plural(abs(steps), "step")
    return t("{steps} late", steps=by) if steps > 0 else t("{steps} early", steps=by)


def _steps(span: Span | None) -> str:
    if span is None or not span[0]:
        return t("the beginning, before the first step")
    return words.span(*span)


def _svg(label: str, one: RunSketch) -> Markup:
    truth = _mark(one.truth, one.steps, "sg-case-band", 0, HEIGHT)
    found = _mark(one.found, one.steps, "sg-run-found", HEIGHT - BAR, BAR)
    return Markup(  # noqa: S704  built from numbers and the escaped label only
        f'<svg class="sg-case" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(label)}">{truth}<path d="{_path(one.values)}"/>{found}</svg>'
    )


def _mark(span: Span | None, steps: Span, kind: str, top: int, height: int) -> str:
    """A rectangle over the steps of `span`, at least two units wide."""
    if span is None:
        return ""
    whole = max(1, steps[1] - steps[0] + 1)
    left, right = (min(max((step - steps[0]) / whole * WIDTH, 0), WIDTH) for step in (span[0], span[1] + 1))
    left = min(left, WIDTH - 2)
    return (
        f'<rect class="{kind}" x="{left:.1f}" y="{top}" '
        f'width="{max(2.0, right - left):.1f}" height="{height}"/>'
    )


def _path(values: Sequence[float | None]) -> str:
    across = WIDTH / max(1, len(values))
    drawn, pen = [], "M"
    for place, value in enumerate(values):
        if value is None:
            pen = "M"
            continue
        drawn.append(
            f"{pen}{(place + 0.5) * across:.0f} {EDGE + (HEIGHT - 2 * EDGE - BAR) * (1 - value):.0f}"
        )
        pen = "L"
    return "".join(drawn) + ("h0" if len(drawn) == 1 else "")
