"""Advantages and losses, each in one small case."""

from __future__ import annotations

import numpy as np
import pytest

from .algorithms.advantages import explained_variance, gae, grpo, kl_penalised, whiten
from .algorithms.losses import Clip, k3, surrogate, value_loss


def one(value: float) -> np.ndarray:
    return np.array([value])


def test_group_advantages_have_mean_zero_and_unit_deviation_within_a_group() -> None:
    mask = np.ones((4, 1), bool)
    advantages = grpo(np.array([1.0, 0.0, 0.0, 1.0]), mask, group=4)[:, 0]
    assert advantages.mean() == pytest.approx(0.0)
    assert advantages.std(ddof=1) == pytest.approx(1.0, abs=1e-4)


def test_a_group_whose_scores_agree_has_no_advantage() -> None:
    mask = np.ones((4, 2), bool)
    advantages = grpo(np.array([1.0, 1.0, 0.0, 1.0]), mask, group=2)
    assert (advantages[:2] == 0.0).all()
    assert (advantages[2:] != 0.0).all()


def test_with_gamma_and_lambda_one_returns_are_the_rewards_to_come() -> None:
    rewards, values = np.array([[0.0, 0.0, 1.0]]), np.array([[0.3, 0.5, 0.7]])
    _, returns = gae(rewards, values, np.ones((1, 3), bool), gamma=1.0, lam=1.0)
    assert returns[0] == pytest.approx([1.0, 1.0, 1.0])


def test_with_lambda_zero_returns_look_one_step_ahead() -> None:
    rewards, values = np.array([[0.0, 0.0, 1.0]]), np.array([[0.3, 0.5, 0.7]])
    _, returns = gae(rewards, values, np.ones((1, 3), bool), gamma=1.0, lam=0.0)
    assert returns[0] == pytest.approx([0.5, 0.7, 1.0])


def test_padding_takes_no_part_in_returns() -> None:
    rewards, values = np.array([[0.0, 1.0, 0.0]]), np.array([[0.3, 0.5, 9.0]])
    _, returns = gae(rewards, values, np.array([[True, True, False]]), gamma=1.0, lam=1.0)
    assert returns[0] == pytest.approx([1.0, 1.0, 0.0])


def test_whitened_values_have_mean_zero_and_variance_one_under_the_mask() -> None:
    mask = np.array([[True, True, True, False]])
    white = whiten(np.array([[1.0, 2.0, 6.0, 100.0]]), mask)
    assert white[mask].mean() == pytest.approx(0.0)
    assert white[mask].var() == pytest.approx(1.0)
    assert white[0, 3] == 0.0


def test_the_score_sits_on_the_last_token_and_kl_on_all() -> None:
    mask = np.array([[True, True, False]])
    rewards = kl_penalised(np.array([1.0]), np.array([[0.5, 0.5, 9.0]]), mask, coef=0.1)
    assert rewards[0] == pytest.approx([-0.05, 0.95, 0.0])


@pytest.mark.parametrize(("values", "expected"), [([0.0, 1.0], 1.0), ([0.5, 0.5], 0.0), ([1.0, 0.0], -3.0)])
def test_explained_variance(values: list[float], expected: float) -> None:
    assert explained_variance(np.array(values), np.array([0.0, 1.0])) == pytest.approx(expected, abs=1e-3)


def test_the_k3_estimate_is_never_negative_and_zero_only_for_equal_policies() -> None:
    log_probs = np.linspace(-8.0, -0.1, 40)
    estimate = k3(log_probs, np.full(40, -2.0))
    assert (estimate >= 0.0).all()
    assert k3(one(-2.0), one(-2.0))[0] == 0.0


@pytest.mark.parametrize(
    ("ratio", "advantage", "clipped", "loss"),
    [
        (1.0, 1.0, 0.0, -1.0),
        (1.5, 1.0, 1.0, -1.2),  # the gain is cut at 1 + high
        (0.5, -1.0, 1.0, 0.8),  # and at 1 - low
        (0.5, 1.0, 0.0, -0.5),
    ],
)
def test_the_ratio_is_clipped_where_it_would_gain(
    ratio: float, advantage: float, clipped: float, loss: float
) -> None:
    found = surrogate(one(np.log(ratio)), one(0.0), one(advantage), Clip())
    assert (found.clipped, found.loss) == (clipped, pytest.approx(loss))
    assert (found.slope[0] == 0.0) == bool(clipped)


def test_the_dual_clip_bounds_the_loss_of_a_bad_token() -> None:
    found = surrogate(one(np.log(10.0)), one(0.0), one(-1.0), Clip(dual=3.0))
    assert found.loss == pytest.approx(3.0)
    assert found.clipped_lower == 1.0
    assert found.slope[0] == 0.0


def test_the_update_kl_is_old_minus_new() -> None:
    assert surrogate(one(-1.5), one(-1.0), one(1.0), Clip()).kl == pytest.approx(0.5)


def test_the_value_loss_takes_the_worse_of_plain_and_clipped() -> None:
    loss, active, slope = value_loss(one(2.0), one(0.0), one(2.0), clip=0.5)
    assert loss == pytest.approx(0.5 * 1.5**2)
    assert (active, slope[0]) == (1.0, 0.0)
