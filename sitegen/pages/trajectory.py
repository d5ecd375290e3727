"""One trajectory as text: its spans in the order of the tree, when each ran, what went in and came out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.language import t
from sitegen.pages import texts, words
from sitegen.reports.excerpts import Excerpt
from sitegen.reports.trajectories import SpanView, TracesReport, TrajectoryView

_LONG = 160  # characters of a text that is folded
_BEGIN = 100  # of them in the fold's line
_DEEP = 6  # levels that are indented
_NAMES = {"llm": "generation", "tool": "tool call", "agent": "agent", "parser": "parser", "other": ""}


@dataclass(frozen=True, slots=True)
class Part:
    """Arguments, result or error of a span."""

    body: Markup
    begin: str
    long: bool


@dataclass(frozen=True, slots=True)
class Bar:
    """When a span ran, in thousandths of its trajectory."""

    x: str
    width: str
    label: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A span as text."""

    name: str
    kind: str
    style: str  # of its border and bar
    depth: int
    turn: int  # 0 = no generation
    took: str
    bad: bool
    note: str
    bar: Bar | None
    arguments: Part | None
    result: Part | None
    error: Part | None


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A trajectory as text."""

    anchor: str
    trace: str
    title: str
    roles: tuple[str, ...]
    incidents: tuple[str, ...]  # that began when it ran
    note: str
    spans: tuple[Shown, ...]
    left_out: int
    open: bool


def shown(one: TrajectoryView, found: TracesReport, unfolded: bool) -> Trajectory:
    """A trajectory of `found` as text."""
    facts = one.facts
    begun = [name for each in found.around if each.at == one.anchor for name in each.incidents]
    numbers = [
        words.plural(facts.turns, "turn"),
        words.plural(facts.calls, "tool call"),
        t("{n} failed", n=words.count(facts.failed)) if facts.failed else "",
        seconds(facts.duration_s),
    ]
    return Trajectory(
        anchor=one.anchor,
        trace=facts.trace,
        title=_title(one),
        roles=one.roles,
        incidents=tuple(begun),
        note=" · ".join(text for text in numbers if text),
        spans=_spans(one.spans, facts.duration_s),
        left_out=one.left_out,
        open=unfolded,
    )


def _title(one: TrajectoryView) -> str:
    facts = one.facts
    parts = [t("Step not known") if facts.step is None else t("Step {step}", step=words.count(facts.step))]
    if facts.sample is not None:
        parts.append(t("sample {n}", n=words.count(facts.sample)))
    if facts.rollout is not None:
        parts.append(t("rollout {n}", n=words.count(facts.rollout)))
    whole = t(", ").join(parts)
    return t("{title} (validation)", title=whole) if facts.validation else whole


def _spans(spans: Sequence[SpanView], whole: float | None) -> tuple[Shown, ...]:
    """Spans as text; generations are numbered as turns."""
    turn, found = 0, []
    for one in spans:
        turn += one.kind == "llm"
        found.append(_span(one, turn if one.kind == "llm" else 0, whole))
    return tuple(found)


def _span(one: SpanView, turn: int, whole: float | None) -> Shown:
    bad = one.status == "error"
    return Shown(
        name=one.name,
        kind=t(_NAMES[one.kind]) if _NAMES.get(one.kind) else "",
        style="error" if bad else one.kind,
        depth=min(one.depth, _DEEP),
        turn=turn,
        took=_took(one),
        bad=bad,
        note=one.note,
        bar=_bar(one, whole),
        arguments=_part(one.arguments),
        result=_part(one.result),
        error=_part(one.error),
    )


def _took(one: SpanView) -> str:
    if one.duration_s is None:
        return t("no end") if one.status == "open" else t("not timed")
    return seconds(one.duration_s)


def _bar(one: SpanView, whole: float | None) -> Bar | None:
    if not whole or one.start_s is None or one.duration_s is None:
        return None
    x = min(max(one.start_s / whole, 0.0), 1.0)
    width = min(max(one.duration_s / whole, 0.003), 1.0)
    label = t(
        "from {start} to {end} of {whole}",
        start=seconds(one.start_s),
        end=seconds(one.start_s + one.duration_s),
        whole=seconds(whole),
    )
    return Bar(f"{1000 * min(x, 1 - width):.1f}", f"{1000 * width:.1f}", label)


def _part(text: Excerpt | None) -> Part | None:
    if text is None:
        return None
    long = text.left_out > 0 or len(text.head) > _LONG or text.head.count("\n") > 2
    return Part(texts.excerpt(text), words.clip(" ".join(text.head[: 2 * _BEGIN].split()), _BEGIN), long)


def seconds(value: float | None) -> str:
    """`0.4 ms`, `14 ms`, `2.3 s`, `4 min 10 s`."""
    if value is None:
        return words.MISSING
    if value < 1:
        milliseconds = 1000 * value
        return f"{milliseconds:.2g} ms" if milliseconds < 10 else f"{milliseconds:.0f} ms"
    return f"{value:.1f} s" if value < 60 else words.duration(value)
