from __future__ import annotations

import pytest

from sitegen.model import Fact
from sitegen.reports import movement, words
from sitegen.reports.words import THIN


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.8416, "0.842"),
        (0.5, "0.5"),
        (0.0351, "0.0351"),
        (12.34, "12.3"),
        (987.4, "987"),
        (1245.0, f"1{THIN}245"),
        (3.21e-6, "3.2e-6"),
        (0.0, "0"),
        (-0.5, "-0.5"),
        (1.0, "1"),
        (float("nan"), "nan"),
    ],
)
def test_three_digits_are_enough_for_a_sentence(value: float, text: str) -> None:
    assert words.number(value) == text


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Gradient spike", "gradient spike"),
        ("KL jump", "KL jump"),
        ("GPU OOM", "GPU OOM"),
        ("NCCL timeout", "NCCL timeout"),
    ],
)
def test_a_title_inside_a_sentence_keeps_its_abbreviations(title: str, text: str) -> None:
    assert words.lowered(title) == text


def fact(key: str, before: float | None, after: float | None) -> Fact:
    return Fact(key, key.replace("_", " "), "", before, after)


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (fact("kl_ref", 0.035, 0.14), "reference KL grew 4.0× to 0.14"),
        (fact("entropy", 1.0, 0.5), f"entropy fell by 50{THIN}% to 0.5"),
        (fact("response_length", 970, 9), f"responses shortened by 99{THIN}% to 9"),
        (fact("grad_norm", 0.7, 15), "gradient norm grew 21× to 15"),
        (fact("score", 0.86, 0.96), "score rose from 0.86 to 0.96"),
        (fact("score", -0.5, -0.95), "score fell from -0.5 to -0.95"),
        (fact("ppo_kl", -0.001, 0.02), "update KL grew from -0.001 to 0.02"),
        (fact("kl_ref", 0.0, 0.5), "reference KL grew from 0 to 0.5"),
    ],
)
def test_changes_are_told_as_people_tell_them(one: Fact, text: str) -> None:
    assert movement.clause(one) == text


@pytest.mark.parametrize(
    "one", [fact("entropy", 1.0, 1.05), fact("entropy", None, 1.0), fact("entropy", 1.0, None)]
)
def test_no_change_to_speak_of_is_not_spoken_of(one: Fact) -> None:
    assert movement.clause(one) == ""


def test_one_number_alone_is_left_to_the_message() -> None:
    assert movement.sentence((fact("kl_ref", 0.1, 0.5), fact("entropy", 1.0, 1.05))) == ""


def test_numbers_that_are_no_metric_stay_out_of_the_sentence() -> None:
    facts = (fact("kl_ref", 0.1, 0.5), fact("times usual", 1, 20), fact("score", 0.5, 0.4))
    assert "usual" not in movement.sentence(facts)


def test_the_incidents_own_metric_comes_first_then_what_moved_most() -> None:
    facts = (fact("entropy", 1, 0.5), fact("grad_norm", 1, 30), fact("kl_ref", 1, 4), fact("score", 0.5, 0.4))
    assert movement.sentence(facts, "score") == (
        "Score fell from 0.5 to 0.4 while gradient norm grew 30× to 30 and reference KL grew 4.0× to 4."
    )
