"""From a batch of scored responses to what an update needs: log-probabilities, values, advantages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import measures
from .algorithms import advantages as adv
from .algorithms import losses
from .config import Config
from .costs import Costs
from .measures import Metrics
from .policy import CRITIC_INPUTS, POLICY_INPUTS, Array, Net, log_softmax, one_hot
from .rollout import Rollouts
from .sampling import Batch

Floats = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Nets:
    """The models of a run at the start of a step."""

    actor: Net
    reference: Net
    critic: Net


@dataclass(frozen=True, slots=True)
class Experience:
    """A batch ready for updates. Token arrays are flat, (tokens,), in the order of `rollouts.states`."""

    rollouts: Rollouts
    scores: Floats  # (n,)
    penalised: Floats  # (n,) scores less the KL penalty
    old: Floats
    reference: Floats
    advantages: Floats
    returns: Floats
    values: Floats
    entropy: float
    batches: int  # generation batches it took

    def measures(self, config: Config) -> Metrics:
        """Rewards, advantages and lengths under verl's names."""
        metrics = measures.rewards(self.scores, self.penalised, self.advantages, self.returns)
        if config.has_critic:
            metrics |= measures.spread("critic/values", self.values)
            metrics["critic/vf_explained_var"] = adv.explained_variance(self.values, self.returns)
        return metrics | measures.lengths(self.rollouts, config)

    def penalty(self, config: Config) -> Metrics:
        """The KL in the reward, for classic PPO."""
        if config.kl_coef == 0:
            return {}
        mask = self.rollouts.mask
        kl = scatter(self.old - self.reference, mask).sum(1) / mask.sum(1)
        return {
            "actor/reward_kl_penalty": float(kl.mean()),
            "actor/reward_kl_penalty_coeff": config.kl_coef,
        }


def gather(config: Config, batch: Batch, nets: Nets, costs: Costs, seconds: dict[str, float]) -> Experience:
    """Look at a batch with all models; the seconds that this costs are added to `seconds`."""
    rollouts = batch.rollouts
    seconds["gen"] = batch.batches * costs.generation(rollouts)
    seconds["reward"] = batch.batches * costs.reward(rollouts)
    x = one_hot(rollouts.states, POLICY_INPUTS)
    log_p = log_softmax(nets.actor.forward(x), config.exponent)
    old = chosen(log_p, rollouts)
    seconds["old_log_prob"] = costs.phase("old_log_prob", rollouts)
    reference = old
    if config.has_reference:
        reference = chosen(log_softmax(nets.reference.forward(x)), rollouts)
        seconds["ref"] = costs.phase("ref", rollouts)
    with np.errstate(invalid="ignore"):
        entropy, kl = float(losses.entropies(log_p).mean()), old - reference
    seconds["adv"] = costs.advantages(rollouts)
    if not config.has_critic:
        normalised = adv.grpo(batch.scores, rollouts.mask, config.group)[rollouts.mask]
        judged = (batch.scores, old, reference, normalised, normalised, np.zeros(len(normalised)))
        return Experience(rollouts, batch.scores, *judged, entropy, batch.batches)
    seconds["values"] = costs.phase("values", rollouts)
    penalised, advantages, returns, values = _judge(config, batch, kl, nets.critic)
    judged = (penalised, old, reference, advantages, returns, values)
    return Experience(rollouts, batch.scores, *judged, entropy, batch.batches)


def _judge(config: Config, batch: Batch, kl: Floats, critic: Net) -> tuple[Floats, Floats, Floats, Floats]:
    """(penalised scores, advantages, returns, values) by generalised advantage estimation."""
    mask = batch.rollouts.mask
    values = critic.forward(one_hot(batch.rollouts.states, CRITIC_INPUTS))[:, 0].astype(np.float64)
    rewards = adv.kl_penalised(batch.scores, scatter(kl, mask), mask, config.kl_coef)
    advantages, returns = adv.gae(rewards, scatter(values, mask), mask, config.gamma, config.lam)
    return rewards.sum(1), advantages[mask], returns[mask], values


def chosen(log_p: Array, rollouts: Rollouts) -> Floats:
    """Log-probability of each token that was written, (tokens,)."""
    return np.asarray(log_p[np.arange(len(log_p)), rollouts.actions], np.float64)


def scatter(flat: Floats, mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Token values back on the (n, cap) grid, 0 elsewhere."""
    grid = np.zeros(mask.shape)
    grid[mask] = flat
    return grid
