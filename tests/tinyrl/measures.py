"""verl's metric names for what a step measured, in the order of verl's console."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from .config import Config
from .costs import Costs
from .rollout import Rollouts

Metrics = dict[str, float | int | np.float64 | np.int64]
Floats = NDArray[np.floating]


def spread(name: str, values: Floats) -> Metrics:
    """name/mean, /max, /min."""
    return {
        f"{name}/mean": float(values.mean()),
        f"{name}/max": float(values.max()),
        f"{name}/min": float(values.min()),
    }


def rewards(scores: Floats, penalised: Floats, advantages: Floats, returns: Floats) -> Metrics:
    """Scores and penalised rewards are per sequence, advantages and returns per token."""
    return {
        **spread("critic/score", scores),
        **spread("critic/rewards", penalised),
        **spread("critic/advantages", advantages),
        **spread("critic/returns", returns),
    }


def lengths(rollouts: Rollouts, config: Config) -> Metrics:
    response, prompt = rollouts.lengths, _prompt_lengths(rollouts)
    at_cap = float((response == config.max_response_length).mean())
    metrics = {**spread("response_length", response), "response_length/clip_ratio": at_cap}
    metrics |= spread("response_length_non_aborted", response)
    metrics["response_length_non_aborted/clip_ratio"] = at_cap
    metrics["response/aborted_ratio"] = 0.0  # every response holds one token at least
    metrics |= spread("prompt_length", prompt)
    metrics["prompt_length/clip_ratio"] = float((prompt == config.max_prompt_length).mean())
    return metrics


def _prompt_lengths(rollouts: Rollouts) -> NDArray[np.int64]:
    return rollouts.prompts.lengths + 2  # a begin token and a question mark


def balance(rollouts: Rollouts, gpus: int) -> Metrics:
    """Tokens per GPU before and after the sequences are dealt out by length."""
    totals = rollouts.lengths + _prompt_lengths(rollouts)
    before = totals.reshape(gpus, -1).sum(1)
    dealt = np.sort(totals).reshape(-1, gpus)
    dealt[1::2] = dealt[1::2, ::-1]
    after = dealt.sum(0)
    return {
        "global_seqlen/min": int(before.min()),
        "global_seqlen/max": int(before.max()),
        "global_seqlen/minmax_diff": int(before.max() - before.min()),
        "global_seqlen/balanced_min": int(after.min()),
        "global_seqlen/balanced_max": int(after.max()),
        "global_seqlen/mean": float(before.mean()),
    }


def timing(seconds: Mapping[str, float], rollouts: Rollouts) -> Metrics:
    """timing_s/* as given and timing_per_token_ms/* for the phases that verl reports."""
    response = int(rollouts.lengths.sum())
    everything = response + int(_prompt_lengths(rollouts).sum())
    metrics: Metrics = {f"timing_s/{name}": value for name, value in seconds.items()}
    for name in ("gen", "ref", "values", "adv", "update_critic", "update_actor"):
        if name in seconds:
            tokens = response if name == "gen" else everything
            metrics[f"timing_per_token_ms/{name}"] = seconds[name] * 1000 / tokens
    return metrics


def throughput(seconds: Mapping[str, float], rollouts: Rollouts, gpus: int) -> Metrics:
    tokens = int((rollouts.lengths + _prompt_lengths(rollouts)).sum())
    step = seconds["step"]
    return {
        "perf/total_num_tokens": tokens,
        "perf/time_per_step": step,
        "perf/throughput": tokens / (step * gpus),
    }


def workers(seconds: Mapping[str, float], rollouts: Rollouts, costs: Costs, step: int) -> Metrics:
    """What worker processes report: numpy scalars, as they come out of their means."""
    peak = costs.gpu.peak_gb
    metrics: Metrics = {}
    for phase, name in (("update_critic", "perf/mfu/critic"), ("update_actor", "perf/mfu/actor")):
        if phase in seconds:
            metrics[name] = np.float64(costs.mfu(rollouts, seconds[phase]))
    metrics["perf/max_memory_allocated_gb"] = np.float64(peak)
    metrics["perf/max_memory_reserved_gb"] = np.float64(1.06 * peak)
    metrics["perf/cpu_memory_used_gb"] = np.float64(costs.host_memory_gb(step))
    return metrics
