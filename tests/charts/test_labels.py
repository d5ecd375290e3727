"""Numbers on axes and in captions read as people write them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.charts.labels import human, tick_labels
from sitegen.charts.scale import axis

THIN = "\u202f"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.0351, "0.0351"),
        (0.142857, "0.143"),
        (-0.5, "-0.5"),
        (987.4, "987"),
        (1245.2, f"1{THIN}245"),
        (3_210_000.0, "3.21M"),
        (1e-6, "1e-6"),
        (-2.5e-7, "-2.5e-7"),
        (3.4e38, "3.4e38"),
        (float("nan"), "NaN"),
        (float("-inf"), "-inf"),
    ],
)
def test_numbers_in_text_have_three_significant_digits(value: float, text: str) -> None:
    assert human(value) == text


@pytest.mark.parametrize(
    ("ticks", "step", "labels"),
    [
        ([0, 0.05, 0.1], 0.05, ["0", "0.05", "0.1"]),
        ([0, 500, 1000, 1500], 500, ["0", "500", "1k", "1.5k"]),
        ([1_200_000.0, 1_250_000.0], 50_000, ["1.2M", "1.25M"]),
        ([0, 5e-4, 1e-3], 5e-4, ["0", "0.0005", "0.001"]),
        ([1e-6, 2e-6], 1e-6, ["1e-6", "2e-6"]),
        ([-0.05, 0, 0.05], 0.05, ["-0.05", "0", "0.05"]),
        ([0.25, 0.5], 0.25, ["0.25", "0.5"]),
        ([2.5, 5.0, 7.5], 2.5, ["2.5", "5", "7.5"]),
        ([2.5e-4, 5e-4, 7.5e-4], 2.5e-4, ["2.5e-4", "5e-4", "7.5e-4"]),
    ],
)
def test_ticks_carry_no_digit_too_many(ticks: list[float], step: float, labels: list[str]) -> None:
    assert tick_labels(ticks, step) == (labels, "")


def test_ticks_that_differ_far_behind_the_point_are_counted_from_an_offset() -> None:
    assert tick_labels([98765.432, 98765.434], 0.002) == (["+0", "+0.002"], "98765.432")


finite = st.floats(-1e300, 1e300, allow_nan=False, allow_infinity=False)


@given(st.lists(finite, min_size=1, max_size=40))
def test_no_label_is_clipped_or_padded_with_zeros(values: list[float]) -> None:
    drawn = axis(np.array(values))
    for label in drawn.labels:
        assert len(label) <= 8, label
        assert not re.search(r"e[+-]?0\d", label), label


@given(st.lists(finite, min_size=1, max_size=40))
def test_an_axis_always_has_a_height(values: list[float]) -> None:
    drawn = axis(np.array(values))
    assert drawn.lo < drawn.hi
    assert drawn.ticks
