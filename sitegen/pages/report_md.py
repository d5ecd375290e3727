"""`report.md`: one run as Markdown that reads well on GitHub, in an editor and in a terminal.

Everything from a log is escaped: nothing in it becomes markup, HTML, a link or a mention.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from sitegen.metrics import glossary
from sitegen.model import Outcome, Run, Severity, Verdict
from sitegen.pages import report_samples, report_traces, words
from sitegen.pages.gfm import code, escape, table, target
from sitegen.pages.report_figures import EFFICIENCY, EFFICIENCY_KEYS, TREND, live, views
from sitegen.pages.report_incidents import explained, incidents
from sitegen.reports import setup
from sitegen.reports.shapes import MetricView, RunReport

_FOLD = 8  # more rows than this are folded away


def document(report: RunReport, figures: Mapping[str, str] | None = None) -> str:
    """The report as GitHub-flavoured Markdown.

    Args:
        report: the run.
        figures: kind ("trend", "efficiency") -> file name beside the Markdown; what is missing is left out.
    """
    shown = figures or {}
    parts = (
        _head(report),
        _picture(TREND, shown, "Reward, KL and actor loss over the steps"),
        _phases(report),
        _timeline(report),
        explained(report),
        incidents(report),
        _muted(report),
        _validation(report),
        report_samples.section(report),
        report_traces.section(report),
        _time(report),
        _efficiency(report, shown),
        _unchecked(report),
        _problems(report),
        _provenance(report),
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(report: RunReport) -> str:
    verdict = f"> **{escape(report.headline)}.** {escape(report.sentence)}".rstrip()
    facts = "\n".join(f"| {name} | {value} |" for name, value in _facts(report))
    return f"# {escape(report.run.title)}\n\n{verdict}\n\n| | |\n|---|---|\n{facts}"


def _facts(report: RunReport) -> Iterator[tuple[str, str]]:
    run, row = report.run, report.row
    yield "Status", f"**{report.status.value}**, {report.state.value.replace('_', ' ').lower()}"
    if row.best:
        yield (
            "Best",
            f"{words.number(row.best.value)} ({escape(row.best.label)}) at step {words.count(row.best.step)}",
        )
    yield "Steps", _steps(run)
    if run.wall_s is not None:
        yield "Wall time", words.duration(run.wall_s)
    if run.hardware or run.gpus:
        spent = f", {words.hours(run.gpu_hours)} GPU-hours" if run.gpu_hours is not None else ""
        yield "Hardware", f"{escape(run.hardware or words.plural(run.gpus or 0, 'GPU'))}{spent}"
    if row.throughput is not None:
        yield "Throughput", f"{words.number(row.throughput)} tokens/s/GPU, net of validation and checkpoints"
    for name, value in (("Algorithm", run.algorithm), ("Model", run.model), ("verl", run.verl_version)):
        if value:
            yield name, escape(value)
    if run.commit:
        yield "Commit", code(run.commit)
    if numbers := setup.precision(run.config):
        yield "Precision", escape(", ".join(numbers))


def _steps(run: Run) -> str:
    planned = f" of {words.count(run.planned_steps)} planned" if run.planned_steps else ""
    if run.first_step is None:
        return f"none{planned}"
    span = f"{words.count(run.first_step)} to {words.count(run.last_step)}{planned}"
    segments = f", {words.plural(len(run.segments), 'segment')}" if len(run.segments) > 1 else ""
    return f"{words.count(run.steps)} ({span}{segments})"


def _picture(kind: str, figures: Mapping[str, str], alt: str) -> str:
    return f"![{alt}]({target(figures[kind])})" if kind in figures else ""


def _phases(report: RunReport) -> str:
    if not report.phases:
        return ""
    several = len({phase.segment for phase in report.phases}) > 1
    rows = [
        (
            *((str(phase.segment),) if several else ()),
            phase.phase.value.replace("_", " "),
            words.span(phase.first, phase.last),
        )
        for phase in report.phases
    ]
    return "## Phases\n\n" + table((*(("segment",) if several else ()), "phase", "where"), rows)


def _timeline(report: RunReport) -> str:
    incidents = sorted(report.incidents, key=lambda one: (-1 if one.first is None else one.first, one.id))
    if not incidents:
        return "## What happened\n\nNo rule found anything to report."
    rows = [
        (
            words.span(one.first, one.last) + (", open" if one.open else ""),
            one.severity.word,
            f"[{one.rule}](#{one.anchor.lower()})" if one.severity > Severity.INFO else one.rule,
            escape(one.title),
            escape(one.message),
        )
        for one in incidents
    ]
    return "## What happened\n\n" + table(("where", "severity", "rule", "what", "in numbers"), rows)


def _muted(report: RunReport) -> str:
    """Findings that the run.toml says not to count, each with its reason."""
    rows = [
        (
            words.span(one.incident.first, one.incident.last),
            f"{one.incident.rule} {escape(one.incident.title)}",
            escape(one.incident.message),
            escape(one.reason),
        )
        for one in report.muted
    ]
    told = "These findings count nowhere, because the run's `run.toml` says so."
    return f"## Muted\n\n{told}\n\n" + table(("where", "rule", "in numbers", "why"), rows) if rows else ""


def _validation(report: RunReport) -> str:
    scores = [view for view in report.validation if glossary().describe(view.name).better != "neither"]
    core = [view for view in scores if view.core] or scores
    rows = [
        (
            escape(view.dataset),
            code(view.name),
            words.number(view.first),
            f"**{words.number(view.best)}** (step {words.count(view.best_step)})",
            words.number(view.last),
        )
        for view in core
    ]
    if not rows:
        return ""
    rest = len(report.validation) - len(core)
    more = f"\n\n{words.plural(rest, 'more validation metric')} in the data." if rest else ""
    return (
        "## Validation\n\n"
        + table(("data set", "metric", "first", "best", "last"), rows, numbers=(2, 3, 4))
        + more
    )


def _time(report: RunReport) -> str:
    rows = [
        (
            escape(part.name),
            words.duration(part.seconds) if part.seconds >= 60 else f"{words.number(part.seconds, 3)} s",
            f"{part.share * 100:.0f} %",
            "each step" if part.every == 1 else f"every {part.every} steps",
        )
        for part in report.timing
        if part.share >= 0.005
    ]
    return (
        "## Where the time goes\n\n" + table(("part", "median", "share", "how often"), rows, (1, 2))
        if rows
        else ""
    )


def _efficiency(report: RunReport, figures: Mapping[str, str]) -> str:
    shown = [
        view for keys in (("throughput",), ("mfu",), *EFFICIENCY_KEYS[1:]) for view in views(report, keys)[:1]
    ]
    rows = [
        (
            escape(view.metric.title),
            escape(view.metric.unit),
            *(words.number(number) for number in _three(view)),
        )
        for view in shown
    ]
    if not rows:
        return ""
    numbers = table(("", "unit", "first", "median", "last"), rows, numbers=(2, 3, 4))
    picture = _picture(EFFICIENCY, figures, "Throughput and memory over the steps")
    return "\n\n".join(part for part in ("## Efficiency and memory", picture, numbers) if part)


def _unchecked(report: RunReport) -> str:
    blind = [verdict for verdict in report.verdicts if verdict.outcome == Outcome.NOT_APPLICABLE]
    if not blind:
        return ""
    rows = [
        (
            verdict.rule,
            escape(report.rules[verdict.rule].title) if verdict.rule in report.rules else "",
            escape(_why(verdict)),
        )
        for verdict in blind
    ]
    listed = table(("rule", "what it looks for", "why not"), rows)
    if len(rows) > _FOLD:
        named = words.plural(len(rows), "rule")
        listed = f"<details><summary>{named} could not be checked</summary>\n\n{listed}\n\n</details>"
    return f"## Not checked\n\n{listed}"


def _why(verdict: Verdict) -> str:
    if not verdict.missing:
        return verdict.reason
    return f"not logged: {', '.join(_title(key) for key in verdict.missing)}"


def _title(key: str) -> str:
    metric = glossary().by_key(key)
    return metric.title if metric else key.replace("_", " ")


def _problems(report: RunReport) -> str:
    rows = [
        (
            code(item.path),
            "" if item.line is None else words.count(item.line),
            escape(item.kind),
            escape(f"{item.message} {item.hint}"),
        )
        for item in report.problems
    ]
    return (
        "## What could not be read\n\n" + table(("file", "line", "kind", "what"), rows, (1,)) if rows else ""
    )


def _provenance(report: RunReport) -> str:
    rows = [
        (code(source.path), escape(source.format), words.count(source.records), code(source.sha256[:12]))
        for source in report.run.sources
    ]
    return "## Read from\n\n" + table(("file", "format", "records", "sha256"), rows, (2,)) if rows else ""


def _three(view: MetricView) -> tuple[float, float, float]:
    _, values = live(view)
    if not len(values):
        return (np.nan,) * 3
    middle = 2 * np.median(values / 2)  # halves: the two in the middle may add up to inf
    return float(values[0]), float(middle), float(values[-1])
