"""Curves -> trace: sampling noise, heavy tails, validation and checkpoints inside the step, verl's names."""

from __future__ import annotations

import numpy as np

from tests.detection.curves import Curves, Floats
from tests.detection.profiles import Rng
from tests.detection.trace import Trace


def observe(curves: Curves, name: str) -> Trace:
    """What verl logs of a run with these curves."""
    setup = curves.setup
    steps = np.arange(1, setup.rows + 1) * setup.stride
    # A stream each: how many numbers one draw takes depends on the curves, and the others must not notice.
    marks, policy, lengths, times, machine, checks, critic = curves.rng.spawn(7)
    if setup.profile.name == "sft":
        metrics = _sft(curves, policy)
    else:
        metrics = {**_rewards(curves, marks), **_policy(curves, policy), **_lengths(curves, lengths)}
        metrics |= _times(curves, times, metrics)
        metrics |= {**_machine(curves, machine), **_validations(curves, checks)}
        metrics |= _critic(curves, critic, metrics) if setup.profile.critic else {}
        metrics["training/global_step"] = steps.astype(np.float64)
    if setup.decimals is not None:
        metrics = {key: np.round(values, setup.decimals) for key, values in metrics.items()}
    trace = Trace(name, setup, steps, metrics, setup.config)
    trace.say(-1, "info", "info", "Training from scratch")
    trace.say(setup.rows - 1, "finished", "info", "Final validation metrics: {}")
    return trace


def wobble(rng: Rng, n: int, spread: float | Floats, memory: float = 0.0) -> Floats:
    """Factors about 1 whose logarithm has `spread`; `memory` is the correlation of neighbours."""
    fresh = rng.normal(0, 1, n)
    for row in range(1, n if memory else 0):
        fresh[row] = memory * fresh[row - 1] + np.sqrt(1 - memory**2) * fresh[row]
    return np.asarray(np.exp(spread * fresh), np.float64)


def heavy(rng: Rng, n: int, spread: Floats, spikes: float) -> Floats:
    """Factors with a lognormal body and isolated spikes of 3 to 25."""
    spiky = (rng.random(n) < spikes) & (np.arange(n) > 0)
    spiky[1:] &= ~spiky[:-1]
    return np.where(spiky, np.exp(rng.uniform(np.log(3), np.log(25), n)), wobble(rng, n, spread))


def _rewards(curves: Curves, rng: Rng) -> dict[str, Floats]:
    setup, n = curves.setup, curves.rows
    low, high = setup.profile.marks
    chance = np.clip(curves["right"] + rng.normal(0, 0.006, n) * (curves["right"] > 0), 0, 1)
    largest, smallest, mean = rng.uniform(1.5, 2.7, n), -rng.uniform(1.5, 2.7, n), rng.normal(0, 0.01, n)
    right = rng.binomial(setup.batch, chance) / setup.batch
    right = np.clip(chance + (right - chance) * curves["unrest"], 0, 1)
    score = low + (high - low) * right
    found = {
        "critic/score/mean": score,
        "critic/score/max": np.where(right > 0, high, low),
        "critic/score/min": np.where(right < 1, low, high),
        "critic/rewards/mean": score - _penalty(curves),
        "critic/advantages/mean": curves["signal"] * mean,
        "critic/advantages/max": curves["signal"] * largest,
        "critic/advantages/min": curves["signal"] * smallest,
    }
    dead = curves["signal"] == 0
    if dead.any():  # every answer of the batch got the same mark
        mark = np.where(score > 0.5 * (low + high), high, low)
        for end in ("mean", "max", "min"):
            found[f"critic/score/{end}"] = np.where(dead, mark, found[f"critic/score/{end}"])
    if not setup.profile.critic:
        found |= {
            f"critic/returns/{end}": found[f"critic/advantages/{end}"] for end in ("mean", "max", "min")
        }
    return found


