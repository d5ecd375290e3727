"""A choice of the trajectories that a run traced, and its tools in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.model import Page
from sitegen.pages import render as rendering
from sitegen.pages import texts, words
from sitegen.reports.excerpts import Excerpt
from sitegen.reports.shapes import RunReport
from sitegen.reports.traces import HEAD, SPANS, TAIL
from sitegen.reports.trajectories import CallView, SpanView, ToolView, TracesReport, TrajectoryView

KIND = "traces"
_LONG = 160  # characters of a text that is folded
_BEGIN = 100  # of them in the fold's line
_DEEP = 6  # levels that are indented
_NAMES = {"llm": "generation", "tool": "tool call", "agent": "agent", "parser": "parser", "other": ""}
_CHOSEN = (
    "failed, slowest, longest and random ones, those around incidents, of the first and last step, and of "
    "the calls below"
)


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


@dataclass(frozen=True, slots=True)
class Tool:
    """A row of the table of tools."""

    name: str
    calls: str
    rate: str
    failed: str
    bad: bool
    open: str
    p50: str
    p95: str
    longest: str


@dataclass(frozen=True, slots=True)
class Call:
    """A row of a table of calls."""

    tool: str
    step: str
    seconds: str
    error: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Link:
    """Where to read what an agent did before and at an onset; "" = nothing was traced."""

    before: str
    at: str


def path(run: str) -> str:
    """Where the page lies below the site root."""
    return f"runs/{run}/traces/"


def page(report: RunReport, render: rendering.Render) -> Page | None:
    """`/runs/<run>/traces/`, None where the run has no traces."""
    found = report.traces
    if found is None:
        return None
    run = report.run
    failed = sum(tool.failed for tool in found.tools)
    return rendering.page(
        render,
        "traces.html",
        path(run.id),
        title=f"Traces of {run.title}",
        description=f"A choice of {summary(found)}.",
        kind=KIND,
        run=run,
        summary=summary(found),
        choice=_choice(found),
        tools=tuple(map(_tool, found.tools)),
        failed=tuple(map(_call, found.failed)),
        failed_more=failed - len(found.failed),
        slowest=tuple(map(_call, found.slowest)),
        shown=tuple(_trajectory(one, found) for one in found.shown),
        total=words.count(found.counts.traces),
        limits=(words.count(HEAD + TAIL), words.count(SPANS)),
    )


def _opened(found: TracesReport) -> TrajectoryView | None:
    """The trajectory that is unfolded: one that failed, else the first."""
    failed = (one for one in found.shown if "failed" in one.roles)
    return next(failed, found.shown[0] if found.shown else None)


def summary(found: TracesReport) -> str:
    """`4 trajectories of steps 1 to 2 with 5 tool calls, 1 of which failed`."""
    counts = found.counts
    parts = [words.plural(counts.traces, "trajectory", "trajectories")]
    if counts.first is not None:
        parts.append(f"of {words.span(counts.first, counts.last)}")
    parts.append(f"with {words.plural(counts.calls, 'tool call')}")
    if counts.calls:
        parts[-1] += f", {words.count(counts.failed) if counts.failed else 'none'} of which failed"
    return " ".join(parts)


def link(report: RunReport, incident: str) -> Link | None:
    """Where the run page finds what the agent did around an incident; None where nothing was traced."""
    around = report.traces.around if report.traces else ()
    for one in around:
        if incident in one.incidents:
            return Link(f"traces/#{one.before}" if one.before else "", f"traces/#{one.at}")
    return None


def rate(one: ToolView) -> str:
    """Share of calls that succeeded, as text."""
    return words.MISSING if one.rate is None else f"{one.rate:.1%}".replace("%", f"{words.THIN}%")


def _choice(found: TracesReport) -> str:
    left = found.counts.traces - len(found.shown)
    if left <= 0:
        return "All trajectories are shown here."
    shown = words.plural(len(found.shown), "trajectory is", "trajectories are")
    return f"{shown} shown here: {_CHOSEN}. {words.plural(left, 'other is', 'others are')} not shown."


def _tool(one: ToolView) -> Tool:
    times = (seconds(value) for value in (one.p50_s, one.p95_s, one.longest_s))
    counts = words.count(one.calls), rate(one), words.count(one.failed), one.failed > 0, words.count(one.open)
    return Tool(one.name, *counts, *times)


def _call(one: CallView) -> Call:
    step = words.MISSING if one.step is None else words.count(one.step)
    return Call(one.tool, step, seconds(one.duration_s), one.error, one.anchor)


def _trajectory(one: TrajectoryView, found: TracesReport) -> Trajectory:
    facts = one.facts
    begun = [name for each in found.around if each.at == one.anchor for name in each.incidents]
    numbers = [
        words.plural(facts.turns, "turn"),
        words.plural(facts.calls, "tool call"),
        f"{words.count(facts.failed)} failed" if facts.failed else "",
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
        open=one is _opened(found),
    )


def _title(one: TrajectoryView) -> str:
    facts = one.facts
    parts = ["Step not known" if facts.step is None else f"Step {words.count(facts.step)}"]
    if facts.sample is not None:
        parts.append(f"sample {words.count(facts.sample)}")
    if facts.rollout is not None:
        parts.append(f"rollout {words.count(facts.rollout)}")
    return ", ".join(parts) + (" (validation)" if facts.validation else "")


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
        kind=_NAMES.get(one.kind, ""),
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
        return "no end" if one.status == "open" else "not timed"
    return seconds(one.duration_s)


def _bar(one: SpanView, whole: float | None) -> Bar | None:
    if not whole or one.start_s is None or one.duration_s is None:
        return None
    x = min(max(one.start_s / whole, 0.0), 1.0)
    width = min(max(one.duration_s / whole, 0.003), 1.0)
    label = f"from {seconds(one.start_s)} to {seconds(one.start_s + one.duration_s)} of {seconds(whole)}"
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
