"""One run: from its series and findings to all that its page may know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sitegen.model import Findings, LogLine, Rule, Run, Series
from sitegen.reports import crash, rows, status, timing, validation, verdict, views
from sitegen.reports.case import Case
from sitegen.reports.curves import Curves, in_units
from sitegen.reports.shapes import RunReport, RunRow
from sitegen.reports.story import worst_first
from sitegen.store import stride


def report(
    run: Run,
    findings: Findings,
    series: Mapping[str, Series],
    log_lines: Sequence[LogLine],
    catalog: Sequence[Rule],
) -> RunReport:
    """All about `run`. Pure: the same arguments give the same report."""
    with np.errstate(over="ignore", invalid="ignore"):  # sums of the largest doubles: inf, told as unknown
        return _report(run, findings, series, log_lines, catalog)


def _report(
    run: Run,
    findings: Findings,
    series: Mapping[str, Series],
    log_lines: Sequence[LogLine],
    catalog: Sequence[Rule],
) -> RunReport:
    curves = Curves(in_units(series, run.gpus))
    case = _case(run, findings, curves, tuple(log_lines))
    headline = verdict.headline(case)
    lead, root = verdict.leads(case)
    named = {*(one.rule for one in findings.incidents), *(one.rule for one in findings.verdicts)}
    return RunReport(
        run=run,
        row=_row(case, headline),
        status=case.status,
        state=status.state(findings.phases),
        headline=headline,
        sentence=verdict.sentence(case),
        gist=verdict.gist(case),
        phases=findings.phases,
        incidents=tuple(crash.advised(one, case.log_lines) for one in worst_first(findings.incidents, lead)),
        verdicts=findings.verdicts,
        metrics=views.metric_views(curves, case.validation),
        validation=case.validation,
        timing=timing.parts(curves),
        log_lines=case.log_lines,
        problems=run.problems,
        rules={rule.code: rule for rule in catalog if rule.code in named},
        rewritten=curves.rewritten,
        muted=findings.muted,
        stride=stride(run.steps),
        root="" if root is None else root.anchor,
    )


def _case(run: Run, findings: Findings, curves: Curves, log_lines: tuple[LogLine, ...]) -> Case:
    seen = validation.views(curves)
    return Case(
        run=run,
        findings=findings,
        status=status.status(run, findings),
        curves=curves,
        validation=seen,
        best=validation.best(curves, seen),
        log_lines=log_lines,
    )


def _row(case: Case, headline: str) -> RunRow:
    run, incidents = case.run, case.findings.incidents
    return RunRow(
        id=run.id,
        title=run.title,
        project=run.project,
        experiment=run.experiment,
        status=case.status,
        state=status.state(case.findings.phases),
        algorithm=run.algorithm,
        model=run.model,
        hardware=run.hardware,
        tags=run.tags,
        owner=run.owner,
        steps=run.steps,
        last_step=run.last_step,
        planned_steps=run.planned_steps,
        growing=run.growing,
        wall_s=run.wall_s,
        gpu_hours=run.gpu_hours,
        throughput=timing.throughput(case.curves, run.gpus),
        started_at=run.started_at,
        ended_at=run.ended_at,
        best=case.best,
        spark=rows.spark(case.curves),
        incident_marks=rows.marks(run, incidents),
        counts=rows.counts(incidents),
        headline=headline,
        problems=len(run.problems),
    )
