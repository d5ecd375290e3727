"""Run reports made of numbers, so that pages can be tried without an archive."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sitegen.errors import Problem
from sitegen.metrics import glossary
from sitegen.model import (
    Evidence,
    Incident,
    LogLine,
    MetricSummary,
    Outcome,
    Phase,
    PhaseName,
    Segment,
    Severity,
    Status,
    Verdict,
)
from sitegen.reports.shapes import Best, RunReport
from tests.pages.made_parts import (
    CONFIG,
    curves,
    incidents,
    phases,
    report,
    rule,
    run,
    series,
    timing,
    validation,
    view,
)


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
