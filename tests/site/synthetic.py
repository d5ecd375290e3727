"""An archive made of invented numbers: runs of every status, without a log on disk.

Stands in for `sitegen.archive` and `sitegen.reports` where a test is about pages and the site.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sitegen.errors import Problem
from sitegen.model import (
    BoardEntry,
    Evidence,
    Fact,
    Findings,
    Incident,
    Leaderboard,
    LogLine,
    Metric,
    MetricSummary,
    Outcome,
    Phase,
    PhaseName,
    Rule,
    Run,
    Segment,
    Series,
    Severity,
    SourceFile,
    State,
    Status,
    Verdict,
)
from sitegen.reports import Entry
from sitegen.reports.projects import projects
from sitegen.reports.shapes import (
    ArchiveReport,
    Best,
    CaseView,
    IncidentRow,
    MetricView,
    RuleView,
    RunReport,
    RunRow,
    TimingPart,
    ValidationView,
)

NOW = 1_793_700_000.0  # 2026-11-03
MODELS = ("Qwen3-0.6B", "Qwen2.5-7B-Instruct", "Llama-3.1-8B", "DeepSeek-R1-Distill-Qwen-32B", None)
ALGORITHMS = ("GRPO", "PPO", "DAPO", None)
STATUSES = (
    Status.HEALTHY,
    Status.ATTENTION,
    Status.FAILED,
    Status.CRASHED,
    Status.UNFINISHED,
    Status.HEALTHY,
)
HOSTILE = '<script>alert("x")</script> & "quoted" \U0001f600 \x07'
CHINESE = "平均显存占用47%，显存峰值占用70%，其余正常。"
METRICS = (
    Metric("score", "Score", "", "up", "reward", "Mean reward.", ("critic/score/mean",)),
    Metric("kl_ref", "Reference KL", "nats/token", "down", "kl", "Distance.", ("actor/kl_loss",)),
    Metric("entropy", "Entropy", "nats/token", "band", "entropy", "Spread.", ("actor/entropy",)),
    Metric("grad_norm", "Gradient norm", "", "down", "policy", "Norm.", ("actor/grad_norm",)),
    Metric("throughput", "Throughput", "tokens/s/GPU", "up", "speed", "Speed.", ("perf/throughput",)),
)
RULES = (
    ("REW-03", "Reward hacking signature", Severity.ERROR, "incident", ("score", "kl_ref")),
    ("KL-05", "KL jump", Severity.WARNING, "incident", ("kl_ref",)),
    ("ENT-01", "Entropy exhausted", Severity.WARNING, "incident", ("entropy", "score")),
    ("CRI-01", "Explained variance below zero", Severity.WARNING, "incident", ("vf_explained_var",)),
    ("RUN-01", "GPU out of memory", Severity.CRITICAL, "incident", ()),
    ("LOG-02", "Step gap", Severity.INFO, "incident", ()),
    ("PHASE-03", "Climb", Severity.INFO, "phase", ("score",)),
)


def archive(n: int = 40, steps: int = 120) -> Synthetic:
    """`n` runs of every status, newest first."""
    return Synthetic({report.run.id: report for report in (_report(i, steps) for i in range(n))})


class Synthetic:
    """Runs with the methods that the site asks of an archive and of its reports."""

    def __init__(self, runs: Mapping[str, RunReport]) -> None:
        self.reports = dict(runs)
        self.report = _archive_report(tuple(self.reports.values()))

    def install(self, monkeypatch: object, home: Path) -> None:
        """Put itself in the place of the archive and the reports that `site.prepare` asks."""
        from sitegen import archive as archives
        from sitegen import reports

        put = monkeypatch.setattr  # type: ignore[attr-defined]
        put(archives, "update", lambda runs, home, **_: None, raising=False)
        put(archives, "Archive", lambda home: Shelf(self, home), raising=False)
        put(reports, "Reports", lambda archive, config: Asked(self), raising=False)


@dataclass(frozen=True)
class MadeDesk:
    """Stands in for `reports.Desk`: has every report ready."""

    reports: Mapping[str, RunReport]

    def report(self, run: str, findings: Findings) -> RunReport:
        return self.reports[run]

    def entry(self, report: RunReport) -> Entry:
        return Entry(report.row, (), {}, report.problems)


class Asked:
    """Stands in for `reports.Reports`."""

    def __init__(self, source: Synthetic) -> None:
        self._source = source
        self.archive = source.report

        self.desk = MadeDesk(source.reports)

    def judged(self, runs: Sequence[str], threads: int) -> dict[str, Findings]:
        found = {run: self._source.reports[run] for run in runs}
        return {run: Findings(run, it.phases, it.incidents, it.verdicts) for run, it in found.items()}

    def forget(self) -> None:
        """The real one removes old findings."""

    def keep(self, run: str, made: Entry) -> None:
        """The real one keeps it for the pages across runs, which are invented here."""

    def shown(self, run: str) -> str:
        return hashlib.sha256(self._source.reports[run].run.fingerprint.encode()).hexdigest()


class Shelf:
    """Stands in for `archive.Archive`: a cache on disk and a Parquet file for each run."""

    def __init__(self, source: Synthetic, home: Path) -> None:
        self._source, self._home = source, home

    def runs(self) -> tuple[str, ...]:
        return tuple(sorted(self._source.reports))

    def steps(self, run: str) -> Path:
        file = self._home / "archive" / run / "steps.parquet"
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            views = self._source.reports[run].metrics
            columns = {"step": pa.array(range(len(views[0].series.steps)) if views else [], pa.int64())}
            columns |= {view.series.name: pa.array(view.series.values) for view in views}
            pq.write_table(pa.table(columns), file)
        return file

    def samples(self, run: str) -> Path | None:
        return None

    def traces(self, run: str) -> Path | None:
        return None

    def cached(self, room: str, key: str) -> bytes | None:
        file = self._home / "cache" / room / key
        return file.read_bytes() if file.exists() else None

    def kept(self, room: str, key: str) -> Path:
        return self._home / "cache" / room / key

    def keep(self, room: str, key: str, data: bytes) -> None:
        file = self._home / "cache" / room / key
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)

    def prune(self, room: str, keys: set[str]) -> None:
        for file in (self._home / "cache" / room).glob("*"):
            if file.name not in keys:
                file.unlink()


def rule(code: str, title: str, severity: Severity, kind: str, needs: tuple[str, ...]) -> Rule:
    """A card with every section filled."""
    sections = {
        "Why it matters": "The policy *drifts*; see `actor/kl_loss`.\n\n<b>not bold</b>",
        "Likely causes": "- the reward can be had without solving the task\n- KL control is too weak",
        "What to do": "Raise `actor_rollout_ref.actor.kl_loss_coef`, or restart from the best checkpoint.",
        "What else looks like this": "A change of the data set.",
        "Sources": "- A note on reward models, section 3.",
        "Cases": "not shown",
    }
    sql = "SELECT run, row, step, kl_ref AS value,\n       $factor * kl_start AS threshold\nFROM steps"
    params = {"factor": 2.0, "floor": 0.05}
    summary = "The reference KL rises to more than **twice** its own baseline within a few steps."
    slug, path = code.lower(), f"{code}.md"
    return Rule(code, slug, title, summary, kind, severity, needs, "0.1.0", params, sql, sections, path)


def _curve(rng: np.random.Generator, steps: int, sick: bool) -> dict[str, np.ndarray]:
    x = np.linspace(0, 1, steps)
    noise = rng.normal(0, 0.02, steps)
    broke = (x > 0.7) * sick
    return {
        "score": np.clip(0.3 + 0.5 * (1 - np.exp(-4 * x)) + noise + 0.12 * broke, 0, 1),
        "kl_ref": 0.03 * x + 0.01 * np.abs(noise) + 0.12 * broke,
        "entropy": 0.9 * np.exp(-1.5 * x) + np.abs(noise) - 0.1 * broke * x,
        "grad_norm": 0.2 + np.abs(noise) * 4,
        "throughput": 1245 + 300 * noise,
    }


def _views(run: str, steps: int, sick: bool) -> tuple[MetricView, ...]:
    rng = np.random.default_rng(sum(run.encode()))
    curves = _curve(rng, steps, sick)
    return tuple(
        MetricView(
            Series(
                metric.names[0],
                metric.key,
                np.arange(1, steps + 1),
                curves[metric.key],
                np.zeros(steps, dtype=np.int64),
                np.ones(steps, dtype=np.bool_),
            ),
            metric,
            True,
        )
        for metric in METRICS
    )


def _incident(run: str, number: int, code: str, steps: int, still_open: bool) -> Incident:
    _, title, severity, _, needs = next(one for one in RULES if one[0] == code)
    first, last = int(steps * 0.7), steps if still_open else int(steps * 0.8)
    line = LogLine(f"{run}/train.log", 4711, None, "error", "cuda_oom", last, "CUDA out of memory <now>")
    evidence = Evidence(
        needs[0] if needs else None,
        tuple(range(first - 5, last)) if needs else (),
        tuple(0.03 + 0.01 * i for i in range(last - first + 5)) if needs else (),
        (0.07,) * (last - first + 5) if needs else (),
        (Fact("score", "Score", "", 0.86, 0.96),),
        () if needs else (line,),
    )
    return Incident(
        id=f"{run}/{code}-{number}",
        run=run,
        segment=0,
        rule=code,
        title=title,
        severity=severity,
        first=first if needs else None,
        last=last if needs else None,
        open=still_open,
        metric=needs[0] if needs else None,
        value=0.14,
        threshold=0.07,
        message="Reference KL grew from 0.035 to 0.140 within 20 steps, 2.0 times its own baseline.",
        causes=("KL control is too weak",),
        advice=("Raise `actor_rollout_ref.actor.kl_loss_coef`.",),
        evidence=evidence,
    )


_FOUND = {
    Status.HEALTHY: (),
    Status.ATTENTION: ("KL-05", "LOG-02"),
    Status.FAILED: ("REW-03", "KL-05", "ENT-01"),
    Status.CRASHED: ("RUN-01",),
    Status.UNFINISHED: ("LOG-02",),
}
_HEADLINES = {
    Status.HEALTHY: "Converged at step 84",
    Status.ATTENTION: "KL jump at step 84",
    Status.FAILED: "Reward hacking suspected from step 84",
    Status.CRASHED: "Crashed before step 1: GPU out of memory",
    Status.UNFINISHED: "Still running, as of step 60",
}


def _report(i: int, steps: int) -> RunReport:
    status = STATUSES[i % len(STATUSES)]
    run = f"math-{i:03d}"
    if status is Status.CRASHED:
        steps = 0
    elif status is Status.UNFINISHED:
        steps = max(3, steps // 2)
    title = {3: "x" * 200, 7: HOSTILE}.get(i, f"qwen3-0.6b-lr{i % 7 + 1}e-6-kl0.00{i % 5}")
    found = tuple(_incident(run, 1, code, max(steps, 10), n == 0) for n, code in enumerate(_FOUND[status]))
    views = _views(run, steps, status is Status.FAILED) if steps else ()
    row = _row(i, run, title, status, steps, found, views)
    problems = tuple(
        Problem(f"{run}/train.log", 12 + n, "truncated", "The line ends in a number.", "Keep it.")
        for n in range(i % 3)
    )
    return RunReport(
        run=_run(row, views, problems),
        row=row,
        status=status,
        state=row.state,
        headline=row.headline,
        sentence=CHINESE if i == 1 else "Score rose by 11 % while reference KL grew 4.0 times.",
        phases=_phases(steps, status),
        incidents=tuple(sorted(found, key=lambda one: -one.severity)),
        verdicts=tuple(_verdict(code, needs, found) for code, _, _, _, needs in RULES),
        metrics=views,
        validation=_validation(steps),
        timing=(TimingPart("gen", 31.0, 0.62, 1), TimingPart("update_actor", 19.0, 0.38, 1)) if steps else (),
        log_lines=found[0].evidence.lines if found else (),
        problems=problems,
        rules={one[0]: rule(*one) for one in RULES},
        rewritten=0,
    )


def _verdict(code: str, needs: tuple[str, ...], found: tuple[Incident, ...]) -> Verdict:
    if code == "CRI-01":
        return Verdict(code, Outcome.NOT_APPLICABLE, needs)
    return Verdict(code, Outcome.FIRED if any(one.rule == code for one in found) else Outcome.CLEAR)


def _phases(steps: int, status: Status) -> tuple[Phase, ...]:
    if steps < 10:
        return ()
    last = PhaseName.DIVERGING if status is Status.FAILED else PhaseName.CONVERGED
    return (
        Phase(0, PhaseName.WARMUP, 1, steps // 10),
        Phase(0, PhaseName.CLIMB, steps // 10 + 1, int(steps * 0.7) - 1),
        Phase(0, last, int(steps * 0.7), steps),
    )


def _validation(steps: int) -> tuple[ValidationView, ...]:
    if steps < 20:
        return ()
    at = np.arange(10, steps + 1, 10)
    values = 0.3 + 0.5 * at / steps
    name = "val-core/gsm8k/acc/mean@1"
    segments, live = np.zeros(len(at), dtype=np.int64), np.ones(len(at), dtype=np.bool_)
    series = Series(name, name, at, values, segments, live)
    return (
        ValidationView(
            "gsm8k", name, True, series, float(values[0]), float(values[-1]), float(values.max()), int(at[-1])
        ),
    )


def _row(
    i: int,
    run: str,
    title: str,
    status: Status,
    steps: int,
    found: tuple[Incident, ...],
    views: tuple[MetricView, ...],
) -> RunRow:
    best = Best("gsm8k", "val-core/gsm8k/acc/mean@1", 0.6 + (i * 37 % 100) / 300, 100, True)
    spark = tuple(float(v) for v in views[0].series.values[:: max(1, steps // 60)][:60]) if views else ()
    ended = NOW - i * 17_000 if i != 5 else None
    return RunRow(
        id=run,
        title=title,
        project=("math-grpo", "code-dapo")[i % 2],
        experiment=None,
        status=status,
        state=State.DIVERGING if status is Status.FAILED else State.LEARNING,
        algorithm=ALGORITHMS[i % 4],
        model=MODELS[i % 5],
        hardware="8 x H100",
        tags=("gsm8k", "baseline")[: i % 3],
        owner=None,
        steps=steps,
        last_step=steps or None,
        planned_steps=120,
        growing=status is Status.UNFINISHED and i % 2 == 0,
        wall_s=steps * 51.0 if steps else None,
        gpu_hours=steps * 51.0 * 8 / 3600 if steps else None,
        throughput=1245.0 if steps else None,
        started_at=None if ended is None else ended - steps * 51.0,
        ended_at=ended,
        best=best if steps else None,
        spark=spark,
        incident_marks=tuple((0.7, one.severity.word) for one in found),
        counts=dict(Counter(one.severity.word for one in found)),
        headline=_HEADLINES[status],
        problems=i % 3,
    )


def _run(row: RunRow, views: tuple[MetricView, ...], problems: tuple[Problem, ...]) -> Run:
    summary = tuple(
        MetricSummary(v.series.name, v.metric.key, row.steps, 0.1, 0.9, 0.1, 0.9, 0.5, 0.9, 84, 0)
        for v in views
    )
    source = SourceFile(f"{row.id}/train.log", "console", 123_456, "0" * 64, row.steps, 1, row.steps or None)
    return Run(
        id=row.id,
        path=row.id,
        title=row.title,
        project=row.project,
        experiment=None,
        algorithm=row.algorithm,
        model=row.model,
        verl_version="0.9.1",
        commit="a1b2c3d",
        hardware=row.hardware,
        gpus=8,
        started_at=row.started_at,
        ended_at=row.ended_at,
        wall_s=row.wall_s,
        steps=row.steps,
        first_step=1 if row.steps else None,
        last_step=row.last_step,
        planned_steps=row.planned_steps,
        finished=row.status is Status.HEALTHY,
        growing=row.growing,
        segments=(Segment(0, 1, row.steps, row.steps, f"{row.id}/train.log", "start"),) if row.steps else (),
        sources=(source,),
        formats=("console",),
        tags=row.tags,
        owner=None,
        baseline=None,
        notes="",
        aliases=(f"{row.id}-old",) if row.id.endswith("0") else (),
        config={"actor_rollout_ref.actor.kl_loss_coef": "0.001", "trainer.project_name": HOSTILE},
        summary=summary,
        problems=problems,
        fingerprint=f"fingerprint of {row.id}",
    )


def _archive_report(reports: tuple[RunReport, ...]) -> ArchiveReport:
    rows = tuple(report.row for report in reports)
    incidents = tuple(_incident_row(report, one) for report in reports for one in report.incidents)
    return ArchiveReport(
        runs=rows,
        incidents=incidents,
        leaderboards=_boards(rows),
        rules=tuple(_rule_view(rule(*one), reports, incidents) for one in sorted(RULES)),
        problems=(
            *((report.run.id, problem) for report in reports for problem in report.problems),
            ("", Problem("link", None, "refused", "A symlink leaves the runs folder.", "Copy the file.")),
        )
        if reports
        else (),
        ignored=("notes/todo.docx", "weights/model.safetensors") if reports else (),
        now=NOW if reports else None,
        projects=projects(report.run for report in reports),
        removed=(("gone-run", "2026-10-01", "Trained on a broken split."),) if reports else (),
    )


def _incident_row(report: RunReport, one: Incident) -> IncidentRow:
    row = report.row
    return IncidentRow(
        id=one.id,
        run=row.id,
        run_title=row.title,
        run_status=row.status,
        model=row.model,
        algorithm=row.algorithm,
        project=row.project,
        rule=one.rule,
        title=one.title,
        severity=one.severity,
        first=one.first,
        last=one.last,
        open=one.open,
        message=one.message,
        happened_at=row.ended_at,
        spark=row.spark,
        onset=0.7,
    )


def _rule_view(card: Rule, reports: tuple[RunReport, ...], incidents: tuple[IncidentRow, ...]) -> RuleView:
    outcomes = Counter(v.outcome for report in reports for v in report.verdicts if v.rule == card.code)
    flat = tuple(0.03 for _ in range(60))
    cases = (
        CaseView("a rise to twice the baseline", {"kl_ref": flat[:40] + (0.09,) * 20}, ((41, 60),), "fires"),
        CaseView("a short dip is noise", {"kl_ref": flat, "score": (None, *flat[1:])}, ()),
    )
    return RuleView(card, tuple(i for i in incidents if i.rule == card.code), dict(outcomes), cases)


def _boards(rows: tuple[RunRow, ...]) -> tuple[Leaderboard, ...]:
    ranked = sorted((row for row in rows if row.best), key=lambda row: -row.best.value)  # type: ignore[union-attr]
    entries = tuple(
        BoardEntry(
            place,
            row.id,
            row.title,
            row.best.value,  # type: ignore[union-attr]
            100,
            "open critical incident REW-03" if row.status is Status.FAILED else "",
            {"model": row.model or "–", "metric": "acc/mean@1"},
        )
        for place, row in enumerate(ranked, 1)
    )
    left = tuple((row.id, "no validation of gsm8k was logged") for row in rows if not row.best)
    best = Leaderboard(
        "best-gsm8k",
        "Best validation on gsm8k",
        "The best logged validation accuracy of each run on gsm8k.",
        "",
        "up",
        ("model", "metric"),
        entries,
        left,
        "Validation",
    )
    quick = Leaderboard(
        "throughput-8xh100",
        "Throughput on 8 x H100",
        "Median tokens per second and GPU, net of validation and checkpoints.",
        "tokens/s/GPU",
        "up",
        (),
        entries[:5],
        (),
        "Speed",
    )
    return (best, quick) if rows else ()
