"""A chart in one sentence, for those who do not see it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sitegen.charts.labels import human
from sitegen.model import Series


def describe(
    series: Series, shown: NDArray[np.bool_], lost: Sequence[tuple[int, str]], title: str, unit: str
) -> str:
    """First, last, smallest and largest of the values (n,) that `shown` (n,) marks, with their steps."""
    name = f"{title or series.name}{f' in {unit}' if unit else ''}"
    tail = f"; {len(lost)} not finite" if lost else ""
    values, steps = series.values[shown], series.steps[shown]
    if not values.size:
        return f"{name}: no finite value{tail}"
    if values.size == 1:
        return f"{name}: {human(float(values[0]))} at step {steps[0]}, the only value{tail}"
    low, high = int(values.argmin()), int(values.argmax())
    span = f"{values.size} values, steps {steps[0]} to {steps[-1]}"
    ends = f"first {human(float(values[0]))}, last {human(float(values[-1]))}"
    if values[low] == values[high]:
        return f"{name}: constant {human(float(values[0]))}, {span}{tail}"
    least = f"min {human(float(values[low]))} at {steps[low]}"
    most = f"max {human(float(values[high]))} at {steps[high]}"
    return f"{name}: {span}, {ends}, {least}, {most}{tail}"
