"""Responses sampled from a policy, with what it saw before every token; and a base policy to start from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .policy import POLICY_INPUTS, Adam, Array, Net, Reader, end_of, log_softmax, one_hot
from .task import EOS, VOCAB, Ints, Prompts, Teacher, demonstrations


@dataclass(frozen=True, slots=True)
class Rollouts:
    """n responses of at most `cap` tokens.

    `tokens` and `mask` are (n, cap), EOS included in the mask; `states` is (tokens, slots): what was
    seen before each token under the mask, in row order.
    """

    prompts: Prompts
    tokens: Ints
    mask: NDArray[np.bool_]
    states: Ints
    cap: int

    @property
    def lengths(self) -> Ints:
        return self.mask.sum(1)

    @property
    def actions(self) -> Ints:
        """The tokens under the mask, (tokens,)."""
        return self.tokens[self.mask]

    def responses(self) -> list[list[int]]:
        return [row[:length] for row, length in zip(self.tokens.tolist(), self.lengths.tolist(), strict=True)]

    def take(self, rows: Ints) -> Rollouts:
        """Some of the responses, in the order asked for."""
        starts = np.concatenate([[0], np.cumsum(self.lengths)])
        spans = [np.arange(starts[row], starts[row + 1]) for row in rows]
        states = self.states[np.concatenate(spans)]
        return Rollouts(self.prompts.take(rows), self.tokens[rows], self.mask[rows], states, self.cap)


def sample(policy: Net, prompts: Prompts, cap: int, rng: np.random.Generator) -> Rollouts:
    """One response per prompt at temperature 1, cut after `cap` tokens."""
    n = len(prompts)
    reader = Reader(prompts, cap)
    tokens = np.full((n, cap), EOS)
    mask = np.zeros((n, cap), bool)
    states = np.zeros((n, cap, reader.state().shape[1]), np.int64)
    writing = np.ones(n, bool)
    for position in range(cap):
        if not writing.any():
            break
        states[:, position] = reader.state()
        chosen = np.full(n, EOS)
        chosen[writing] = _draw(policy, states[writing, position], rng)
        tokens[:, position], mask[:, position] = chosen, writing
        reader.advance(chosen)
        writing = writing & ~end_of(chosen)
    return Rollouts(prompts, tokens, mask, states[mask], cap)


def _draw(policy: Net, states: Ints, rng: np.random.Generator) -> Ints:
    """Tokens by inverse CDF. Probabilities that are NaN give token 0, as samplers on GPUs do."""
    probabilities = np.exp(log_softmax(policy.forward(one_hot(states, POLICY_INPUTS))))
    cumulative = np.cumsum(probabilities, axis=1)
    below = cumulative < rng.random((len(states), 1)) * cumulative[:, -1:]
    return np.minimum(below.sum(1), VOCAB - 1)


def read_back(prompts: Prompts, responses: list[list[int]], cap: int) -> Rollouts:
    """Given responses as rollouts, as if the policy had written them."""
    tokens = np.full((len(responses), cap), EOS)
    mask = np.zeros((len(responses), cap), bool)
    for row, response in enumerate(responses):
        kept = response[:cap]
        tokens[row, : len(kept)], mask[row, : len(kept)] = kept, True
    reader = Reader(prompts, cap)
    states = np.stack([_read(reader, tokens[:, position]) for position in range(cap)], axis=1)
    return Rollouts(prompts, tokens, mask, states[mask], cap)


def _read(reader: Reader, tokens: Ints) -> Ints:
    state = reader.state()
    reader.advance(tokens)
    return state


def base_policy(
    rng: np.random.Generator, prompts: Prompts, cap: int, teacher: Teacher, hidden: int = 64
) -> Net:
    """A policy taught by 1 000 demonstrations of a sloppy teacher: it knows the form and often errs."""
    taught = prompts.take(rng.integers(0, len(prompts), 1000))
    lessons = read_back(taught, demonstrations(rng, taught, teacher), cap)
    x, actions = one_hot(lessons.states, POLICY_INPUTS), lessons.actions
    net, adam = Net.new(rng, POLICY_INPUTS, hidden, VOCAB), Adam()
    net.weights["w2"] *= np.float32(0.1)
    for _ in range(teacher.lessons):
        rows = rng.integers(0, len(actions), 512)
        adam.step(net, _imitate(net, x[rows], actions[rows]), lr=5e-3, clip=1.0)
    return net


def _imitate(net: Net, x: Array, actions: Ints) -> dict[str, Array]:
    """Gradient of the mean cross entropy."""
    hidden = net.hidden(x)
    upstream = np.exp(log_softmax(net.output(hidden)))
    upstream[np.arange(len(actions)), actions] -= 1.0
    return net.backward(x, hidden, upstream / np.float32(len(actions)))