def _penalty(curves: Curves) -> Floats | float:
    """What the KL penalty takes from the score; verl's PPO default is 0.001 a nat."""
    return 0.001 * curves["kl"] * curves["length"] if curves.setup.profile.critic else 0.0


def _policy(curves: Curves, rng: Rng) -> dict[str, Floats]:
    n, profile = curves.rows, curves.setup.profile
    pg = curves["pg"] * rng.normal(0, 1, n) * (curves["signal"] > 0)
    found = {
        "actor/entropy": curves["entropy"] * wobble(rng, n, 0.035, 0.5),
        "actor/grad_norm": curves["grad"] * heavy(rng, n, curves["spread"], curves.setup.spikes),
        "actor/pg_loss": pg,
        "actor/pg_clipfrac": curves["clip"] * wobble(rng, n, 0.15),
        "actor/pg_clipfrac_lower": curves["clip_low"] * wobble(rng, n, 0.3),
        "actor/ppo_kl": curves["update_kl"] * rng.normal(0.3, 1, n),
        "actor/lr": curves["lr"],
        "training/rollout_probs_diff_mean": curves["gap"] * wobble(rng, n, 0.08, 0.3),
        "training/rollout_probs_diff_max": np.clip(rng.uniform(0.3, 1.0, n), 0, 1),
        "training/rollout_actor_probs_pearson_corr": np.minimum(
            1.0, 1 - (1 - curves["pearson"]) * wobble(rng, n, 0.1)
        ),
    }
    if profile.kl:
        found[profile.kl] = curves["kl"] * wobble(rng, n, 0.06, 0.4)
    if profile.kl == "actor/reward_kl_penalty":
        found["actor/reward_kl_penalty_coeff"] = (
            curves["kl_coef"] if "kl_coef" in curves else np.full(n, 0.001)
        )
    if "tries" in curves:
        found["train/num_gen_batches"] = np.maximum(1, np.round(curves["tries"] + rng.normal(0, 0.4, n)))
    return found


def _lengths(curves: Curves, rng: Rng) -> dict[str, Floats]:
    n, limit = curves.rows, curves.setup.limit
    mean = np.minimum(curves["length"] * wobble(rng, n, 0.02), 0.98 * limit)
    cut = np.clip(curves["cut"] * wobble(rng, n, 0.2), 0, 1)
    whole = cut * curves.setup.batch
    return {
        "response_length/mean": mean,
        "response_length/max": np.where(
            whole >= 1, limit, np.minimum(limit, mean * rng.uniform(2.0, 2.9, n))
        ),
        "response_length/min": np.maximum(1, np.round(mean * rng.uniform(0.1, 0.4, n))),
        "response_length/clip_ratio": cut,
        "response/aborted_ratio": curves["aborted"] * wobble(rng, n, 0.2),
        "prompt_length/mean": curves["prompt"] * wobble(rng, n, 0.02),
        "prompt_length/max": curves["prompt"] * 3,
        "prompt_length/clip_ratio": np.zeros(n),
    }


def _every(curves: Curves, rows: int) -> Floats:
    """True in every `rows`-th row."""
    return np.asarray(np.arange(1, curves.rows + 1) % rows == 0, np.float64)


