"""One run: verdict, facts, phases, what happened, metrics, and where all of it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen import charts
from sitegen.charts import timing
from sitegen.language import t
from sitegen.model import MetricSummary, Page, Run
from sitegen.pages import (
    beside,
    figures,
    firstaid,
    happened,
    notes,
    projects,
    prose,
    provenance,
    samples,
    traces,
    words,
)
from sitegen.pages import render as rendering
from sitegen.reports.shapes import RunReport, TimingPart, ValidationView

_LINES = 200  # log lines shown; the rest is in the run's JSON
_UNFOLDED = 12  # validation metrics shown where none is a core one


@dataclass(frozen=True, slots=True)
class FactBox:
    """One of the six facts; no value = not logged."""

    label: str
    value: str | None
    note: str


@dataclass(frozen=True, slots=True)
class ValidationRow:
    """One validation metric, as text, with its course."""

    dataset: str
    name: str
    core: bool
    first: str
    best: str
    best_step: int
    last: str
    n: int
    spark: Markup


@dataclass(frozen=True, slots=True)
class Validations:
    """Validation metrics in the table, and those in the fold below it."""

    shown: tuple[ValidationRow, ...]
    folded: tuple[ValidationRow, ...]


@dataclass(frozen=True, slots=True)
class TimeRow:
    """One part of the step, as text."""

    key: str  # CSS class of its colour
    name: str
    seconds: str
    share: str
    every: str


@dataclass(frozen=True, slots=True)
class Download:
    href: str
    label: str
    what: str


@dataclass(frozen=True, slots=True)
class Badge:
    """A picture for other pages to show."""

    title: str
    path: str  # below the site root
    alt: str


def path(run: str) -> str:
    """Where the page of a run lies below the site root."""
    return f"runs/{run}/"


def page(report: RunReport, render: rendering.Render, best_badge: bool = True) -> Page:
    """`/runs/<run>/`, complete without JavaScript; `best_badge` = there is a badge of its best score."""
    run = report.run
    within = figures.frame(report)
    return rendering.page(
        render,
        "run.html",
        path(run.id),
        title=run.title,
        description=words.clip(
            t("{headline}. {sentence}", headline=report.headline, sentence=report.sentence), 200
        ),
        kind="run",
        report=report,
        run=run,
        facts=facts(report),
        about=_about(run),
        beside=beside.beside(report),
        project=projects.path(run.project) if run.project else "",
        first=firstaid.first(report),
        change=firstaid.change(report),
        ribbon=charts.ribbon(within) if within else None,
        happened=happened.happened(report, within),
        sheet=figures.sheet(report, within),
        validation=_validations(report.validation),
        time_bar=charts.stacked([(part.name, part.share) for part in report.timing]),
        time_rows=tuple(_time_row(part, index) for index, part in enumerate(report.timing)),
        origin=provenance.origin(report),
        shared=sum(one.records > 0 for one in run.sources),
        comparisons=provenance.comparisons(report, rendering.root(path(run.id))),
        no_baseline=provenance.no_baseline(report),
        samples=samples.summary(report.samples) if report.samples else "",
        traces=traces.summary(report.traces) if report.traces else "",
        log_lines=report.log_lines[:_LINES],
        log_more=max(0, len(report.log_lines) - _LINES),
        summary=tuple(_summary(one) for one in run.summary),
        notes=prose.note(run.notes) if run.notes.strip() else None,
        written=notes.of_run(report, rendering.root(path(run.id))),
        explained=notes.told(report, rendering.root(path(run.id))),
        downloads=_downloads(report, rendering.root(path(run.id))),
        badges=_badges(report, best_badge),
    )


def facts(report: RunReport) -> tuple[FactBox, ...]:
    """The six facts that matter, in the order people ask for them."""
    run = report.run
    return (
        _best(report),
        _steps(report),
        FactBox(t("Wall time"), None if run.wall_s is None else words.duration(run.wall_s), _dates(run)),
        _gpus(run),
        _throughput(report),
        FactBox(t("Algorithm"), run.algorithm, _version(run)),
    )


def _best(report: RunReport) -> FactBox:
    best = report.row.best
    if best is None:
        return FactBox(t("Best validation"), None, "")
    at = t("step {step}", step=words.count(best.step))
    title = t("Best validation") if best.validation else t("Best training score")
    return FactBox(title, _number(best.value), t("{dataset}, {step}", dataset=best.label, step=at))


def _steps(report: RunReport) -> FactBox:
    run = report.run
    if not run.steps:
        return FactBox(t("Steps"), "0", t("no training step was logged"))
    notes = [t("of {n} planned", n=words.count(run.planned_steps))] if run.planned_steps else []
    if len(run.segments) > 1:
        notes.append(words.plural(len(run.segments), "segment"))
    if run.first_step == run.last_step:
        notes.append(words.span(run.first_step, run.last_step))
    elif run.steps != run.last_step:
        ends = {"first": words.count(run.first_step), "last": words.count(run.last_step)}
        notes.append(t("{first} to {last}", **ends))
    return FactBox(t("Steps"), words.count(run.steps), t(", ").join(notes))


def _dates(run: Run) -> str:
    start, end = words.date(run.started_at), words.date(run.ended_at)
    known = [day for day in dict.fromkeys((start, end)) if day != words.MISSING]
    return t("{first} to {last}", first=start, last=end) if len(known) > 1 else "".join(known)


def _gpus(run: Run) -> FactBox:
    counted = None if run.gpus is None else words.plural(run.gpus, "GPU")
    value = run.hardware.replace(" x ", " × ") if run.hardware else counted
    hours = run.gpu_hours
    return FactBox(t("GPUs"), value, "" if hours is None else f"{words.hours(hours)} GPU-h")


def _throughput(report: RunReport) -> FactBox:
    value = report.row.throughput
    if value is None:
        return FactBox(t("Throughput"), None, "")
    return FactBox(t("Throughput"), _number(value), t("tokens/s/GPU, net of validation"))


def _version(run: Run) -> str:
    parts = (f"verl {run.verl_version}" if run.verl_version else "", (run.commit or "")[:8])
    return " · ".join(part for part in parts if part)


def _about(run: Run) -> tuple[str, ...]:
    """The line under the name: model, experiment, owner, when."""
    parts = (run.model, run.experiment, run.owner and t("by {owner}", owner=run.owner), _started(run))
    return tuple(part for part in parts if part and part != run.title)


def _started(run: Run) -> str:
    return "" if run.started_at is None else t("started {when}", when=words.minute(run.started_at))


def _validations(views: Sequence[ValidationView]) -> Validations:
    """Core metrics in the table; without any, the first twelve."""
    rows = tuple(_validation(view) for view in views)
    core = tuple(row for row in rows if row.core) or rows[:_UNFOLDED]
    return Validations(core, tuple(row for row in rows if row not in core))


def _validation(view: ValidationView) -> ValidationRow:
    values = view.series.values[view.series.live]
    shown = [float(value) for value in values[values == values]]
    return ValidationRow(
        dataset=view.dataset,
        name=view.name,
        core=view.core,
        first=_number(view.first),
        best=_number(view.best),
        best_step=view.best_step,
        last=_number(view.last),
        n=len(shown),
        spark=charts.spark(shown, label=view.name, family="validation"),
    )


def _time_row(part: TimingPart, index: int) -> TimeRow:
    every = t("every step") if part.every <= 1 else t("every {n} steps", n=words.count(part.every))
    share = f"{part.share:.1%}".replace("%", " %")
    return TimeRow(timing.colour(part.name, index), part.name, charts.human(part.seconds), share, every)


def _summary(one: MetricSummary) -> tuple[str, ...]:
    numbers = (one.first, one.last, one.min, one.max, one.mean)
    lost = str(one.non_finite) if one.non_finite else ""
    return (one.name, words.count(one.n), *(_number(value) for value in numbers), lost)


def _downloads(report: RunReport, root: str) -> tuple[Download, ...]:
    run = report.run
    dumped = Download("data/samples.parquet", "samples.parquet", t("every generation, whole texts"))
    traced = Download("data/traces.parquet", "traces.parquet", t("every span of the traces, whole texts"))
    return (
        Download("data/steps.parquet", "steps.parquet", t("every row, rewritten ones included")),
        Download("data/steps.csv", "steps.csv", t("the same as text")),
        Download(
            f"{root}api/v1/runs/{run.id}.json",
            f"{words.clip(run.id, 40)}.json",
            t("verdicts, incidents, problems"),
        ),
        Download("index.md", "index.md", t("this page as Markdown")),
        *([dumped] if report.samples else []),
        *([traced] if report.traces else []),
    )


def _badges(report: RunReport, best: bool) -> tuple[Badge, ...]:
    row = report.row
    status = Badge(t("Status"), f"badges/{row.id}.svg", t("status of {run}", run=row.id))
    if not best or row.best is None:
        return (status,)
    return status, Badge(t("Best score"), f"badges/{row.id}-best.svg", t("best score of {run}", run=row.id))


def _number(value: float | None) -> str:
    return words.MISSING if value is None else charts.human(value, 4)
