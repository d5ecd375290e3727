"""The two models that learn, each with its optimiser: an update is a pass over mini batches."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .algorithms import losses
from .config import Config
from .experience import Experience
from .measures import Metrics
from .policy import CRITIC_INPUTS, OPTIMIZERS, POLICY_INPUTS, Adam, Net, Sgd, log_softmax, one_hot
from .task import Ints


@dataclass
class Actor:
    """The policy under the clipped surrogate, with KL penalty and entropy bonus."""

    config: Config
    net: Net
    optimizer: Adam | Sgd = field(init=False)

    def __post_init__(self) -> None:
        self.optimizer = OPTIMIZERS[self.config.optimizer]()

    def update(self, experience: Experience, step: int) -> Metrics:
        """One pass; means over its mini batches."""
        config = self.config
        lr = config.lr * _warm(step, config.lr_warmup_steps)
        bonus = config.entropy_coeff * _warm(step, config.entropy_warmup_steps)
        found = [self._pass(experience, rows, lr, bonus) for rows in mini_batches(experience, config)]
        return _means("actor", found) | {"actor/lr": np.float64(lr)}

    def _pass(self, experience: Experience, rows: Ints, lr: float, bonus: float) -> dict[str, float]:
        config = self.config
        x = one_hot(experience.rollouts.states[rows], POLICY_INPUTS)
        actions = experience.rollouts.actions[rows]
        hidden = self.net.hidden(x)
        log_p = log_softmax(self.net.output(hidden), config.exponent)
        chosen = log_p[np.arange(len(rows)), actions]
        with np.errstate(invalid="ignore"):
            policy = losses.surrogate(chosen, experience.old[rows], experience.advantages[rows], config.clip)
            slope, found = policy.slope, {"pg_loss": policy.loss}
            if config.use_kl_loss:
                reference = experience.reference[rows]
                penalty, penalty_slope = losses.PENALTIES[config.kl_loss_type]
                slope = slope + config.kl_loss_coef * penalty_slope(chosen, reference)
                found |= {"kl_loss": float(penalty(chosen, reference).mean()), "kl_coef": config.kl_loss_coef}
            upstream = losses.logit_gradient(log_p, actions, slope, bonus)
        gradients = self.net.backward(x, hidden, upstream)
        norm = self.optimizer.step(self.net, gradients, lr, config.grad_clip)
        found |= {"pg_clipfrac": policy.clipped, "ppo_kl": policy.kl}
        return found | {"pg_clipfrac_lower": policy.clipped_lower, "grad_norm": norm}


@dataclass
class Critic:
    """The value model under the clipped squared error."""

    config: Config
    net: Net
    optimizer: Adam = field(default_factory=Adam)

    def update(self, experience: Experience, step: int) -> Metrics:
        """One pass; means over its mini batches."""
        lr = self.config.critic_lr * _warm(step, self.config.critic_lr_warmup_steps)
        found = [self._pass(experience, rows, lr) for rows in mini_batches(experience, self.config)]
        return _means("critic", found) | {"critic/lr": np.float64(lr)}

    def _pass(self, experience: Experience, rows: Ints, lr: float) -> dict[str, float]:
        x = one_hot(experience.rollouts.states[rows], CRITIC_INPUTS)
        hidden = self.net.hidden(x)
        predicted = self.net.output(hidden)[:, 0]
        loss, clipped, slope = losses.value_loss(
            predicted, experience.values[rows], experience.returns[rows], self.config.value_clip
        )
        gradients = self.net.backward(x, hidden, slope[:, None].astype(np.float32))
        norm = self.optimizer.step(self.net, gradients, lr, self.config.grad_clip)
        mean = float(predicted.mean())
        return {"vf_loss": loss, "vf_clipfrac": clipped, "vpred_mean": mean, "grad_norm": norm}


def mini_batches(experience: Experience, config: Config) -> list[Ints]:
    """Token rows of each mini batch: whole responses, in order."""
    owner = np.repeat(np.arange(len(experience.scores)), experience.rollouts.lengths)
    part = owner * config.mini_batches // len(experience.scores)
    return [np.flatnonzero(part == number) for number in range(config.mini_batches)]


def _means(prefix: str, found: list[dict[str, float]]) -> Metrics:
    return {f"{prefix}/{name}": np.float64(np.mean([each[name] for each in found])) for name in found[0]}


def _warm(step: int, steps: int) -> float:
    """Share of a value that rises linearly over the first `steps`; 1 without a warm-up."""
    return min(1.0, step / steps) if steps else 1.0
