"""A chart in one sentence, for those who do not see it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sitegen.charts.labels import human
from sitegen.language import t
from sitegen.model import Series

_WHOLE = (
    "{name}: {n} values, steps {since} to {to}, first {first}, last {last}, min {min} at {min_at}, "
    "max {max} at {max_at}{tail}"
)


def describe(
    series: Series, shown: NDArray[np.bool_], lost: Sequence[tuple[int, str]], title: str, unit: str
) -> str:
    """First, last, smallest and largest of the values (n,) that `shown` (n,) marks, with their steps."""
    name = title or series.name
    name = t("{name} in {unit}", name=name, unit=unit) if unit else name
    tail = t("; {n} not finite", n=len(lost)) if lost else ""
    values, steps = series.values[shown], series.steps[shown]
    if not values.size:
        return t("{name}: no finite value{tail}", name=name, tail=tail)
    if values.size == 1:
        only = "{name}: {value} at step {step}, the only value{tail}"
        return t(only, name=name, value=human(float(values[0])), step=steps[0], tail=tail)
    low, high = int(values.argmin()), int(values.argmax())
    told: dict[str, object] = {
        "name": name,
        "n": values.size,
        "since": steps[0],
        "to": steps[-1],
        "tail": tail,
    }
    told |= {"first": human(float(values[0])), "last": human(float(values[-1]))}
    if values[low] == values[high]:
        return t("{name}: constant {first}, {n} values, steps {since} to {to}{tail}", **told)
    told |= {"min": human(float(values[low])), "min_at": steps[low]}
    told |= {"max": human(float(values[high])), "max_at": steps[high]}
    return t(_WHOLE, **told)
