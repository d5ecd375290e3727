"""`report.md`: one run as Markdown that reads well on GitHub, in an editor and in a terminal.

Everything from a log is escaped: nothing in it becomes markup, HTML, a link or a mention.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from sitegen.language import t
from sitegen.metrics import glossary
from sitegen.model import Outcome, Run, Severity, Verdict
from sitegen.pages import problems, report_samples, report_traces, words
from sitegen.pages.gfm import code, escape, table, target
from sitegen.pages.report_figures import EFFICIENCY, EFFICIENCY_KEYS, TREND, live, views
from sitegen.pages.report_incidents import explained, incidents
from sitegen.reports import setup
from sitegen.reports.shapes import MetricView, RunReport

_FOLD = 8  # more rows than this are folded away
_PHASES = {"critic_warmup": "critic warm-up", "warmup": "warm-up"}  # what they are called


def document(report: RunReport, figures: Mapping[str, str] | None = None) -> str:
    """The report as GitHub-flavoured Markdown.

    Args:
        report: the run.
        figures: kind ("trend", "efficiency") -> file name beside the Markdown; what is missing is left out.
    """
    shown = figures or {}
    parts = (
        _head(report),
        _picture(TREND, shown, t("Reward, KL and actor loss over the steps")),
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
    verdict = f"> **{t('{sentence}.', sentence=escape(report.headline))}** {escape(report.sentence)}".rstrip()
    facts = "\n".join(f"| {name} | {value} |" for name, value in _facts(report))
    return f"# {escape(report.run.title)}\n\n{verdict}\n\n| | |\n|---|---|\n{facts}"


def _facts(report: RunReport) -> Iterator[tuple[str, str]]:
    run, row = report.run, report.row
    state = t(report.state.value.replace("_", " ").lower())
    yield t("Status"), t("{status}, {state}", status=f"**{t(report.status.value)}**", state=state)
    if row.best:
        said = t(
            "{value} ({label}) at step {step}",
            value=words.number(row.best.value),
            label=escape(row.best.label),
            step=words.count(row.best.step),
        )
        yield t("Best"), said
    yield t("Steps"), _steps(run)
    if run.wall_s is not None:
        yield t("Wall time"), words.duration(run.wall_s)
    if run.hardware or run.gpus:
        used = words.hours(run.gpu_hours)
        gpus = escape(run.hardware or words.plural(run.gpus or 0, "GPU"))
        spent = t("{hardware}, {hours} GPU-hours", hardware=gpus, hours=used)
        yield t("Hardware"), gpus if run.gpu_hours is None else spent
    if row.throughput is not None:
        fast = words.number(row.throughput)
        yield t("Throughput"), t("{n} tokens/s/GPU, net of validation and checkpoints", n=fast)
    for name, value in ((t("Algorithm"), run.algorithm), (t("Model"), run.model), ("verl", run.verl_version)):
        if value:
            yield name, escape(value)
    if run.commit:
        yield t("Commit"), code(run.commit)
    if numbers := setup.precision(run.config):
        yield t("Precision"), escape(t(", ").join(numbers))


def _steps(run: Run) -> str:
    planned = t(" of {n} planned", n=words.count(run.planned_steps)) if run.planned_steps else ""
    if run.first_step is None:
        return t("none") + planned
    span = (
        t("{first} to {last}", first=words.count(run.first_step), last=words.count(run.last_step)) + planned
    )
    if len(run.segments) > 1:
        span = t("{span}, {segments}", span=span, segments=words.plural(len(run.segments), "segment"))
    return t("{n} ({spans})", n=words.count(run.steps), spans=span)


def _picture(kind: str, figures: Mapping[str, str], alt: str) -> str:
    return f"![{alt}]({target(figures[kind])})" if kind in figures else ""


def _phases(report: RunReport) -> str:
    if not report.phases:
        return ""
    several = len({phase.segment for phase in report.phases}) > 1
    rows = [
        (
            *((str(phase.segment),) if several else ()),
            t(_PHASES.get(phase.phase.value, phase.phase.value)),
            words.span(phase.first, phase.last),
        )
        for phase in report.phases
    ]
    columns = (*((t("segment"),) if several else ()), t("phase"), t("where"))
    return f"## {t('Phases')}\n\n{table(columns, rows)}"


def _timeline(report: RunReport) -> str:
    incidents = sorted(report.incidents, key=lambda one: (-1 if one.first is None else one.first, one.id))
    if not incidents:
        return f"## {t('What happened')}\n\n{t('No rule found anything to report.')}"
    rows = [
        (
            t("{where}, open", where=words.span(one.first, one.last))
            if one.open
            else words.span(one.first, one.last),
            t(one.severity.word),
            f"[{one.rule}](#{one.anchor.lower()})" if one.severity > Severity.INFO else one.rule,
            escape(one.title),
            escape(one.message),
        )
        for one in incidents
    ]
    columns = (t("where"), t("severity"), t("rule"), t("what"), t("in numbers"))
    return f"## {t('What happened')}\n\n{table(columns, rows)}"


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
    if not rows:
        return ""
    told = t("These findings count nowhere, because the run's `run.toml` says so.")
    columns = (t("where"), t("rule"), t("in numbers"), t("why"))
    return f"## {t('Muted')}\n\n{told}\n\n{table(columns, rows)}"


def _validation(report: RunReport) -> str:
    scores = [view for view in report.validation if glossary().describe(view.name).better != "neither"]
    core = [view for view in scores if view.core] or scores
    rows = [
        (
            escape(view.dataset),
            code(view.name),
            words.number(view.first),
            t(
                "{value} ({when})",
                value=f"**{words.number(view.best)}**",
                when=t("step {step}", step=words.count(view.best_step)),
            ),
            words.number(view.last),
        )
        for view in core
    ]
    if not rows:
        return ""
    rest = len(report.validation) - len(core)
    left = t("{metrics} in the data.", metrics=words.plural(rest, "more validation metric"))
    more = f"\n\n{left}" if rest else ""
    columns = (t("data set"), t("metric"), t("first"), t("best"), t("last"))
    return f"## {t('Validation')}\n\n{table(columns, rows, numbers=(2, 3, 4))}{more}"


def _time(report: RunReport) -> str:
    rows = [
        (
            escape(t("other") if part.name == "other" else part.name),
            words.duration(part.seconds) if part.seconds >= 60 else f"{words.number(part.seconds, 3)} s",
            f"{part.share * 100:.0f} %",
            t("each step") if part.every == 1 else t("every {n} steps", n=part.every),
        )
        for part in report.timing
        if part.share >= 0.005
    ]
    columns = (t("part"), t("median"), t("share"), t("how often"))
    return f"## {t('Where the time goes')}\n\n{table(columns, rows, (1, 2))}" if rows else ""


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
    numbers = table(("", t("unit"), t("first"), t("median"), t("last")), rows, numbers=(2, 3, 4))
    picture = _picture(EFFICIENCY, figures, t("Throughput and memory over the steps"))
    return "\n\n".join(part for part in (f"## {t('Efficiency and memory')}", picture, numbers) if part)


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
    listed = table((t("rule"), t("what it looks for"), t("why not")), rows)
    if len(rows) > _FOLD:
        named = t("{rules} could not be checked", rules=words.plural(len(rows), "rule"))
        listed = f"<details><summary>{named}</summary>\n\n{listed}\n\n</details>"
    return f"## {t('Not checked')}\n\n{listed}"


def _why(verdict: Verdict) -> str:
    if not verdict.missing:
        return verdict.reason
    return t("not logged: {names}", names=t(", ").join(_title(key) for key in verdict.missing))


def _title(key: str) -> str:
    metric = glossary().by_key(key)
    return metric.title if metric else t(key.replace("_", " "))


def _problems(report: RunReport) -> str:
    rows = [
        (
            code(item.path),
            "" if item.line is None else words.count(item.line),
            escape(t(item.kind)),
            escape(problems.told(item)),
        )
        for item in report.problems
    ]
    columns = (t("file"), t("line"), t("kind"), t("what"))
    return f"## {t('What could not be read')}\n\n{table(columns, rows, (1,))}" if rows else ""


def _provenance(report: RunReport) -> str:
    rows = [
        (code(source.path), escape(source.format), words.count(source.records), code(source.sha256[:12]))
        for source in report.run.sources
    ]
    columns = (t("file"), t("format"), t("records"), "sha256")
    return f"## {t('Read from')}\n\n{table(columns, rows, (2,))}" if rows else ""


def _three(view: MetricView) -> tuple[float, float, float]:
    _, values = live(view)
    if not len(values):
        return (np.nan,) * 3
    middle = 2 * np.median(values / 2)  # halves: the two in the middle may add up to inf
    return float(values[0]), float(middle), float(values[-1])
