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
        if self.frame.first == self.frame.last:
            return np.full(steps.size, self.width / 2)
        scale_x = self.width / (self.frame.last - self.frame.first)
        return np.asarray((steps - self.frame.first) * scale_x, dtype=np.float64)

    def y(self, values: Floats) -> Floats:
        """Heights of finite `values` (n,), clipped to the border."""
        share = (self.axis.hi - self.axis.units(values)) / (self.axis.hi - self.axis.lo)
        return np.asarray(np.clip(share, 0.0, 1.0) * self.height)
