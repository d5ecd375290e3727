"""Figures that leave the site."""

from __future__ import annotations

import numpy as np
import pytest

from sitegen.charts import figures
from sitegen.charts.drawing import Curve, Drawing


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("values", [[1.7e308, -1.7e308], [1.7e308] * 50, [5e-324, 0.0], [5e-324, 1e308] * 30])
def test_the_ends_of_the_doubles_can_be_drawn(values: list[float]) -> None:
    curve = Curve("Score", "", "reward", np.arange(len(values)), np.array(values))
    assert figures.draw(Drawing("run", "run", (curve,)), "svg").startswith(b"<?xml")
