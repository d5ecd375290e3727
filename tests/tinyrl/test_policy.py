"""Backward passes against finite differences, in double precision."""

from __future__ import annotations

import numpy as np
import pytest

from .algorithms.losses import (
    Clip,
    entropies,
    k2,
    k2_slope,
    k3,
    k3_slope,
    logit_gradient,
    surrogate,
    value_loss,
)
from .policy import Adam, Net, Reader, Sgd, grad_norm, log_softmax
from .task import DIGITS, END, MARK, Prompts, draw_prompts

STEP = 1e-6


def small_net(rng: np.random.Generator, outputs: int) -> Net:
    net = Net.new(rng, 7, 5, outputs)
    return Net({name: value.astype(np.float64) for name, value in net.weights.items()})


def numeric_gradient(net: Net, name: str, loss) -> np.ndarray:
    weights = net.weights[name]
    found = np.zeros_like(weights)
    for index in np.ndindex(weights.shape):
        kept = weights[index]
        weights[index] = kept + STEP
        above = loss()
        weights[index] = kept - STEP
        found[index] = (above - loss()) / (2 * STEP)
        weights[index] = kept
    return found


@pytest.mark.parametrize("name", ["w1", "b1", "w2", "b2"])
@pytest.mark.parametrize("entropy_coef", [0.0, 0.3])
def test_the_policy_gradient_is_the_slope_of_the_loss(name: str, entropy_coef: float) -> None:
    rng = np.random.default_rng(3)
    net, x, actions = small_net(rng, 6), rng.normal(size=(9, 7)), rng.integers(0, 6, 9)
    old = rng.normal(-1.5, 0.3, 9)
    reference, advantages = rng.normal(-1.5, 0.3, 9), rng.normal(size=9)

    def loss() -> float:
        log_p = log_softmax(net.forward(x))
        chosen = log_p[np.arange(9), actions]
        penalty = k3(chosen, reference).mean()
        bonus = entropies(log_p).mean()
        return surrogate(chosen, old, advantages, Clip()).loss + 0.1 * penalty - entropy_coef * bonus

    hidden = net.hidden(x)
    log_p = log_softmax(net.output(hidden))
    chosen = log_p[np.arange(9), actions]
    slope = surrogate(chosen, old, advantages, Clip()).slope + 0.1 * k3_slope(chosen, reference)
    written = net.backward(x, hidden, logit_gradient(log_p, actions, slope, entropy_coef))[name]
    assert written == pytest.approx(numeric_gradient(net, name, loss), abs=2e-6)


@pytest.mark.parametrize("name", ["w1", "b1", "w2", "b2"])
def test_the_critic_gradient_is_the_slope_of_the_value_loss(name: str) -> None:
    rng = np.random.default_rng(4)
    net, x = small_net(rng, 1), rng.normal(size=(9, 7))
    old, returns = rng.normal(size=9), rng.normal(size=9)
    hidden = net.hidden(x)
    _, _, slope = value_loss(net.output(hidden)[:, 0], old, returns, 0.5)
    written = net.backward(x, hidden, slope[:, None])[name]
    numeric = numeric_gradient(net, name, lambda: value_loss(net.forward(x)[:, 0], old, returns, 0.5)[0])
    assert written == pytest.approx(numeric, abs=2e-6)


@pytest.mark.parametrize(("penalty", "slope"), [(k3, k3_slope), (k2, k2_slope)])
def test_slopes_of_the_kl_estimates(penalty, slope) -> None:
    log_probs, reference = np.array([-0.1, -1.0, -3.0]), np.array([-0.4, -1.0, -1.2])
    numeric = (penalty(log_probs + STEP, reference) - penalty(log_probs - STEP, reference)) / (2 * STEP)
    assert slope(log_probs, reference) == pytest.approx(numeric, abs=1e-6)


def test_log_softmax_sums_to_one_and_survives_large_logits() -> None:
    logits = np.array([[1.0, 2.0, 3.0], [1000.0, 0.0, -1000.0]])
    assert np.exp(log_softmax(logits)).sum(1) == pytest.approx([1.0, 1.0])


def test_half_precision_without_a_maximum_overflows_above_eleven() -> None:
    logits = np.array([[11.0, 0.0], [11.2, 0.0]], np.float32)
    below, above = log_softmax(logits, "float16")
    assert np.isfinite(below).all()
    assert np.isneginf(above).all()


def test_adam_returns_the_norm_before_clipping_and_moves_by_the_learning_rate() -> None:
    net = Net({"w": np.zeros(3, np.float32)})
    norm = Adam().step(net, {"w": np.array([3.0, 4.0, 0.0], np.float32)}, lr=0.1, clip=1.0)
    assert norm == pytest.approx(5.0)
    assert net.weights["w"] == pytest.approx([-0.1, -0.1, 0.0], abs=1e-5)


def test_sgd_moves_by_the_clipped_gradient() -> None:
    net = Net({"w": np.zeros(2, np.float32)})
    norm = Sgd().step(net, {"w": np.array([3.0, 4.0], np.float32)}, lr=1.0, clip=1.0)
    assert norm == pytest.approx(5.0)
    assert net.weights["w"] == pytest.approx([-0.6, -0.8], abs=1e-5)


def test_the_norm_is_taken_over_all_weights() -> None:
    assert grad_norm({"a": np.array([3.0]), "b": np.array([[4.0]])}) == pytest.approx(5.0)


def test_the_pointer_moves_with_digits_only_and_rests_after_the_mark() -> None:
    prompts = Prompts(np.array([[3, 9, END]]), np.array([2]))
    first, after_word, after_digit = (pointer(prompts, tokens) for tokens in ([], [20], [3]))
    assert (first, after_word, after_digit) == (3, 3, 9)
    assert pointer(prompts, [3, 2, MARK, 2]) == END


def pointer(prompts: Prompts, tokens: list[int]) -> int:
    """The prompt digit that the policy sees after `tokens`."""
    reader = Reader(prompts, cap=8)
    for token in tokens:
        reader.advance(np.array([token]))
    return int(reader.state()[0, 2]) - (65 + DIGITS + 1)


def test_prompts_hold_digits_up_to_their_length_and_nothing_after() -> None:
    prompts = draw_prompts(np.random.default_rng(0), 50, 2, 5)
    for row, length in zip(prompts.digits, prompts.lengths, strict=True):
        assert (row[:length] < DIGITS).all()
        assert (row[length:] == END).all()
