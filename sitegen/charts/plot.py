"""The area between the axes: steps and values to positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sitegen.charts.frame import Frame
from sitegen.charts.scale import Axis
from sitegen.model import Floats, Ints


@dataclass(frozen=True, slots=True)
class Plot:
    """The area between the axes, in units of half a px: y grows downwards."""

    frame: Frame
    width: int
    height: int
    axis: Axis

    def x(self, steps: Ints) -> Floats:
        """Positions of `steps` (n,); the middle where there is only one step."""
        return positions(steps, (self.frame.first, self.frame.last), self.width)

    def y(self, values: Floats) -> Floats:
        """Heights of finite `values` (n,), clipped to the border."""
        return self.height_of(self.axis.units(values))

    def height_of(self, units: Floats) -> Floats:
        """As `y`, of values in axis units."""
        share = (self.axis.hi - units) / (self.axis.hi - self.axis.lo)
        return np.asarray(np.clip(share, 0.0, 1.0) * self.height)


def positions(steps: Ints, ends: tuple[int, int], width: int) -> Floats:
    """Where `steps` (n,) lie on `width` between the two `ends`; the middle if those are the same."""
    first, last = ends
    if first == last:
        return np.full(steps.size, width / 2)
    return np.asarray((steps - first) * (width / (last - first)), dtype=np.float64)
