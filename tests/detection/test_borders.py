"""Borders of phases lie within 3 % of the run; `python -m tests.detection.borders` measures more of them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.detection.borders import SHAPES, climb, measure
from tests.detection.simulate import SEEDS

#: Where the last tenth of a slow saturation is gained is hard to say on a noisy score.
WITHIN = {"linear": 0.95, "logistic": 0.95, "saturating": 0.75, "late-saturating": 0.8}


@pytest.mark.parametrize("shape", SHAPES)
def test_borders_of_a_climb_are_found_within_three_percent_of_the_run(shape: str) -> None:
    offs = measure(climb(shape, seed) for seed in SEEDS["dev"][:16])
    found = [off for one in offs for off in (one.begin, one.end) if off is not None]
    assert np.mean(np.abs(found) <= 3) >= WITHIN[shape]
    assert sum(one.end is not None for one in offs) >= 14


def test_a_climb_is_one_stretch() -> None:
    offs = measure(climb("logistic", seed) for seed in SEEDS["dev"][:16])
    assert max(one.stretches for one in offs) <= 6  # warm-up, exploration, climb, plateau, converged
