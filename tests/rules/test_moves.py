"""Where a score goes from one level to another."""

from __future__ import annotations

import numpy as np
import pytest

from sitegen.model import Floats
from sitegen.rules.moves import moves


def noise(n: int, sd: float = 0.02) -> Floats:
    return np.random.default_rng(5).normal(0, sd, n)


def ramp(n: int, first: int, last: int, low: float = 0.2, high: float = 0.7) -> Floats:
    return low + (high - low) * np.clip((np.arange(n) - first) / (last - first), 0, 1)


def ends(values: Floats) -> list[tuple[int, int, bool]]:
    """First and last row of each move, and whether it goes up."""
    return [(one.first, one.last, one.after > one.before) for one in moves(values).moves]


def near(found: list[tuple[int, int, bool]], wanted: list[tuple[int, int, bool]], rows: int) -> bool:
    return len(found) == len(wanted) and all(
        abs(a[0] - b[0]) <= rows and abs(a[1] - b[1]) <= rows and a[2] == b[2]
        for a, b in zip(found, wanted, strict=True)
    )


def test_a_straight_rise_lasts_from_corner_to_corner() -> None:
    assert near(ends(ramp(400, 100, 200) + noise(400)), [(100, 200, True)], 5)


@pytest.mark.parametrize("steep", [10, 20, 40])
def test_an_s_begins_and_ends_near_its_levels(steep: int) -> None:
    part = np.arange(400) / 400
    first, last = (400 * (0.5 + sign * np.log(0.925 / 0.075) / steep) for sign in (-1, 1))
    s = 0.2 + 0.5 / (1 + np.exp(-steep * (part - 0.5)))
    assert near(ends(s + noise(400)), [(round(first), round(last), True)], 10)


def test_levels_and_noise_are_told() -> None:
    found = moves(ramp(400, 100, 200) + noise(400, 0.03))
    assert found.moves[0].before == pytest.approx(0.2, abs=0.01)
    assert found.moves[0].after == pytest.approx(0.7, abs=0.01)
    assert found.noise == pytest.approx(0.03, rel=0.15)


def test_noise_alone_does_not_move() -> None:
    assert ends(0.5 + noise(400)) == []


def test_a_rise_that_goes_on_ends_with_the_last_row() -> None:
    assert near(ends(ramp(400, 0, 399) + noise(400, 0.05)), [(1, 400, True)], 4)


def test_a_rest_parts_two_rises() -> None:
    two = ramp(400, 40, 100, 0.1, 0.4) + ramp(400, 200, 280, 0.0, 0.3)
    assert near(ends(two + noise(400)), [(40, 100, True), (200, 280, True)], 8)


def test_a_fall_after_a_rise() -> None:
    fallen = ramp(400, 40, 140) - ramp(400, 260, 264, 0.0, 0.45)
    assert near(ends(fallen + noise(400)), [(40, 140, True), (260, 264, False)], 8)


def test_rows_without_a_value_are_passed_over() -> None:
    values = ramp(400, 100, 200) + noise(400)
    values[::3] = np.nan
    assert near(ends(values), [(100, 200, True)], 6)


@pytest.mark.parametrize("values", [[], [0.1] * 3, [np.nan] * 50])
def test_too_little_says_nothing(values: list[float]) -> None:
    assert moves(np.array(values, np.float64)).noise is None


def test_a_constant_has_no_moves() -> None:
    assert ends(np.full(100, 0.5)) == []
