"""A choice of the trajectories that a run traced, and its tools in numbers."""

from __future__ import annotations

from dataclasses import dataclass

from sitegen.language import t
from sitegen.model import Page
from sitegen.pages import render as rendering
from sitegen.pages import trajectory, words
from sitegen.reports.shapes import RunReport
from sitegen.reports.traces import HEAD, SPANS, TAIL
from sitegen.reports.trajectories import CallView, ToolView, TracesReport, TrajectoryView

KIND = "traces"


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


def page(report: RunReport, render: rendering.Render) -> Page | None:
    """`/runs/<run>/traces/`, None where the run has no traces."""
    found = report.traces
    if found is None:
        return None
    failed = sum(tool.failed for tool in found.tools)
    return rendering.below(
        render,
        report.run,
        KIND,
        title=t("Traces"),
        summary=summary(found),
        choice=_choice(found),
        tools=tuple(map(_tool, found.tools)),
        failed=tuple(map(_call, found.failed)),
        failed_more=failed - len(found.failed),
        slowest=tuple(map(_call, found.slowest)),
        shown=tuple(trajectory.shown(one, found, one is _opened(found)) for one in found.shown),
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
    whole = words.plural(counts.traces, "trajectory", "trajectories")
    if counts.first is not None:
        when = words.span(counts.first, counts.last)
        whole = t("{trajectories} of {steps}", trajectories=whole, steps=when)
    calls = words.plural(counts.calls, "tool call")
    told = t("{trajectories} with {calls}", trajectories=whole, calls=calls)
    if not counts.calls:
        return told
    if not counts.failed:
        return t("{told}, none of which failed", told=told)
    return t("{told}, {n} of which failed", told=told, n=words.count(counts.failed))


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
        return t("All trajectories are shown here.")
    shown = words.plural(len(found.shown), "trajectory is", "trajectories are")
    return t(
        "{shown} shown here: failed, slowest, longest and random ones, those around incidents, of the "
        "first and last step, and of the calls below. {others} not shown.",
        shown=shown,
        others=words.plural(left, "other is", "others are"),
    )


def _tool(one: ToolView) -> Tool:
    times = (trajectory.seconds(value) for value in (one.p50_s, one.p95_s, one.longest_s))
    counts = words.count(one.calls), rate(one), words.count(one.failed), one.failed > 0, words.count(one.open)
    return Tool(one.name, *counts, *times)


def _call(one: CallView) -> Call:
    step = words.MISSING if one.step is None else words.count(one.step)
    return Call(one.tool, step, trajectory.seconds(one.duration_s), one.error, one.anchor)
