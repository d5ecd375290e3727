"""Parts of run reports made of numbers: series, incidents, runs and what stands around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from sitegen.metrics import glossary
from sitegen.model import (
    Evidence,
    Fact,
    Incident,
    LogLine,
    Metric,
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
from sitegen.reports.shapes import Best, MetricView, RunReport, RunRow, TimingPart, ValidationView

OVERVIEW = (
    "critic/score/mean",
    "actor/kl_loss",
    "actor/entropy",
    "response_length/mean",
    "actor/grad_norm",
    "perf/throughput",
    "response_length/clip_ratio",
    "actor/pg_clipfrac",
    "actor/pg_loss",
    "actor/lr",
    "val-core/gsm8k/acc/mean@1",
    "timing_s/step",
)


def series(name: str, values: Iterable[float], steps: Iterable[int] | None = None, **more: object) -> Series:
    """One metric over one segment, unless `more` says otherwise."""
    array = np.array(list(values), dtype=np.float64)
    n = array.size
    at = np.arange(1, n + 1) if steps is None else np.array(list(steps), dtype=np.int64)
    parts: dict[str, object] = {
        "segments": np.zeros(n, dtype=np.int64),
        "live": np.ones(n, dtype=bool),
        **more,
    }
    metric = glossary().by_name(name)
    return Series(name, metric.key if metric else name, at, array, **parts)  # type: ignore[arg-type]


def view(one: Series, group: str = "other") -> MetricView:
    """What the glossary says about a series, or a made-up entry."""
    metric = glossary().by_name(one.name)
    metric = metric or Metric(one.name, one.name, "", "neither", group, "", (one.name,))
    return MetricView(one, metric, one.name in OVERVIEW)


def curves(n: int = 600, seed: int = 7, sick: bool = True) -> dict[str, np.ndarray]:
    """Metrics of a GRPO run that learns to cheat at 69 % of its steps, or does not."""
    draw = np.random.default_rng(seed)
    x = np.linspace(0, 1, n)
    after = (x > 0.688) & sick
    noise = lambda size: draw.normal(0, size, n)  # noqa: E731
    curve = {
        "critic/score/mean": 0.3 + 0.55 / (1 + np.exp(-14 * (x - 0.25))) + np.where(after, 0.1, noise(0.025)),
        "actor/kl_loss": 0.01
        + 0.03 * x
        + np.where(after, 0.1 * (1 - np.exp(-60 * (x - 0.688))), 0)
        + noise(0.002),
        "actor/entropy": 0.085 * np.exp(-0.9 * x) - np.where(after, 0.02, 0) + noise(0.001),
        "response_length/mean": np.where(after, 307, 700 + 300 * x) + noise(12),
        "response_length/clip_ratio": np.clip(noise(0.01), 0, 1),
        "actor/grad_norm": 0.1 + np.abs(noise(0.02)) + np.where(draw.random(n) > 0.992, 0.6, 0),
        "actor/pg_clipfrac": np.clip(0.002 + noise(0.0006), 0, 1),
        "actor/pg_loss": noise(0.02),
        "actor/lr": np.full(n, 1e-6),
        "perf/throughput": 1245 - 60 * x + noise(30),
        "timing_s/step": 86 + noise(3),
    }
    curve["perf/throughput"][0] = 12.0
    curve["actor/grad_norm"][min(232, n - 1)] = 0.71
    return curve


def incidents(run: str, n: int = 600) -> tuple[Incident, ...]:
    """One error, one warning, two remarks; worst first."""
    onset = int(n * 0.688) + 1
    steps = tuple(range(onset - 5, onset + 6))
    hacking = Incident(
        f"{run}/REW-03-1",
        run,
        0,
        "REW-03",
        "Reward hacking signature",
        Severity.ERROR,
        onset,
        n,
        True,
        "kl_ref",
        0.14,
        0.07,
        "Score rose by 11 % within 20 steps while reference KL grew 4.0× and responses shortened by 69 %.",
        (
            "The reward can be had without solving the task: keyword match, empty or fixed answers.",
            "KL control is too weak.",
        ),
        (
            "Read the samples before and after the onset.",
            "Raise `actor_rollout_ref.actor.kl_loss_coef` or fix the reward function; restart from step 350.",
        ),
        Evidence(
            "kl_ref",
            steps,
            tuple(0.035 + 0.01 * max(0, s - onset) for s in steps),
            tuple(0.07 for _ in steps),
            (
                Fact("score", "score", "", 0.86, 0.96),
                Fact("kl_ref", "reference KL", "nats/token", 0.035, 0.14),
                Fact("response_length", "response length", "tokens", 987.0, 307.0),
                Fact("entropy", "entropy", "nats/token", 0.049, 0.028),
            ),
        ),
    )
    spike = Incident(
        f"{run}/GRD-01-1",
        run,
        0,
        "GRD-01",
        "Gradient spike",
        Severity.WARNING,
        233,
        233,
        False,
        "grad_norm",
        0.71,
        0.5,
        "Gradient norm 0.71 at step 233, 6.4× its own median.",
        ("A batch with one very long or very wrong answer.",),
        ("Nothing if it stays alone; else lower `actor_rollout_ref.actor.grad_clip`.",),
        Evidence("grad_norm", (232, 233, 234), (0.11, 0.71, 0.12), (0.5, 0.5, 0.5)),
    )
    oom = LogLine(
        "math/nohup.out", 1204, None, "warning", "disk", 480, "No space left on device: /ckpt (98 % used)"
    )
    remark = Incident(
        f"{run}/RUN-07-1",
        run,
        0,
        "RUN-07",
        "Disk nearly full",
        Severity.INFO,
        480,
        480,
        False,
        None,
        None,
        None,
        "The log warns that the disk is nearly full after step 480.",
        ("Checkpoints are kept for ever.",),
        ("Set `trainer.max_actor_ckpt_to_keep`.",),
        Evidence(None, lines=(oom,)),
    )
    gap = replace(
        remark,
        id=f"{run}/LOG-03-1",
        rule="LOG-03",
        title="Step gap",
        first=50,
        last=52,
        message="Steps 51 to 52 are missing.",
    )
    return hacking, spike, remark, gap


def rule(code: str, title: str) -> Rule:
    return Rule(code, code.lower(), title, title, "incident", Severity.WARNING, (), "0.1.0", {}, "", {}, "")


def phases(n: int) -> tuple[Phase, ...]:
    """Warm-up, exploration, climb, plateau, diverging."""
    names = ("warmup", "exploration", "climb", "plateau", "diverging")
    firsts = [1, n // 20, n * 175 // 1000, n * 416 // 1000, n * 688 // 1000 + 1, n + 1]
    return tuple(Phase(0, PhaseName(name), firsts[i], firsts[i + 1] - 1) for i, name in enumerate(names))


def validation(n: int) -> tuple[ValidationView, ...]:
    steps = list(range(0, n + 1, 50)) or [0]
    values = [
        0.4 + 0.44 * (1 - np.exp(-k / 3)) - (0.23 if step > 0.69 * n else 0) for k, step in enumerate(steps)
    ]
    one = series("val-core/gsm8k/acc/mean@1", values, steps)
    best = int(np.argmax(values))
    return (ValidationView("gsm8k", one.name, True, one, values[0], values[-1], values[best], steps[best]),)


def timing() -> tuple[TimingPart, ...]:
    return (
        TimingPart("gen", 41.2, 0.48, 1),
        TimingPart("update_actor", 24.0, 0.28, 1),
        TimingPart("old_log_prob", 8.6, 0.10, 1),
        TimingPart("ref", 7.7, 0.09, 1),
        TimingPart("testing", 30.1, 0.02, 50),
        TimingPart("adv", 0.1, 0.002, 1),
        TimingPart("other", 2.3, 0.028, 1),
    )


CONFIG: Mapping[str, str] = {
    "actor_rollout_ref.actor.kl_loss_coef": "0.001",
    "actor_rollout_ref.actor.grad_clip": "1.0",
    "actor_rollout_ref.model.path": "Qwen/Qwen3-0.6B",
    "algorithm.adv_estimator": "grpo",
    "data.train_batch_size": "1024",
    "trainer.total_epochs": "15",
    "trainer.experiment_name": "qwen3-0.6b-lr1e-6-kl0.001",
}


def run(run_id: str = "math-grpo-qwen3", n: int = 600, **more: object) -> Run:
    """Facts of a run with `n` steps."""
    parts: dict[str, object] = {
        "id": run_id,
        "path": "math",
        "title": "qwen3-0.6b-lr1e-6-kl0.001",
        "project": "math-grpo",
        "experiment": "qwen3-0.6b-lr1e-6-kl0.001",
        "algorithm": "GRPO",
        "model": "Qwen3-0.6B",
        "verl_version": "0.9.1",
        "commit": "a1b2c3d4e5f6",
        "hardware": "8 × H100",
        "gpus": 8,
        "started_at": 1_772_000_000.0,
        "ended_at": 1_772_051_600.0,
        "wall_s": 51_600.0,
        "steps": n,
        "first_step": 1 if n else None,
        "last_step": n or None,
        "planned_steps": n or 435,
        "finished": True,
        "growing": False,
        "segments": (Segment(0, 1, n, n, "math/nohup.out", "start"),) if n else (),
        "sources": (
            SourceFile("math/nohup.out", "console", 1_834_211, "9f" * 32, n, 1 if n else None, n or None),
        ),
        "formats": ("console",),
        "tags": ("math", "baseline-candidate"),
        "owner": "wei",
        "baseline": None,
        "notes": "",
        "aliases": (),
        "config": CONFIG,
        "summary": (),
        "problems": (),
        "fingerprint": "f" * 64,
        **more,
    }
    return Run(**parts)  # type: ignore[arg-type]


def row(of: Run, status: Status, best: Best | None, found: tuple[Incident, ...] = ()) -> RunRow:
    """What cross-run pages would show of it."""
    return RunRow(
        of.id, of.title, of.project, of.experiment, status, State.LEARNING, of.algorithm, of.model,
        of.hardware, of.tags, of.owner, of.steps, of.last_step, of.planned_steps, of.growing,
        of.wall_s, of.gpu_hours,
        1245.0 if of.steps else None, of.started_at, of.ended_at, best, (), (),
        {}, "", len(of.problems),
    )  # fmt: skip


def report(
    of: Run,
    status: Status,
    headline: str,
    sentence: str,
    metrics: Iterable[Series] = (),
    found: tuple[Incident, ...] = (),
    best: Best | None = None,
    **more: object,
) -> RunReport:
    """A report around a run; `more` overrides its parts."""
    views = tuple(view(one) for one in metrics)
    order = list(dict.fromkeys(one.group for one in glossary().metrics))
    views = tuple(
        sorted(views, key=lambda one: order.index(one.metric.group) if one.metric.group in order else 99)
    )
    fired = tuple(Verdict(code, Outcome.FIRED) for code in sorted({one.rule for one in found}))
    parts: dict[str, object] = {
        "run": of,
        "row": row(of, status, best, found),
        "status": status,
        "state": State.LEARNING,
        "headline": headline,
        "sentence": sentence,
        "phases": (),
        "incidents": found,
        "verdicts": fired,
        "metrics": views,
        "validation": (),
        "timing": (),
        "log_lines": (),
        "problems": of.problems,
        "rules": {},
        "rewritten": 0,
        **more,
    }
    return RunReport(**parts)  # type: ignore[arg-type]
