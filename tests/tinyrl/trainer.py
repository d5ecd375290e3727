"""The loop of verl's PPO trainer, small: generate, score, advantages, update critic, update actor, test."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import measures
from .algorithms import advantages as adv
from .algorithms import losses
from .config import Config
from .costs import Costs
from .measures import Metrics
from .policy import CRITIC_INPUTS, OPTIMIZERS, POLICY_INPUTS, Adam, Array, Net, Sgd, log_softmax, one_hot
from .rollout import Rollouts, base_policy, sample
from .task import CHECKERS, Prompts, draw_prompts, rewards, strict

Floats = NDArray[np.floating]

HELD_OUT = "tinyrl/running_sum"
LONGER = "tinyrl/running_sum_long"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """All that a resumed run continues from. Sampling starts afresh, as it does in verl."""

    step: int
    actor: Net
    critic: Net
    actor_optimizer: Adam | Sgd
    critic_optimizer: Adam


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


class Trainer:
    """One run. Everything random comes from `config.seed`, and from `resumed` after a resume."""

    def __init__(self, config: Config, resumed: int = 0) -> None:
        self.config = config
        data = np.random.default_rng([config.seed, 0])
        self.train = draw_prompts(data, config.train_prompts, *config.digits)
        longest = config.digits[1]
        self.tests = {
            HELD_OUT: draw_prompts(data, 256, *config.digits),
            LONGER: draw_prompts(data, 256, longest + 1, longest + 3),
        }
        self.order = data.permutation(len(self.train))
        self.actor = base_policy(data, self.train, config.max_response_length, config.teacher)
        self.reference = self.actor.copy()
        self.critic = Net.new(data, CRITIC_INPUTS, 64, 1)
        self.actor_optimizer, self.critic_optimizer = OPTIMIZERS[config.optimizer](), Adam()
        self.rng = np.random.default_rng([config.seed, 1, resumed])
        self.costs = Costs(config, np.random.default_rng([config.seed, 2, resumed]))
        self.check = CHECKERS[config.checker]
        self.finished = 0

    # --- checkpoints -----------------------------------------------------------------------

    def checkpoint(self) -> Checkpoint:
        adams = (self.actor_optimizer.copy(), self.critic_optimizer.copy())
        return Checkpoint(self.finished, self.actor.copy(), self.critic.copy(), *adams)

    def restore(self, saved: Checkpoint) -> None:
        state = copy.deepcopy(saved)
        self.actor, self.critic = state.actor, state.critic
        self.actor_optimizer, self.critic_optimizer = state.actor_optimizer, state.critic_optimizer
        self.finished = state.step

    # --- one step --------------------------------------------------------------------------

    def step(self) -> Metrics:
        """Train one step and return what verl would log. Raises costs.OutOfMemoryError."""
        number = self.finished + 1
        seconds: dict[str, float] = {}
        experience = self._experience(number, seconds)
        rollouts = experience.rollouts
        self.costs.update_memory(rollouts)
        metrics: Metrics = measures.balance(rollouts, self.config.gpus)
        metrics["actor/entropy"] = experience.entropy
        metrics |= self._penalty(experience)
        if self.config.has_critic:
            metrics |= self._update_critic(experience, number)
            seconds["update_critic"] = self.costs.phase("update_critic", rollouts)
        if number > self.config.critic_warmup:
            metrics |= self._update_actor(experience, number)
            seconds["update_actor"] = self.costs.phase("update_actor", rollouts)
        self.finished = number
        return metrics | self._close(experience, seconds, number)

    def _close(self, experience: Experience, seconds: dict[str, float], number: int) -> Metrics:
        """Validation, checkpoint and the metrics that need the whole step."""
        config, rollouts = self.config, experience.rollouts
        metrics: Metrics = {}
        testing = number % config.test_freq == 0 or number == config.steps
        saving = number % config.save_freq == 0
        if saving:
            seconds["save_checkpoint"] = self.costs.checkpoint()
        overhead = 1.01 + 0.002 * float(self.costs.rng.random())
        seconds["step"] = sum(seconds.values()) * overhead
        if testing:
            found, seconds["testing"] = self.validate()
            metrics |= found
        epoch = (number - 1) * config.batch // config.train_prompts
        metrics |= {"training/global_step": number, "training/epoch": epoch}
        metrics |= measures.rewards(
            experience.scores, experience.penalised, experience.advantages, experience.returns
        )
        if config.has_critic:
            metrics |= measures.spread("critic/values", experience.values)
            metrics["critic/vf_explained_var"] = adv.explained_variance(experience.values, experience.returns)
        metrics |= measures.lengths(rollouts, config)
        metrics |= measures.timing(seconds, rollouts)
        metrics |= measures.throughput(seconds, rollouts, config.gpus)
        metrics |= measures.workers(seconds, rollouts, self.costs, number)
        if config.filter_groups:
            metrics["train/num_gen_batches"] = experience.batches
        return metrics

    # --- experience ------------------------------------------------------------------------

    def _experience(self, number: int, seconds: dict[str, float]) -> Experience:
        config = self.config
        rollouts, scores, batches = self._generate(number)
        seconds["gen"] = batches * self.costs.generation(rollouts)
        seconds["reward"] = batches * self.costs.reward(rollouts)
        x = one_hot(rollouts.states, POLICY_INPUTS)
        log_p = log_softmax(self.actor.forward(x), config.exponent)
        old = _chosen(log_p, rollouts)
        seconds["old_log_prob"] = self.costs.phase("old_log_prob", rollouts)
        reference = old
        if config.has_reference:
            reference = _chosen(log_softmax(self.reference.forward(x)), rollouts)
            seconds["ref"] = self.costs.phase("ref", rollouts)
        with np.errstate(invalid="ignore"):
            entropy, kl = float(losses.entropies(log_p).mean()), old - reference
        advantages, returns, penalised, values = self._advantages(rollouts, scores, kl, seconds)
        return Experience(
            rollouts, scores, penalised, old, reference, advantages, returns, values, entropy, batches
        )

    def _generate(self, number: int) -> tuple[Rollouts, Floats, int]:
        """Rollouts, their scores and how many batches were generated for them."""
        config = self.config
        start = (number - 1) * config.batch
        rows = self.order[np.arange(start, start + config.batch) % len(self.train)]
        rollouts = sample(self.actor, self._prompts(rows), config.max_response_length, self.rng)
        scores = self._score(rollouts)
        if not config.filter_groups:
            return rollouts, scores, 1
        return self._fill_up(rollouts, scores)

    def _prompts(self, rows: NDArray[np.int64]) -> Prompts:
        return self.train.take(rows).repeat(self.config.group)

    def _fill_up(self, rollouts: Rollouts, scores: Floats) -> tuple[Rollouts, Floats, int]:
        """Dynamic sampling (DAPO): new prompts for groups without variance, up to four batches."""
        config = self.config
        kept = [(rollouts, scores)]
        for batches in range(1, 5):
            rows = [self._varied(part[1]) for part in kept]
            if batches == 4 or sum(map(len, rows)) >= config.sequences:
                break
            fresh = self._prompts(self.rng.integers(0, len(self.train), config.batch))
            more = sample(self.actor, fresh, config.max_response_length, self.rng)
            kept.append((more, self._score(more)))
        return (*self._join(kept), batches)

    def _varied(self, scores: Floats) -> NDArray[np.int64]:
        """Rows of the groups whose scores differ."""
        groups = scores.reshape(-1, self.config.group)
        return np.flatnonzero(np.repeat(np.ptp(groups, axis=1) > 0, self.config.group))

    def _join(self, parts: list[tuple[Rollouts, Floats]]) -> tuple[Rollouts, Floats]:
        """The first `sequences` rows, varied groups before the others."""
        prompts = Prompts(
            np.concatenate([part.prompts.digits for part, _ in parts]),
            np.concatenate([part.prompts.lengths for part, _ in parts]),
        )
        stacked = [
            np.concatenate([getattr(part, name) for part, _ in parts])
            for name in ("tokens", "mask", "states")
        ]
        scores = np.concatenate([part for _, part in parts])
        varied = self._varied(scores)
        others = np.setdiff1d(np.arange(len(scores)), varied)
        rows = np.concatenate([varied, others])[: self.config.sequences]
        return Rollouts(prompts, *stacked, parts[0][0].cap).take(rows), scores[rows]

    def _score(self, rollouts: Rollouts) -> Floats:
        scores: Floats = rewards(self.check, rollouts.responses(), rollouts.prompts)
        scores = scores - self.config.length_cost * rollouts.lengths
        buffer = self.config.overlong_buffer
        if buffer:
            over = rollouts.lengths - (rollouts.cap - buffer)
            scores = scores - np.clip(over / buffer, 0.0, 1.0)
        return scores

    def _advantages(
        self, rollouts: Rollouts, scores: Floats, kl: Floats, seconds: dict[str, float]
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """(advantages, returns, penalised scores, values); all but the third are flat over tokens."""
        config, mask = self.config, rollouts.mask
        seconds["adv"] = self.costs.advantages(rollouts)
        if not config.has_critic:
            normalised = adv.grpo(scores, mask, config.group)[mask]
            return normalised, normalised, scores, np.zeros(len(normalised))
        seconds["values"] = self.costs.phase("values", rollouts)
        flat = self.critic.forward(one_hot(rollouts.states, CRITIC_INPUTS))[:, 0].astype(np.float64)
        penalised = adv.kl_penalised(scores, _scatter(kl, mask), mask, config.kl_coef)
        advantages, returns = adv.gae(penalised, _scatter(flat, mask), mask, config.gamma, config.lam)
        return advantages[mask], returns[mask], penalised.sum(1), flat

    def _penalty(self, experience: Experience) -> Metrics:
        """KL in the reward, for classic PPO."""
        if self.config.kl_coef == 0:
            return {}
        mask = experience.rollouts.mask
        kl = _scatter(experience.old - experience.reference, mask).sum(1) / mask.sum(1)
        return {
            "actor/reward_kl_penalty": float(kl.mean()),
            "actor/reward_kl_penalty_coeff": self.config.kl_coef,
        }

    # --- updates ---------------------------------------------------------------------------

    def _mini_batches(self, experience: Experience) -> list[NDArray[np.int64]]:
        """Token rows of each mini batch: whole responses, in order."""
        owner = np.repeat(np.arange(len(experience.scores)), experience.rollouts.lengths)
        part = owner * self.config.mini_batches // len(experience.scores)
        return [np.flatnonzero(part == number) for number in range(self.config.mini_batches)]

    def _update_actor(self, experience: Experience, number: int) -> Metrics:
        config = self.config
        lr = config.lr * _warm(number, config.lr_warmup_steps)
        entropy_coef = config.entropy_coeff * _warm(number, config.entropy_warmup_steps)
        found = [
            self._actor_pass(experience, rows, lr, entropy_coef) for rows in self._mini_batches(experience)
        ]
        metrics: Metrics = {
            f"actor/{name}": np.float64(np.mean([f[name] for f in found])) for name in found[0]
        }
        metrics["actor/lr"] = np.float64(lr)
        return metrics

    def _actor_pass(
        self, experience: Experience, rows: NDArray[np.int64], lr: float, entropy_coef: float
    ) -> dict[str, float]:
        config = self.config
        x = one_hot(experience.rollouts.states[rows], POLICY_INPUTS)
        actions = experience.rollouts.actions[rows]
        hidden = self.actor.hidden(x)
        log_p = log_softmax(self.actor.output(hidden), config.exponent)
        chosen = log_p[np.arange(len(rows)), actions]
        with np.errstate(invalid="ignore"):
            policy = losses.surrogate(chosen, experience.old[rows], experience.advantages[rows], config.clip)
            slope, found = policy.slope, {"pg_loss": policy.loss}
            if config.use_kl_loss:
                reference = experience.reference[rows]
                penalty, penalty_slope = losses.PENALTIES[config.kl_loss_type]
                slope = slope + config.kl_loss_coef * penalty_slope(chosen, reference)
                found |= {"kl_loss": float(penalty(chosen, reference).mean()), "kl_coef": config.kl_loss_coef}
            gradient = losses.logit_gradient(log_p, actions, slope, entropy_coef)
        norm = self.actor_optimizer.step(
            self.actor, self.actor.backward(x, hidden, gradient), lr, config.grad_clip
        )
        found |= {
            "pg_clipfrac": policy.clipped,
            "ppo_kl": policy.kl,
            "pg_clipfrac_lower": policy.clipped_lower,
        }
        return found | {"grad_norm": norm}

    def _update_critic(self, experience: Experience, number: int) -> Metrics:
        config = self.config
        lr = config.critic_lr * _warm(number, config.critic_lr_warmup_steps)
        found = [self._critic_pass(experience, rows, lr) for rows in self._mini_batches(experience)]
        metrics: Metrics = {
            f"critic/{name}": np.float64(np.mean([f[name] for f in found])) for name in found[0]
        }
        metrics["critic/lr"] = np.float64(lr)
        return metrics

    def _critic_pass(self, experience: Experience, rows: NDArray[np.int64], lr: float) -> dict[str, float]:
        x = one_hot(experience.rollouts.states[rows], CRITIC_INPUTS)
        hidden = self.critic.hidden(x)
        predicted = self.critic.output(hidden)[:, 0]
        loss, clipped, slope = losses.value_loss(
            predicted, experience.values[rows], experience.returns[rows], self.config.value_clip
        )
        gradients = self.critic.backward(x, hidden, slope[:, None].astype(np.float32))
        norm = self.critic_optimizer.step(self.critic, gradients, lr, self.config.grad_clip)
        return {
            "vf_loss": loss,
            "vf_clipfrac": clipped,
            "vpred_mean": float(predicted.mean()),
            "grad_norm": norm,
        }

    # --- validation ------------------------------------------------------------------------

    def validate(self) -> tuple[Metrics, float]:
        """Accuracy on held-out prompts, always under the strict checker; and seconds."""
        metrics: Metrics = {}
        seconds = 0.0
        for source, prompts in self.tests.items():
            repeated = prompts.repeat(self.config.val_n)
            rollouts = sample(self.actor, repeated, self.config.max_response_length, self.rng)
            seconds += self.costs.validation(rollouts)
            metrics |= self._accuracy(source, rollouts)
        return metrics, seconds

    def _accuracy(self, source: str, rollouts: Rollouts) -> Metrics:
        n = self.config.val_n
        scores = rewards(strict, rollouts.responses(), rollouts.prompts)
        right = (scores == 1.0).reshape(-1, n)
        metrics: Metrics = {
            f"val-core/{source}/acc/mean@{n}": np.float64(right.mean()),
            f"val-aux/{source}/reward/mean@{n}": np.float64(scores.mean()),
        }
        if n > 1:
            metrics[f"val-aux/{source}/acc/best@{n}/mean"] = np.float64(right.any(1).mean())
        return metrics


def _warm(step: int, steps: int) -> float:
    """Share of a value that rises linearly over the first `steps`; 1 without a warm-up."""
    return min(1.0, step / steps) if steps else 1.0


def _chosen(log_p: Array, rollouts: Rollouts) -> Floats:
    return np.asarray(log_p[np.arange(len(log_p)), rollouts.actions], np.float64)


def _scatter(flat: Floats, mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Token values back on the (n, cap) grid, 0 elsewhere."""
    grid = np.zeros(mask.shape)
    grid[mask] = flat
    return grid
