"""Prompts, demonstrations and checkers."""

from __future__ import annotations

import numpy as np
import pytest

from .task import (
    EOS,
    MARK,
    Prompts,
    Teacher,
    answer,
    demonstrations,
    draw_prompts,
    exact,
    prefix,
    proof,
    rewards,
    strict,
    talkative,
)

TOTALS = [3, 2, 6]  # of the prompt 3 9 4
WORD = 20
RIGHT = [3, 2, 6, MARK, 6, EOS]
WRONG = [3, 2, 5, MARK, 5, EOS]
LUCKY = [3, 1, 5, MARK, 6, EOS]
BLANK = [MARK, EOS]
UNFINISHED = [3, 2, 6, MARK, 6]
RAMBLING = [WORD] * 10 + RIGHT


def test_running_totals_are_modulo_ten() -> None:
    prompts = Prompts(np.array([[3, 9, 4]]), np.array([3]))
    assert prompts.totals.tolist() == [TOTALS]


@pytest.mark.parametrize(
    ("check", "response", "reward"),
    [
        (strict, RIGHT, 1.0),
        (strict, WRONG, 0.1),
        (strict, LUCKY, 1.0),
        (strict, BLANK, 0.0),
        (strict, UNFINISHED, 0.0),
        (strict, [3, 2, 6, MARK, 6, 6, EOS], 0.0),
        (strict, [], 0.0),
        (exact, WRONG, 0.0),
        (exact, RIGHT, 1.0),
        (proof, RIGHT, 1.0),
        (proof, LUCKY, 0.0),
        (proof, RAMBLING, 1.0),
        (prefix, RIGHT, 1.0),
        (prefix, BLANK, 1.0),  # the hole
        (prefix, UNFINISHED, 0.0),
        (talkative, RIGHT, 1.0),
        (talkative, RAMBLING, 1.1),
        (talkative, [WORD] * 90 + RIGHT, 1.6),
        (talkative, [WORD] * 90, 0.0),
    ],
)
def test_rewards(check, response: list[int], reward: float) -> None:
    assert check(response, TOTALS) == pytest.approx(reward)


def test_an_answer_is_what_stands_between_the_mark_and_the_end() -> None:
    assert answer(RIGHT) == [6]
    assert answer(BLANK) == []
    assert answer(UNFINISHED) is None
    assert answer([3, EOS]) is None


def test_a_teacher_without_slips_is_always_right() -> None:
    rng = np.random.default_rng(1)
    prompts = draw_prompts(rng, 40, 3, 6)
    responses = demonstrations(rng, prompts, Teacher(slips=0.0, chatter=0.3))
    assert rewards(proof, responses, prompts).tolist() == [1.0] * 40


def test_a_sloppy_teacher_is_often_wrong_but_keeps_the_form() -> None:
    rng = np.random.default_rng(1)
    prompts = draw_prompts(rng, 200, 8, 8)
    found = rewards(strict, demonstrations(rng, prompts, Teacher(slips=0.3)), prompts)
    assert set(found.tolist()) == {0.1, 1.0}
    assert 0.05 < (found == 1.0).mean() < 0.35
