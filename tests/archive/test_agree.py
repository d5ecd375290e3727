"""When two logged numbers are the same number."""

from __future__ import annotations

import numpy as np
import pytest

from sitegen.archive import agree

SAME = [
    (0.123456789, 0.123),  # a console that prints three decimals
    (0.0004, 0.0),
    (0.123456789, float(np.float32(0.123456789))),  # an event file
]
DIFFERENT = [
    (0.1239, 0.123),
    (0.1234, 0.1241),
    (4.9e-11, 5.0e-27),  # both nearly nothing, yet neither is the other one rounded
]


@pytest.mark.parametrize(("a", "b"), SAME)
def test_a_number_and_its_rounded_copy_are_the_same(a: float, b: float) -> None:
    assert agree.same(np.array([a]), np.array([b])).tolist() == [True]
    assert agree.finer(np.array([b]), np.array([a])).tolist() == [True]


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_other_numbers_are_not(a: float, b: float) -> None:
    assert agree.same(np.array([a]), np.array([b])).tolist() == [False]


def test_the_largest_numbers_are_compared_without_a_word() -> None:
    a, b = np.array([1e308, 1e308, 1.7976931348623157e308]), np.array([-1e308, 1e308, 0.5])
    assert agree.same(a, b).tolist() == [False, True, False]
    assert agree.finer(a[:2], b[:2]).tolist() == [False, False]
