"""Runs of one project, for comparing them: two learning rates with three seeds each, and two of their own."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

PART_AT, STEPS = 101, 240
HOSTILE = '<img src=x onerror="window.hacked=1">{{ 7*7 }} "quoted" \u202egnp.exe'


def score(seed: int, rate: float, step: int) -> float:
    """Score of a run at a step, without noise: both rates are alike until step 100."""
    late = max(0, step - PART_AT + 1) * (0.002 if rate > 6e-7 else 0.0)
    return 0.2 + 0.001 * step + late + 0.01 * seed


def write(runs: Path) -> Path:
    """`lr-<rate>-s<seed>` for two rates and seeds 1 to 3, `lone` (half as long), `longer` and `hostile`."""
    for rate in ("1e-6", "5e-7"):
        for seed in (1, 2, 3):
            _run(runs / f"lr-{rate}-s{seed}", f"lr {rate} seed {seed}", rate, seed)
    _run(runs / "lone", "another batch", "1e-6", 1, steps=STEPS // 2, batch=512)
    _run(runs / "longer", "more steps", "5e-7", 1, steps=STEPS + 60, batch=512)
    _run(runs / "hostile", HOSTILE, "1e-6", 4, batch=256)
    return runs


def _run(folder: Path, title: str, rate: str, seed: int, steps: int = STEPS, batch: int = 128) -> None:
    rng = np.random.default_rng(seed + int(float(rate) * 1e9))
    (folder / ".hydra").mkdir(parents=True)
    lines = []
    for step in range(1, steps + 1):
        metrics = {
            "critic/score/mean": score(seed, float(rate), step) + 0.004 * float(rng.normal()),
            "actor/kl_loss": 0.001 * step / 100,
            "actor/entropy": 0.5 - step / 1000 + 0.002 * float(rng.normal()),
            "actor/grad_norm": 0.1 + 0.01 * float(rng.random()),
            "response_length/mean": 300.0 + step + float(rng.normal()),
            "timing_s/step": 20.0 + seed,
            "perf/total_num_tokens": 1000.0 * batch,
        }
        if step % 40 == 0:
            metrics["val-core/gsm8k/acc/mean@1"] = score(seed, float(rate), step) - 0.1
        lines.append(json.dumps({"step": step, "data": metrics}) + "\n")
    (folder / "metrics.jsonl").write_text("".join(lines))
    (folder / "run.toml").write_text(f"title = {json.dumps(title)}\n", encoding="utf-8")
    (folder / ".hydra" / "config.yaml").write_text(_config(folder.name, rate, seed, batch), encoding="utf-8")
    (folder / ".hydra" / "overrides.yaml").write_text("[]\n")


def _config(name: str, rate: str, seed: int, batch: int) -> str:
    return f"""actor_rollout_ref:
  actor:
    optim: {{lr: {rate}}}
    ppo_mini_batch_size: {batch // 4}
    data_loader_seed: {seed}
  model: {{path: Qwen/Qwen3-0.6B}}
algorithm: {{adv_estimator: grpo}}
data:
  seed: {seed}
  train_batch_size: {batch}
  train_files: /data/gsm8k/train.parquet
trainer:
  project_name: "kin & <b>co</b>"
  experiment_name: {name}
  default_local_dir: checkpoints/{name}
  n_gpus_per_node: 8
  nnodes: 1
  total_training_steps: {STEPS}
"""
