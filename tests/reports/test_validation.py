from __future__ import annotations

import pytest

from sitegen.reports import validation
from sitegen.reports.curves import Curves
from tests.reports.made import NAN, series


def curves(**columns: list[float]) -> Curves:
    return Curves(series(columns))


@pytest.mark.parametrize(
    ("raw", "dataset", "core", "statistic", "n", "spread"),
    [
        ("val-core/openai/gsm8k/reward/mean@1", "openai/gsm8k", True, "mean", 1, False),
        ("val-aux/aime_2024/acc/best@30/mean", "aime_2024", False, "best", 30, False),
        ("val-aux/aime_2024/acc/best@30/std", "aime_2024", False, "best", 30, True),
        ("val-aux/aime_2024/acc/std@30", "aime_2024", False, "std", 30, True),
        ("val/test_score/openai/gsm8k", "openai/gsm8k", True, "mean", 1, False),
        ("test_score/webshop", "webshop", True, "mean", 1, False),
    ],
)
def test_names_of_every_version_are_taken_apart(
    raw: str, dataset: str, core: bool, statistic: str, n: int, spread: bool
) -> None:
    name = validation.parse(raw)
    assert name is not None
    assert (name.dataset, name.core, name.statistic, name.n, name.spread) == (
        dataset,
        core,
        statistic,
        n,
        spread,
    )


@pytest.mark.parametrize(
    "raw", ["critic/score/mean", "val-aux/num_turns/mean", "val/loss", "val/generations"]
)
def test_other_names_are_no_scores_of_a_data_set(raw: str) -> None:
    assert validation.parse(raw) is None


def test_the_headline_number_of_a_data_set_comes_first() -> None:
    names = [
        "val-aux/math/acc/std@8",
        "val-core/math/acc/best@8/mean",
        "val-core/math/acc/mean@8",
        "val-aux/math/score/mean@8",
    ]
    found = validation.views(curves(**{name: [0.1, 0.2] for name in names}))
    assert [view.name for view in found] == [
        "val-core/math/acc/mean@8",
        "val-core/math/acc/best@8/mean",
        "val-aux/math/score/mean@8",
        "val-aux/math/acc/std@8",
    ]


def test_first_best_and_last_are_told_with_the_step_of_the_best() -> None:
    (view,) = validation.views(curves(**{"val-core/math/acc/mean@1": [0.1, NAN, 0.4, 0.3]}))
    assert (view.first, view.best, view.best_step, view.last) == (0.1, 0.4, 3, 0.3)


def test_the_run_is_known_by_the_data_set_it_validated_most_often() -> None:
    both = curves(**{"val-core/a/acc/mean@1": [0.9, NAN, NAN], "val-core/b/acc/mean@1": [0.1, 0.5, 0.4]})
    best = validation.best(both, validation.views(both))
    assert best is not None
    assert (best.label, best.value, best.step, best.validation) == ("b", 0.5, 2, True)


def test_a_lower_validation_loss_is_the_better_one() -> None:
    sft = curves(**{"val/loss": [2.0, 1.0, 1.5], "train/loss": [2.0, 1.5, 1.0]})
    best = validation.best(sft, validation.views(sft))
    assert best is not None and (best.value, best.step) == (1.0, 2)


def test_a_run_that_logged_no_score_has_no_best() -> None:
    nothing = curves(**{"actor/entropy": [0.5, 0.4]})
    assert validation.best(nothing, validation.views(nothing)) is None


@pytest.mark.parametrize("level", [0.5, 0.1, -0.3, 1.79e308])
def test_the_best_of_a_constant_score_is_its_first_step(level: float) -> None:
    best = validation.best(curves(**{"critic/score/mean": [level] * 47}), ())
    assert best is not None
    assert (best.value, best.step) == (level, 1)


def test_a_best_level_that_is_held_was_reached_at_its_first_step() -> None:
    best = validation.best(curves(**{"critic/score/mean": [0.1, 0.3, *[0.7] * 9, 0.2]}), ())
    assert best is not None
    assert best.step == 3


def test_of_one_metric_under_two_names_the_fuller_series_is_the_run() -> None:
    found = validation.views(
        curves(**{"test_score/gsm8k": [0.1, NAN, 0.5], "val/test_score/gsm8k": [0.1, 0.6, 0.5]})
    )
    assert [view.name for view in found] == ["val/test_score/gsm8k", "test_score/gsm8k"]
    told = validation.best(
        curves(**{"test_score/gsm8k": [0.1, NAN, 0.5], "val/test_score/gsm8k": [0.1, 0.6, 0.5]}), found
    )
    assert told is not None and told.value == 0.6


def test_a_score_that_is_not_the_core_one_says_what_it_is() -> None:
    lost = curves(
        **{"val-aux/aime/reward/mean@16": [-0.7, -0.6], "val-aux/aime/reward/best@16/mean": [0.1, 0.2]}
    )
    told = validation.best(lost, validation.views(lost))
    assert told is not None and (told.label, told.value) == ("aime (reward, mean of 16)", -0.6)
