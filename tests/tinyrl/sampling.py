"""Batches of scored responses, with DAPO's dynamic sampling where it is asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .config import Config
from .policy import Net
from .rollout import Rollouts, sample
from .task import CHECKERS, Ints, Prompts, rewards

BATCHES = 4  # algorithm.filter_groups.max_num_gen_batches


@dataclass(frozen=True, slots=True)
class Batch:
    """Responses with their scores (n,), and how many batches were generated for them."""

    rollouts: Rollouts
    scores: NDArray[np.float64]
    batches: int = 1


@dataclass
class Sampler:
    """Walks over the training prompts in a fixed order, `config.group` responses for each."""

    config: Config
    prompts: Prompts
    order: Ints
    rng: np.random.Generator

    def generate(self, policy: Net, step: int) -> Batch:
        """The batch of a step, counted from 1."""
        start = (step - 1) * self.config.batch
        rows = self.order[np.arange(start, start + self.config.batch) % len(self.prompts)]
        batch = self._respond(policy, rows)
        return self._fill_up(policy, batch) if self.config.filter_groups else batch

    def _respond(self, policy: Net, rows: Ints) -> Batch:
        prompts = self.prompts.take(rows).repeat(self.config.group)
        rollouts = sample(policy, prompts, self.config.max_response_length, self.rng)
        return Batch(rollouts, self._score(rollouts))

    def _score(self, rollouts: Rollouts) -> NDArray[np.float64]:
        """What the checker says, less the cost of length and the penalty near the cap."""
        config = self.config
        scores = rewards(CHECKERS[config.checker], rollouts.responses(), rollouts.prompts)
        scores = scores - config.length_cost * rollouts.lengths
        if config.overlong_buffer:
            over = rollouts.lengths - (rollouts.cap - config.overlong_buffer)
            scores = scores - np.clip(over / config.overlong_buffer, 0.0, 1.0)
        return scores

    def _fill_up(self, policy: Net, first: Batch) -> Batch:
        """Replace groups without variance by groups of other prompts, as long as batches are allowed."""
        parts = [first]
        while len(parts) < BATCHES and sum(len(self._varied(part.scores)) for part in parts) < len(
            first.scores
        ):
            parts.append(self._respond(policy, self.rng.integers(0, len(self.prompts), self.config.batch)))
        rollouts = joined([part.rollouts for part in parts])
        scores = np.concatenate([part.scores for part in parts])
        varied = self._varied(scores)
        others = np.setdiff1d(np.arange(len(scores)), varied)
        rows = np.concatenate([varied, others])[: len(first.scores)]
        return Batch(rollouts.take(rows), scores[rows], len(parts))

    def _varied(self, scores: NDArray[np.float64]) -> Ints:
        """Rows of the groups whose scores differ."""
        groups = scores.reshape(-1, self.config.group)
        return np.flatnonzero(np.repeat(np.ptp(groups, axis=1) > 0, self.config.group))


def joined(parts: list[Rollouts]) -> Rollouts:
    """Several rollouts of one cap, one after the other."""
    prompts = Prompts(
        np.concatenate([part.prompts.digits for part in parts]),
        np.concatenate([part.prompts.lengths for part in parts]),
    )
    return Rollouts(
        prompts,
        np.concatenate([part.tokens for part in parts]),
        np.concatenate([part.mask for part in parts]),
        np.concatenate([part.states for part in parts]),
        parts[0].cap,
    )
