"""Simulated runs in some 170 bytes."""

from __future__ import annotations

import numpy as np

from sitegen import rules
from tests.detection import scoring
from tests.detection.simulate import by_name
from tests.detection.sketch import POINTS, line


def test_a_line_has_one_letter_per_value_from_the_lowest_to_the_highest() -> None:
    assert line(np.array([0.0, 31.5, 63.0, np.nan, 1.0]), 0.0, 63.0) == "0w- 1"


def test_of_many_rows_the_extremes_stay() -> None:
    values = np.zeros(5000)
    values[777], values[4321] = 10.0, -10.0
    drawn = line(values, -10.0, 10.0)
    assert len(drawn) == POINTS
    assert drawn.count("-") == 1 and drawn.count("0") == 1


def test_a_constant_lies_in_the_middle() -> None:
    assert line(np.array([0.5, 0.5]), 0.5, 0.5) == "vv"


def test_a_hit_keeps_what_was_put_in_and_what_was_said() -> None:
    (one,) = scoring.score([by_name("kl-jump-high-0001")], rules.catalog())
    (told,) = [each for code, each in one.sketches if code == "KL-05"]
    metric, _, steps, drawn, truth, found = told
    assert (metric, truth) == ("kl_ref", [one.labels[0].first, one.labels[0].last])
    assert len(str(drawn)) == POINTS and steps == [1, 1000]
    assert found in [[each.first, each.last] for each in one.findings.incidents if each.rule == "KL-05"]
