"""The y range shows what a run usually does; what is beyond it is marked, never lost."""

from __future__ import annotations

import numpy as np
import pytest

from sitegen.charts.scale import axis, robust_range, step_ticks


def usual(n: int = 300) -> np.ndarray:
    return 1.0 + 0.1 * np.sin(np.arange(n))


def test_a_lone_spike_does_not_flatten_the_rest() -> None:
    values = usual()
    values[100] = 4e5
    assert robust_range(values)[1] < 1.2


def test_a_first_step_far_from_the_rest_does_not_flatten_it() -> None:
    values = usual()
    values[0] = -900.0
    assert robust_range(values)[0] > 0.8


def test_a_new_level_that_stays_is_in_the_range() -> None:
    values = usual()
    values[290:] = 40.0
    assert robust_range(values)[1] == 40.0


def test_one_step_among_zeros_is_the_story_and_is_shown() -> None:
    values = np.zeros(300)
    values[50] = 1.0
    assert robust_range(values) == (0.0, 1.0)


def test_thresholds_are_within_the_axis() -> None:
    drawn = axis(usual(), also=[1.9])
    assert drawn.lo < 1.9 < drawn.hi


def test_a_small_positive_metric_starts_at_zero() -> None:
    assert axis(np.linspace(0.01, 0.15, 50)).lo == 0.0


def test_a_constant_series_lies_in_the_middle_with_its_value_as_the_only_tick() -> None:
    drawn = axis(np.full(20, 1e-6))
    assert drawn.labels == ("1e-6",)
    assert drawn.ticks[0] == pytest.approx((drawn.lo + drawn.hi) / 2)


def test_decades_are_drawn_on_a_log_axis() -> None:
    drawn = axis(np.geomspace(1e-6, 30, 200))
    assert drawn.log
    assert "0.01" in drawn.labels


def test_negative_values_never_get_a_log_axis() -> None:
    assert not axis(np.concatenate((np.geomspace(1e-6, 30, 200), [-1.0]))).log


@pytest.mark.parametrize(
    ("first", "last", "ticks"),
    [
        (1, 600, [1, 200, 400, 600]),
        (1, 3, [1, 2, 3]),
        (7, 7, [7]),
        (0, 1, [0, 1]),
        (1, 20_000, [1, 5000, 10000, 15000, 20000]),
    ],
)
def test_steps_are_labelled_at_both_ends_and_at_round_numbers(
    first: int, last: int, ticks: list[int]
) -> None:
    assert step_ticks(first, last, 4) == ticks
