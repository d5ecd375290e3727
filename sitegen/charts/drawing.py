"""What a figure shows. Nothing here draws, so that pages can say it without matplotlib."""

from __future__ import annotations

from dataclasses import dataclass

from sitegen.model import Floats, Ints, Phase


@dataclass(frozen=True, slots=True)
class Curve:
    """One line with an axis of its own; `values` without gaps."""

    label: str
    unit: str
    family: str  # glossary group: decides the colour
    steps: Ints
    values: Floats


@dataclass(frozen=True, slots=True)
class Mark:
    """A dashed line where an incident began."""

    step: int
    label: str  # rule code
    severity: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """Up to three curves over the same steps.

    Args:
        title: shown above; text from a log.
        fallback: shown instead where no font has the signs of `title`.
        curves: each gets its own y axis.
        phases: faint background, named at the top.
        marks: incidents; where there are many, the first ones are named.
    """

    title: str
    fallback: str
    curves: tuple[Curve, ...]
    phases: tuple[Phase, ...] = ()
    marks: tuple[Mark, ...] = ()