def _times(curves: Curves, rng: Rng, metrics: dict[str, Floats]) -> dict[str, Floats]:
    n, setup = curves.rows, curves.setup
    tokens = (metrics["response_length/mean"] + metrics["prompt_length/mean"]) * setup.batch
    work = tokens / tokens.mean()
    base = rng.uniform(10, 60)
    first = np.where(np.arange(n) == 0, rng.uniform(1.3, 3.0), 1.0) if setup.stride == 1 else 1.0

    def spent(seconds: float, spread: float = setup.unrest) -> Floats:
        return np.asarray(seconds * work / curves["pace"] * wobble(rng, n, spread, 0.3))

    parts = {
        "timing_s/gen": spent(base) / curves["gen_pace"] * first,
        "timing_s/old_log_prob": spent(0.2 * base),
        "timing_s/update_actor": spent(0.7 * base),
        "timing_s/reward": curves["reward_s"] * wobble(rng, n, 0.2),
        "timing_s/adv": 0.1 * wobble(rng, n, 0.1),
    }
    if setup.profile.kl:
        parts["timing_s/ref"] = spent(0.2 * base)
    if setup.profile.critic:
        parts |= {"timing_s/values": spent(0.2 * base), "timing_s/update_critic": spent(0.6 * base)}
    testing = _every(curves, setup.test_every) * rng.uniform(0.3, 1.5) * base * wobble(rng, n, 0.1)
    saving = _every(curves, setup.save_every) * rng.uniform(0.5, 2.0) * base * wobble(rng, n, 0.1)
    step = sum(parts.values()) + testing + saving + curves["stall"] + 0.02 * base
    return {
        **parts,
        "timing_s/testing": np.where(testing > 0, testing, np.nan),
        "timing_s/save_checkpoint": np.where(saving > 0, saving, np.nan),
        "timing_s/step": np.asarray(step),
        "timing_per_token_ms/gen": 1000 * parts["timing_s/gen"] / tokens,
        "perf/time_per_step": np.asarray(step),
        "perf/total_num_tokens": np.round(tokens),
        "perf/throughput": tokens / step / setup.gpus,
    }


def _machine(curves: Curves, rng: Rng) -> dict[str, Floats]:
    n = curves.rows
    return {
        "perf/max_memory_allocated_gb": np.maximum.accumulate(curves["gpu"] * wobble(rng, n, 0.003)),
        "perf/max_memory_reserved_gb": np.maximum.accumulate(curves["reserved"] * wobble(rng, n, 0.003)),
        "perf/cpu_memory_used_gb": curves["host"] * wobble(rng, n, 0.008, 0.5),
        "perf/mfu/actor": 0.35 * curves["pace"] * wobble(rng, n, 0.02),
    }


def _validations(curves: Curves, rng: Rng) -> dict[str, Floats]:
    setup = curves.setup
    right = rng.binomial(setup.problems, np.clip(curves["val"], 0, 1)) / setup.problems
    tested = _every(curves, setup.test_every) > 0
    return {"val-core/sim/acc/mean@1": np.where(tested, right, np.nan)}


def _critic(curves: Curves, rng: Rng, metrics: dict[str, Floats]) -> dict[str, Floats]:
    n, score = curves.rows, metrics["critic/score/mean"]
    guess = curves["vpred"] * wobble(rng, n, 0.03)
    return {
        "critic/vf_loss": curves["vf_loss"] * wobble(rng, n, 0.15),
        "critic/vf_explained_var": curves["ev"] + rng.normal(0, 0.05, n),
        "critic/vf_clipfrac": np.abs(rng.normal(0.01, 0.005, n)),
        "critic/grad_norm": curves["critic_grad"] * heavy(rng, n, np.full(n, 0.25), curves.setup.spikes),
        "critic/lr": np.full(n, 1e-5),
        "critic/vpred_mean": guess,
        "critic/values/mean": guess,
        "critic/returns/mean": 0.95 * score,
        "critic/returns/max": np.ones(n),
        "critic/returns/min": np.zeros(n),
    }


def _sft(curves: Curves, rng: Rng) -> dict[str, Floats]:
    n = curves.rows
    loss = (1.6 - 0.9 * curves["right"]) * wobble(rng, n, 0.03)
    tested = _every(curves, curves.setup.test_every) > 0
    return {
        "train/loss": loss,
        "train/grad_norm": curves["grad"] * heavy(rng, n, curves["spread"], curves.setup.spikes),
        "train/lr": curves["lr"] * 10,
        "train/time(s)": 4.0 * wobble(rng, n, curves.setup.unrest) / curves["pace"],
        "train/global_tokens": 65536 * wobble(rng, n, 0.05),
        "val/loss": np.where(tested, (1.65 - 0.85 * curves["val"]) * wobble(rng, n, 0.01), np.nan),
    }
