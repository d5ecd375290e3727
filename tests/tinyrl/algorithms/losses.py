"""Losses over a flat batch of tokens, with gradients. Means are over tokens ("token-mean" in verl)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..policy import Array
from ..task import Ints

Floats = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Clip:
    """Bounds of the probability ratio: 1 - low, 1 + high, and `dual` for negative advantages."""

    low: float = 0.2
    high: float = 0.2
    dual: float = 3.0


def k3(log_probs: Floats, reference: Floats) -> Floats:
    """Per-token estimate of KL(policy || reference), never negative (Schulman 2020, "k3"); cut at 10."""
    gap = np.clip(reference - log_probs, -20.0, 20.0)
    return np.clip(np.exp(gap) - gap - 1.0, -10.0, 10.0)


def k3_slope(log_probs: Floats, reference: Floats) -> Floats:
    """d k3 / d log_probs; 0 where the estimate is cut."""
    gap = np.clip(reference - log_probs, -20.0, 20.0)
    return np.asarray((1.0 - np.exp(gap)) * (k3(log_probs, reference) < 10.0))


def k2(log_probs: Floats, reference: Floats) -> Floats:
    """Half the squared gap of log-probabilities, verl's kl_loss_type "mse"; its slope is not bounded."""
    return np.asarray(0.5 * np.square(log_probs - reference))


def k2_slope(log_probs: Floats, reference: Floats) -> Floats:
    """d k2 / d log_probs."""
    return np.asarray(log_probs - reference)


PENALTIES = {"low_var_kl": (k3, k3_slope), "mse": (k2, k2_slope)}


@dataclass(frozen=True, slots=True)
class Surrogate:
    """The clipped policy loss (PPO, Schulman et al. 2017, eq. 7, with the dual clip of Ye et al. 2020)."""

    loss: float
    slope: Floats  # d loss of each token / d its log-probability
    clipped: float  # share of tokens where clipping is active
    clipped_lower: float
    kl: float  # mean of old - new


def surrogate(log_probs: Floats, old: Floats, advantages: Floats, clip: Clip) -> Surrogate:
    """All arguments are (tokens,)."""
    ratio = np.exp(np.clip(log_probs - old, -20.0, 20.0))
    plain = -advantages * ratio
    bounded = -advantages * np.clip(ratio, 1.0 - clip.low, 1.0 + clip.high)
    floor = -advantages * clip.dual
    dual = (advantages < 0) & (np.maximum(plain, bounded) > floor)
    losses = np.where(dual, floor, np.maximum(plain, bounded))
    clipped = bounded > plain
    slope = np.where(clipped | dual, 0.0, plain)
    slope = np.where(np.isnan(plain), np.nan, slope)
    return Surrogate(
        loss=float(losses.mean()),
        slope=slope,
        clipped=float(clipped.mean()),
        clipped_lower=float(dual.mean()),
        kl=float((old - log_probs).mean()),
    )


def entropies(log_p: Array) -> Array:
    """Entropy of each row of log-probabilities, nats."""
    return np.asarray(-(np.exp(log_p) * log_p).sum(1))


def logit_gradient(log_p: Array, actions: Ints, slope: Floats, entropy_coef: float) -> Array:
    """Gradient of mean(loss) - entropy_coef * mean(entropy) by the logits.

    `slope` (tokens,) is the derivative of each token's loss by the log-probability of its action.
    """
    p = np.exp(log_p)
    upstream = -slope[:, None] * p
    upstream[np.arange(len(actions)), actions] += slope
    if entropy_coef:
        upstream += entropy_coef * p * (log_p + entropies(log_p)[:, None])
    return np.asarray(upstream / len(actions), np.float32)


def value_loss(predicted: Floats, old: Floats, returns: Floats, clip: float) -> tuple[float, float, Floats]:
    """Half the clipped squared error: (loss, share where clipping bites, gradient by `predicted`)."""
    bounded = np.clip(predicted, old - clip, old + clip)
    plain, clipped = np.square(predicted - returns), np.square(bounded - returns)
    active = clipped > plain
    slope = np.where(active, 0.0, predicted - returns) / len(predicted)
    return float(0.5 * np.maximum(plain, clipped).mean()), float(active.mean()), slope
