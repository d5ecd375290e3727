"""Means with a confidence interval."""

from __future__ import annotations

import pytest

from sitegen.reports.interval import interval, quantile, within


@pytest.mark.parametrize(
    ("df", "t"),
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (9, 2.2622), (10, 2.2281), (30, 2.0423)],
)
def test_quantiles_are_those_of_printed_tables(df: int, t: float) -> None:
    assert quantile(df) == pytest.approx(t, abs=5e-5)


def test_one_degree_of_freedom_is_cauchys_distribution() -> None:
    assert within(1.0, 1) == pytest.approx(0.5)


def test_three_seeds_have_a_wide_interval() -> None:
    found = interval([0.4, 0.5, 0.6])
    assert (found.n, found.mean) == (3, pytest.approx(0.5))
    assert found.half == pytest.approx(4.30265 * 0.1 / 3**0.5, abs=1e-5)
    assert (found.low, found.high) == (found.mean - found.half, found.mean + found.half)


def test_one_number_has_no_interval() -> None:
    with pytest.raises(ValueError, match="two numbers"):
        interval([0.5])
