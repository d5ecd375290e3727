"""Runs that nothing is wrong with: binomial scores, heavy-tailed gradients, validations, checkpoints.

The parameters are those measured on public healthy runs: residuals of the score as large as sampling noise,
a spread of 0.23 in the logarithm of the gradient norm with 2 % of spikes of 3 to 25 times, step times that
vary by 3 to 5 %, entropy that falls to 15-45 % of its start, a reference KL that rises and levels off.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BATCH = 256  # answers per step
PROBLEMS = 600  # of the validation set
GPUS = 8


def series(seed: int, rows: int = 300) -> dict[str, Floats]:
    """Metrics under verl's names, one value per step; NaN where a step does not carry one."""
    rng = np.random.default_rng(seed)
    t = np.arange(1, rows + 1)
    p = _success(rng, t / rows)
    found = {**_rewards(rng, p), **_policy(rng, t / rows), **_critic(rng, t, p, ppo=seed % 2 == 1)}
    lengths = rng.uniform(200, 1500) * (1 + rng.uniform(-0.25, 0.35) * (p - p[0]) / (p[-1] - p[0]))
    lengths *= np.exp(rng.normal(0, 0.03, rows))
    return {**found, **_lengths(rng, t / rows, lengths), **_times(rng, t, lengths), **_validations(rng, t, p)}


def _success(rng: np.random.Generator, part: Floats) -> Floats:
    """Chance of a right answer: a logistic climb whose middle lies in the first third."""
    low, high = rng.uniform(0.05, 0.35), rng.uniform(0.55, 0.9)
    middle, steep = rng.uniform(0.05, 0.3), rng.uniform(8, 25)
    zero = 1 / (1 + np.exp(steep * middle))
    climb: Floats = (1 / (1 + np.exp(-steep * (part - middle))) - zero) / (1 - zero)
    return low + (high - low) * climb


def _rewards(rng: np.random.Generator, p: Floats) -> dict[str, Floats]:
    score = rng.binomial(BATCH, p) / BATCH
    largest = rng.uniform(1.5, 2.7, len(p))
    return {
        "critic/score/mean": score,
        "critic/score/max": np.ones(len(p)),
        "critic/score/min": np.zeros(len(p)),
        "critic/rewards/mean": score,
        "critic/advantages/max": largest,
        "critic/advantages/min": -largest[::-1],
        "critic/advantages/mean": rng.normal(0, 0.02, len(p)),
    }


def _policy(rng: np.random.Generator, part: Floats) -> dict[str, Floats]:
    n = len(part)
    usual = rng.uniform(0.1, 2) * np.exp(-0.4 * part)
    spike = np.exp(rng.uniform(np.log(3), np.log(25), n))
    grad = usual * np.where(rng.random(n) < 0.02, spike, np.exp(rng.normal(0, 0.23, n)))
    entropy = rng.uniform(0.3, 1.2) * np.exp(-rng.uniform(0.8, 1.9) * part**0.6 + rng.normal(0, 0.04, n))
    kl = 0.002 + rng.uniform(0.05, 0.3) * (1 - np.exp(-3 * part)) * np.exp(rng.normal(0, 0.06, n))
    return {
        "actor/grad_norm": grad,
        "actor/entropy": entropy,
        "actor/kl_loss": kl,
        "actor/ppo_kl": rng.normal(0, 2e-4, n),
        "actor/pg_loss": rng.normal(0, 0.02, n),
        "actor/pg_clipfrac": 0.003 * np.exp(rng.normal(0, 0.2, n)),
        "actor/lr": np.full(n, 1e-6),
        "training/rollout_probs_diff_mean": 0.003 * np.exp(rng.normal(0, 0.1, n)),
    }


def _critic(rng: np.random.Generator, t: NDArray[np.int64], p: Floats, ppo: bool) -> dict[str, Floats]:
    if not ppo:
        return {}
    n = len(t)
    learned = 0.45 * (1 - np.exp(-6 * t / n))
    return {
        "critic/vf_loss": 0.1 * np.exp(-2 * t / n) + 0.02 * np.exp(rng.normal(0, 0.2, n)),
        "critic/vf_explained_var": -3 * np.exp(-t / 8) + learned + rng.normal(0, 0.06, n),
        "critic/vpred_mean": p,
        "critic/returns/mean": 0.9 * p,
        "critic/returns/max": np.ones(n),
        "critic/returns/min": np.zeros(n),
    }


def _lengths(rng: np.random.Generator, part: Floats, lengths: Floats) -> dict[str, Floats]:
    n = len(part)
    return {
        "response_length/mean": lengths,
        "response_length/max": lengths * rng.uniform(1.5, 3, n),
        "response_length/clip_ratio": np.clip(0.1 * np.exp(-12 * part) + rng.normal(0.01, 0.004, n), 0, 1),
        "prompt_length/mean": 150 * np.exp(rng.normal(0, 0.02, n)),
    }


def _times(rng: np.random.Generator, t: NDArray[np.int64], lengths: Floats) -> dict[str, Floats]:
    n, share = len(t), lengths / lengths.mean()
    gen = 20 * share * np.exp(rng.normal(0, 0.05, n))
    update = 15 * share * np.exp(rng.normal(0, 0.03, n))
    testing = np.where(t % 10 == 0, 25 * np.exp(rng.normal(0, 0.1, n)), np.nan)
    saving = np.where(t % 50 == 0, 90 * np.exp(rng.normal(0, 0.1, n)), np.nan)
    step = gen + update + 8 * np.exp(rng.normal(0, 0.05, n)) + np.nan_to_num(testing) + np.nan_to_num(saving)
    tokens = (lengths + 150) * BATCH
    return {
        "timing_s/gen": gen,
        "timing_s/update_actor": update,
        "timing_s/reward": 0.4 * np.exp(rng.normal(0, 0.1, n)),
        "timing_s/adv": np.full(n, 0.1),
        "timing_s/testing": testing,
        "timing_s/save_checkpoint": saving,
        "timing_s/step": step,
        "perf/time_per_step": step,
        "perf/total_num_tokens": tokens,
        "perf/throughput": tokens / step / GPUS,
        "perf/cpu_memory_used_gb": 200 + 30 * (1 - np.exp(-t / 5)) + rng.normal(0, 1, n),
        "perf/max_memory_allocated_gb": np.full(n, 40.0),
    }


def _validations(rng: np.random.Generator, t: NDArray[np.int64], p: Floats) -> dict[str, Floats]:
    right = rng.binomial(PROBLEMS, np.clip(p - 0.03, 0.01, 1)) / PROBLEMS
    return {"val-core/gsm8k/acc/mean@1": np.where(t % 10 == 0, right, np.nan)}


def write(path: Path, metrics: Mapping[str, Floats], *, decimals: int | None = None, stride: int = 1) -> None:
    """Write a run as verl's FileLogger does; every `stride`-th step, rounded to `decimals`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = len(next(iter(metrics.values())))
    with path.open("w", encoding="utf-8") as file:
        for row in range(stride - 1, rows, stride):
            found = {name: float(values[row]) for name, values in metrics.items() if np.isfinite(values[row])}
            if decimals is not None:
                found = {name: round(value, decimals) for name, value in found.items()}
            file.write(json.dumps({"step": row + 1, "data": found}) + "\n")
