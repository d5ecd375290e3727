"""Run reports made of numbers, so that pages can be tried without an archive."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from sitegen.errors import Problem
from sitegen.metrics import glossary
from sitegen.model import (
    Evidence,
    Fact,
    Incident,
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


def unchecked() -> tuple[Verdict, ...]:
    """Two rules that ran clear, and three that lacked a metric."""
    clear = tuple(Verdict(code, Outcome.CLEAR) for code in ("ENT-01", "LEN-02", "THR-01"))
    missing = (("CRI-01", ("vf_explained_var",)), ("CRI-02", ("vf_loss", "vf_explained_var")))
    skipped = tuple(Verdict(code, Outcome.NOT_APPLICABLE, names) for code, names in missing)
    short = Verdict(
        "PHASE-09", Outcome.NOT_APPLICABLE, (), "no row could be evaluated: shorter than the window"
    )
    return (*clear, *skipped, short)


def sick(n: int = 600) -> RunReport:
    """Reward hacking from 69 % of the steps."""
    of = run(
        n=n,
        problems=(
            Problem(
                "math/nohup.out",
                3120,
                "truncated",
                "the line ends at 4 096 characters, as W&B cuts it; the last value was dropped",
                "fetch the full log from the cluster",
            ),
        ),
    )
    found = incidents(of.id, n)
    made = [series(name, values) for name, values in curves(n).items()]
    checked = (*(Verdict(one.rule, Outcome.FIRED) for one in found), *unchecked())
    titles = {
        "CRI-01": "Explained variance below zero",
        "CRI-02": "Critic cannot learn",
        "PHASE-09": "Decline",
    }
    return report(
        of,
        Status.FAILED,
        f"Reward hacking suspected from step {found[0].first}",
        "Score rose by 11 % within 20 steps while reference KL grew 4.0× and responses shortened by 69 %; "
        "validation fell from 0.84 to 0.61. Best checkpoint: step 350. 36 GPU-hours ran after onset.",
        [*made, validation(n)[0].series],
        found,
        Best("gsm8k", "val-core/gsm8k/acc/mean@1", 0.842, 350, True),
        phases=phases(n),
        verdicts=checked,
        validation=validation(n),
        timing=timing(),
        rules={code: rule(code, title) for code, title in titles.items()},
        log_lines=tuple(line for one in found for line in one.evidence.lines),
    )


def healthy(n: int = 435) -> RunReport:
    """A run that learned."""
    of = run("math-healthy", n)
    made = [series(name, values) for name, values in curves(n, 3, sick=False).items()]
    names = ("warmup", "exploration", "climb", "plateau", "converged")
    good = tuple(replace(one, phase=PhaseName(name)) for one, name in zip(phases(n), names, strict=True))
    return report(
        of, Status.HEALTHY, "Healthy: converged at step 300",
        "Best 0.78 at step 310; nothing to act on. 3 of 28 rules could not be checked.",
        made, best=Best("gsm8k", "val-core/gsm8k/acc/mean@1", 0.78, 310, True),
        phases=good, verdicts=unchecked(), validation=validation(n), timing=timing(),
    )  # fmt: skip


def three_steps() -> RunReport:
    """A run that was stopped after three steps, without validation."""
    of = run("three", 3, finished=False, hardware=None, gpus=None, wall_s=260.0, planned_steps=435)
    made = [series(name, values[:3]) for name, values in curves(10).items()]
    return report(
        of, Status.UNFINISHED, "Stopped at step 3 of 435 without a word", "Too short for any rule to judge.",
        made,
        phases=(Phase(0, PhaseName.WARMUP, 1, 3),), verdicts=unchecked()[3:],
        best=Best("training score", "critic/score/mean", 0.515, 3, False),
    )  # fmt: skip


def one_step() -> RunReport:
    """One record of step 7."""
    of = run("one", 1, first_step=7, last_step=7, segments=(Segment(0, 7, 7, 1, "math/nohup.out", "start"),))
    made = [series(name, values[:1], [7]) for name, values in curves(10).items()]
    made[2] = series("actor/entropy", [0.085], [7])
    return report(of, Status.UNFINISHED, "Stopped at step 7 without a word", "One step is too short.", made)


def crash_only() -> RunReport:
    """A run that died before its first step."""
    text = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 37.1 GiB <b>& 2 GiB</b> free"
    line = LogLine("crash/slurm-88123.out", 412, 1_772_000_300.0, "critical", "cuda_oom", None, text)
    of = run(
        "crash",
        0,
        finished=False,
        model=None,
        hardware=None,
        gpus=None,
        wall_s=None,
        algorithm=None,
        verl_version=None,
        commit=None,
        experiment=None,
        project=None,
        title="slurm-88123",
        config={},
        tags=(),
        owner=None,
        planned_steps=None,
    )
    found = Incident(
        "crash/RUN-01-1",
        "crash",
        0,
        "RUN-01",
        "GPU out of memory",
        Severity.CRITICAL,
        None,
        None,
        True,
        None,
        None,
        None,
        "CUDA ran out of memory before the first step.",
        ("The model and its optimizer do not fit.",),
        ("Set `actor_rollout_ref.actor.fsdp_config.param_offload=True`.",),
        Evidence(None, lines=(line,)),
    )
    return report(
        of,
        Status.CRASHED,
        "Crashed before the first step: GPU out of memory",
        "Nothing was trained.",
        (),
        (found,),
        log_lines=(line,),
        verdicts=(Verdict("RUN-01", Outcome.FIRED), *unchecked()[3:]),
    )


def no_reward(n: int = 120) -> RunReport:
    """SFT: a loss and a validation loss, no score anywhere."""
    of = run("sft", n, algorithm="SFT", title="sft-gsm8k-0.5b")
    draw = np.random.default_rng(5)
    loss = 1.4 * np.exp(-np.linspace(0, 3, n)) + 0.3 + draw.normal(0, 0.02, n)
    made = [
        series("train/loss", loss),
        series("val/loss", loss[::20] + 0.05, range(1, n + 1, 20)),
        series("train/grad_norm", 1 + np.abs(draw.normal(0, 0.3, n))),
    ]
    return report(
        of,
        Status.HEALTHY,
        "Nothing found in 120 steps",
        "No reward was logged: most rules could not be checked.",
        made,
        verdicts=unchecked(),
        phases=(Phase(0, PhaseName.LEARNING, 1, n),),
    )


def lost_values(n: int = 300) -> RunReport:
    """NaN from step 220, an infinity, a gap, lone spikes, and a constant."""
    draw = np.random.default_rng(2)
    kl = 0.02 + 0.0001 * np.arange(n) + draw.normal(0, 0.001, n)
    kl[219:] = np.nan
    kl[60] = 4e5
    grad = np.abs(draw.normal(0.1, 0.02, n))
    grad[100:140] = np.nan
    grad[200] = 3.0
    loss = draw.normal(0, 0.02, n)
    loss[[5, 50]] = np.nan
    score = np.where(np.arange(n) < 220, 0.4, 0.0) + draw.normal(0, 0.01, n)
    made = [
        series("actor/kl_loss", kl, non_finite=tuple((step, "nan") for step in range(220, n + 1))),
        series("actor/grad_norm", grad),
        series("actor/pg_loss", loss, non_finite=((6, "inf"), (51, "-inf"))),
        series("actor/lr", np.full(n, 1e-6)),
        series(
            "actor/entropy", np.full(n, np.nan), non_finite=tuple((step, "nan") for step in range(1, n + 1))
        ),
        series("critic/score/mean", score),
        series("my/huge", 1e12 + draw.normal(0, 1e11, n)),
        series("my/offset", 98765.4321 + draw.normal(0, 1e-3, n)),
        series("my/decades", np.geomspace(1e-6, 30, n)),
        series("my/once", [0.5], [n // 2]),
    ]
    words = ("Non-finite values from step 220", "Reference KL is NaN for 81 steps.")
    return report(run("nan", n), Status.FAILED, *words, made, phases=phases(n))


def rewound(n: int = 400) -> RunReport:
    """Two resumes that rewrote 40 and 100 steps."""
    draw = np.random.default_rng(11)
    spans = ((1, 200), (161, 330), (231, n))
    steps = np.concatenate([np.arange(a, b + 1) for a, b in spans])
    segments = np.repeat([0, 1, 2], [b - a + 1 for a, b in spans])
    live = np.array(
        [not any(s >= spans[k][0] for k in range(seg + 1, 3)) for s, seg in zip(steps, segments, strict=True)]
    )
    made = []
    for name, level in (("critic/score/mean", 0.4), ("actor/kl_loss", 0.02), ("actor/entropy", 0.3)):
        values = (
            level * (1 + steps / n)
            + np.where(live, 0, -0.3 * level * (steps % 50) / 50)
            + draw.normal(0, 0.02 * level, steps.size)
        )
        made.append(series(name, values, steps, segments=segments, live=live))
    parts = tuple(
        Segment(i, a, b, b - a + 1, f"math/part{i}.out", "start" if i == 0 else "rewind")
        for i, (a, b) in enumerate(spans)
    )
    of = run("rewound", n, segments=parts)
    seg_phases = (
        Phase(0, PhaseName.WARMUP, 1, 40),
        Phase(0, PhaseName.CLIMB, 41, 200),
        Phase(1, PhaseName.CLIMB, 161, 330),
        Phase(2, PhaseName.PLATEAU, 231, n),
    )
    return report(
        of,
        Status.ATTENTION,
        "Resumed twice",
        "140 rows were rewritten.",
        made,
        phases=seg_phases,
        rewritten=int((~live).sum()),
    )


def many_metrics(count: int = 400, n: int = 300, seed: int = 1) -> RunReport:
    """A run with so many metrics, of which most are unknown."""
    draw = np.random.default_rng(seed)
    made = [series(name, values) for name, values in curves(n).items()]
    made += [
        series(
            f"custom/reward_model_{k % 7}/part_{k:03d}",
            np.cumsum(draw.normal(0, 1, n)) + draw.normal(0, 2, n),
        )
        for k in range(count - len(made))
    ]
    return report(
        run("many", n),
        Status.HEALTHY,
        "Healthy: still learning at step 300",
        "Nothing to act on.",
        made,
        phases=phases(n),
        verdicts=unchecked(),
    )


def long_name() -> RunReport:
    """A name of 200 characters, all of it told."""
    name = ("qwen2.5-7b-instruct_grpo_" * 8)[:200]
    base = sick(100)
    return replace(base, run=replace(base.run, title=name, id="long", experiment=name))


def sixty_metrics(n: int = 5000) -> RunReport:
    """The size that is measured: 60 noisy metrics over 5 000 steps, incidents and a whole config."""
    base = sick(n)
    draw = np.random.default_rng(4)
    names = [name for one in glossary().metrics for name in one.names[:1]]
    have = {one.series.name for one in base.metrics}
    fresh = [name for name in names if name not in have][: 60 - len(base.metrics)]
    more = tuple(
        view(series(name, np.cumsum(draw.normal(0, 0.02, n)) + draw.normal(0, 0.5, n))) for name in fresh
    )
    config = {**CONFIG, **{f"actor_rollout_ref.rollout.option_{k:03d}": f"value-{k}" for k in range(250)}}
    summary = tuple(
        MetricSummary(one.series.name, one.metric.key, n, 0.1, 0.2, 0.0, 1.0, 0.5, None, None, 0)
        for one in (*base.metrics, *more)
    )
    return replace(
        base, metrics=(*base.metrics, *more), run=replace(base.run, config=config, summary=summary)
    )


ALL = {
    "sick": sick,
    "healthy": healthy,
    "three": three_steps,
    "one": one_step,
    "crash": crash_only,
    "sft": no_reward,
    "nan": lost_values,
    "rewound": rewound,
    "many": many_metrics,
    "long": long_name,
    "sixty": sixty_metrics,
}
