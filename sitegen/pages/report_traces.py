"""Traces in `report.md`: what an agent's tools came to, and the calls to look at."""

from __future__ import annotations

from collections.abc import Sequence

from sitegen.language import t
from sitegen.pages import traces, trajectory, words
from sitegen.pages.gfm import escape, table
from sitegen.reports.shapes import RunReport
from sitegen.reports.trajectories import CallView, ToolView

_TOOLS = 20
_CALLS = 6


def section(report: RunReport) -> str:
    """The section, "" for a run without traces."""
    found = report.traces
    if found is None:
        return ""
    parts = (
        f"## {t('Traces')}",
        t("{sentence}.", sentence=escape(traces.summary(found))),
        _tools(found.tools),
        _calls(t("Calls that failed"), found.failed, errors=True),
        _calls(t("Slowest calls"), found.slowest, errors=False),
    )
    return "\n\n".join(part for part in parts if part)


def _tools(tools: Sequence[ToolView]) -> str:
    rows = [
        (
            escape(one.name),
            words.count(one.calls),
            traces.rate(one),
            words.count(one.failed),
            *(trajectory.seconds(value) for value in (one.p50_s, one.p95_s, one.longest_s)),
        )
        for one in tools[:_TOOLS]
    ]
    if not rows:
        return ""
    left = t("{sentence}.", sentence=words.plural(len(tools) - _TOOLS, "more tool"))
    more = f"\n\n{left}" if len(tools) > _TOOLS else ""
    columns = (
        *(t("tool"), t("calls"), t("succeeded"), t("failed")),
        *(t("median"), t("95th percentile"), t("longest")),
    )
    return table(columns, rows, numbers=range(1, 7)) + more


def _calls(title: str, calls: Sequence[CallView], errors: bool) -> str:
    rows = [
        (
            escape(one.tool),
            words.count(one.step),
            trajectory.seconds(one.duration_s),
            *((escape(one.error),) if errors else ()),
        )
        for one in calls[:_CALLS]
    ]
    columns = (t("tool"), t("step"), t("took"), *((t("error"),) if errors else ()))
    return t("{title}:", title=title) + "\n\n" + table(columns, rows, numbers=(1, 2)) if rows else ""
