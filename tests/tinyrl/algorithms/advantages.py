"""From scores to advantages and returns per token. Token arrays are (n, cap) with a mask of that shape."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def grpo(scores: Floats, mask: Mask, group: int) -> Floats:
    """Scores (n,) normalised within groups of `group` neighbours, spread over the tokens.

    A = (r - mean) / (std + 1e-6) with the sample standard deviation (GRPO, Shao et al. 2024, eq. 10).
    """
    groups = scores.reshape(-1, group)
    centred = groups - groups.mean(1, keepdims=True)
    normalised = centred / (groups.std(1, ddof=1, keepdims=True) + 1e-6)
    return np.asarray(normalised.reshape(-1, 1) * mask)


def gae(rewards: Floats, values: Floats, mask: Mask, gamma: float, lam: float) -> tuple[Floats, Floats]:
    """Generalised advantage estimation (Schulman et al. 2016); returns (whitened advantages, returns)."""
    n, cap = rewards.shape
    advantages = np.zeros((n, cap))
    running, following = np.zeros(n), np.zeros(n)
    for position in reversed(range(cap)):
        here = mask[:, position]
        delta = rewards[:, position] + gamma * following - values[:, position]
        running = np.where(here, delta + gamma * lam * running, running)
        following = np.where(here, values[:, position], following)
        advantages[:, position] = np.where(here, running, 0.0)
    returns = (advantages + values) * mask
    return whiten(advantages, mask), returns


def whiten(values: Floats, mask: Mask) -> Floats:
    """Mean 0 and variance 1 over the tokens under the mask, 0 elsewhere."""
    kept = values[mask]
    return np.asarray((values - kept.mean()) / np.sqrt(kept.var() + 1e-8) * mask)


def kl_penalised(scores: Floats, kl: Floats, mask: Mask, coef: float) -> Floats:
    """Token rewards (n, cap): -coef * kl on every token, the score on the last one."""
    rewards = -coef * kl * mask
    rewards[np.arange(len(scores)), mask.sum(1) - 1] += scores
    return rewards


def explained_variance(values: Floats, returns: Floats) -> float:
    """1 - Var(returns - values) / (Var(returns) + 1e-5), as verl logs it."""
    return float(1.0 - (returns - values).var() / (returns.var() + 1e-5))
