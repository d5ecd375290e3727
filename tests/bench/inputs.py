"""Logs in verl's formats with the size of real ones. Seeded: the same files every time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

# name -> typical level; 60 metrics of a PPO step
LEVELS: dict[str, float] = {
    "actor/entropy": 0.4,
    "actor/kl_loss": 0.05,
    "actor/kl_coef": 0.001,
    "actor/pg_loss": 0.02,
    "actor/pg_clipfrac": 0.003,
    "actor/pg_clipfrac_lower": 0.0001,
    "actor/ppo_kl": 0.0002,
    "actor/grad_norm": 0.13,
    "actor/lr": 1e-6,
    "critic/score/mean": 0.5,
    "critic/score/max": 1.0,
    "critic/score/min": 0.01,
    "critic/rewards/mean": 0.5,
    "critic/rewards/max": 1.0,
    "critic/rewards/min": 0.01,
    "critic/advantages/mean": 0.01,
    "critic/advantages/max": 2.4,
    "critic/advantages/min": -2.4,
    "critic/returns/mean": 0.01,
    "critic/returns/max": 2.4,
    "critic/returns/min": -2.4,
    "critic/values/mean": 0.5,
    "critic/values/max": 1.2,
    "critic/values/min": -0.3,
    "critic/vf_explained_var": 0.5,
    "critic/vf_loss": 0.04,
    "critic/vf_clipfrac": 0.01,
    "critic/vpred_mean": 0.5,
    "critic/grad_norm": 1.4,
    "critic/lr": 1e-5,
    "response_length/mean": 312.0,
    "response_length/max": 1024.0,
    "response_length/min": 21.0,
    "response_length/clip_ratio": 0.004,
    "prompt_length/mean": 104.0,
    "prompt_length/max": 237.0,
    "prompt_length/min": 50.0,
    "prompt_length/clip_ratio": 0.0,
    "response/aborted_ratio": 0.0,
    "global_seqlen/min": 140000.0,
    "global_seqlen/max": 160000.0,
    "global_seqlen/mean": 149005.0,
    "timing_s/gen": 42.0,
    "timing_s/reward": 1.3,
    "timing_s/old_log_prob": 6.1,
    "timing_s/ref": 5.9,
    "timing_s/values": 5.0,
    "timing_s/adv": 0.1,
    "timing_s/update_critic": 14.0,
    "timing_s/update_actor": 17.0,
    "timing_s/step": 91.0,
    "timing_per_token_ms/gen": 0.033,
    "timing_per_token_ms/update_actor": 0.021,
    "perf/total_num_tokens": 1202599.0,
    "perf/time_per_step": 91.0,
    "perf/throughput": 1754.0,
    "perf/mfu/actor": 0.31,
    "perf/max_memory_allocated_gb": 61.2,
    "perf/max_memory_reserved_gb": 70.1,
    "perf/cpu_memory_used_gb": 212.3,
}
CORE = "val-core/openai/gsm8k/acc/mean@1"
CONFIG = """\
{'algorithm': {'adv_estimator': 'gae', 'gamma': 1.0, 'lam': 1.0},
 'data': {'train_batch_size': 256, 'max_response_length': 1024},
 'trainer': {'experiment_name': '%s',
             'n_gpus_per_node': 8,
             'nnodes': 1,
             'project_name': 'bench',
             'total_training_steps': %d}}
"""


def table(seed: int, steps: int) -> dict[str, list[float]]:
    """Columns of a run: every fifth one loses its score half-way, with a jump of the KL."""
    rng = np.random.default_rng(seed)
    progress = np.arange(1, steps + 1) / steps
    climb = 0.2 + 0.6 / (1.0 + np.exp(-9.0 * (progress - 0.35)))
    columns = {name: level * np.exp(0.05 * rng.normal(size=steps)) for name, level in LEVELS.items()}
    sick = seed % 5 == 0
    fall = np.where(progress > 0.6, 0.1, 1.0) if sick else 1.0
    score = climb * fall + 0.015 * rng.normal(size=steps)
    columns["critic/score/mean"] = columns["critic/rewards/mean"] = score
    columns["actor/kl_loss"] *= np.where(progress > 0.58, 9.0, 1.0) if sick else 0.3 + progress
    columns["actor/entropy"] *= 1.3 - progress
    columns["perf/time_per_step"] = columns["timing_s/step"]
    columns["perf/throughput"] = columns["perf/total_num_tokens"] / (columns["timing_s/step"] * 8)
    return {name: column.tolist() for name, column in columns.items()}


def records(seed: int, steps: int) -> Iterator[tuple[int, dict[str, float]]]:
    """(step, metrics) of each step; every twentieth is validated."""
    columns = table(seed, steps)
    for row in range(steps):
        metrics = {name: column[row] for name, column in columns.items()}
        if (row + 1) % 20 == 0:
            metrics[CORE] = 0.9 * metrics["critic/score/mean"]
        yield row + 1, metrics


def jsonl(seed: int, steps: int) -> str:
    """A FileLogger file."""
    return "".join(json.dumps({"step": step, "data": data}) + "\n" for step, data in records(seed, steps))


def console(seed: int, steps: int, prefix: str = "") -> str:
    """Console output with reprs, step lines only."""
    lines = []
    for step, data in records(seed, steps):
        pieces = " - ".join(f"{name}:{value!r}" for name, value in data.items())
        lines.append(f"{prefix}step:{step} - {pieces}\n")
    return "".join(lines)


def job(seed: int, steps: int) -> str:
    """Console output of a whole job: config, step lines behind Ray's prefix, a farewell."""
    prefix = f"\x1b[36m(TaskRunner pid={4000 + seed})\x1b[0m "
    head = [
        f"2026-10-{1 + seed % 28:02d} 09:00:00,000\tINFO worker.py:1951 -- Started a local Ray instance.\n"
    ]
    head += [f"{prefix}{line}\n" for line in (CONFIG % (f"run_{seed}", steps)).splitlines()]
    return "".join(head) + console(seed, steps, prefix) + f"{prefix}Final validation metrics: {{}}\n"


def archive(folder: Path, runs: int, steps: int) -> Path:
    """`runs` folders, odd ones with a FileLogger file, even ones with a console log. Made once."""
    for seed in range(runs):
        run = folder / f"team-{seed % 7}" / f"run-{seed:04d}"
        if run.is_dir():
            continue
        run.mkdir(parents=True)
        name, text = ("metrics.jsonl", jsonl) if seed % 2 else ("train.log", job)
        (run / name).write_text(text(seed, steps))
    return folder


def files(folder: Path, kind: str, count: int, steps: int) -> list[Path]:
    """`count` single logs of `steps` steps, each in a folder of its own."""
    made = []
    for seed in range(count):
        path = folder / f"run-{seed:03d}" / ("metrics.jsonl" if kind == "jsonl" else "train.log")
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(jsonl(seed, steps) if kind == "jsonl" else console(seed, steps))
        made.append(path)
    return made
