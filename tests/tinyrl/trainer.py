"""The loop of verl's PPO trainer, small: generate, score, advantages, update critic, update actor, test."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np

from . import measures
from .config import Config
from .costs import Costs
from .experience import Experience, Nets, gather
from .learners import Actor, Critic
from .measures import Metrics
from .policy import CRITIC_INPUTS, Net
from .rollout import Rollouts, base_policy, sample
from .sampling import Sampler
from .task import draw_prompts, rewards, strict

HELD_OUT = "tinyrl/running_sum"
LONGER = "tinyrl/running_sum_long"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """All that a resumed run continues from. Sampling starts afresh, as it does in verl."""

    step: int
    actor: Actor
    critic: Critic


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
        order = data.permutation(len(self.train))
        base = base_policy(data, self.train, config.max_response_length, config.teacher)
        self.actor, self.reference = Actor(config, base), base.copy()
        self.critic = Critic(config, Net.new(data, CRITIC_INPUTS, 64, 1))
        self.rng = np.random.default_rng([config.seed, 1, resumed])
        self.sampler = Sampler(config, self.train, order, self.rng)
        self.costs = Costs(config, np.random.default_rng([config.seed, 2, resumed]))
        self.finished = 0

    def checkpoint(self) -> Checkpoint:
        """A copy of all that learns."""
        return copy.deepcopy(Checkpoint(self.finished, self.actor, self.critic))

    def restore(self, saved: Checkpoint) -> None:
        """Continue from a checkpoint."""
        state = copy.deepcopy(saved)
        self.finished, self.actor, self.critic = state.step, state.actor, state.critic

    def step(self) -> Metrics:
        """Train one step and return what verl would log. Raises costs.OutOfMemoryError."""
        config, number = self.config, self.finished + 1
        seconds: dict[str, float] = {}
        batch = self.sampler.generate(self.actor.net, number)
        nets = Nets(self.actor.net, self.reference, self.critic.net)
        experience = gather(config, batch, nets, self.costs, seconds)
        self.costs.update_memory(batch.rollouts)
        metrics: Metrics = measures.balance(batch.rollouts, config.gpus)
        metrics["actor/entropy"] = experience.entropy
        metrics |= experience.penalty(config)
        if config.has_critic:
            metrics |= self.critic.update(experience, number)
            seconds["update_critic"] = self.costs.phase("update_critic", batch.rollouts)
        if number > config.critic_warmup:
            metrics |= self.actor.update(experience, number)
            seconds["update_actor"] = self.costs.phase("update_actor", batch.rollouts)
        self.finished = number
        return metrics | self._close(experience, seconds)

    def _close(self, experience: Experience, seconds: dict[str, float]) -> Metrics:
        """Validation, checkpoint and the metrics that need the whole step."""
        config, rollouts, number = self.config, experience.rollouts, self.finished
        metrics: Metrics = {}
        if number % config.save_freq == 0:
            seconds["save_checkpoint"] = self.costs.checkpoint()
        overhead = 1.01 + 0.002 * float(self.costs.rng.random())
        seconds["step"] = sum(seconds.values()) * overhead
        if number % config.test_freq == 0 or number == config.steps:
            metrics, seconds["testing"] = self.validate()
        epoch = (number - 1) * config.batch // config.train_prompts
        metrics |= {"training/global_step": number, "training/epoch": epoch}
        metrics |= experience.measures(config)
        metrics |= measures.timing(seconds, rollouts)
        metrics |= measures.throughput(seconds, rollouts, config.gpus)
        metrics |= measures.workers(seconds, rollouts, self.costs, number)
        if config.filter_groups:
            metrics["train/num_gen_batches"] = experience.batches
        return metrics

    def validate(self) -> tuple[Metrics, float]:
        """Accuracy on held-out prompts, always under the strict checker; and seconds."""
        metrics: Metrics = {}
        seconds = 0.0
        for source, prompts in self.tests.items():
            repeated = prompts.repeat(self.config.val_n)
            rollouts = sample(self.actor.net, repeated, self.config.max_response_length, self.rng)
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
