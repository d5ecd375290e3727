"""What a figure shows. Nothing here draws, so that pages can say it without matplotlib."""

from __future__ import annotations

from dataclasses import dataclass

from sitegen.charts.frame import Mark as StepMark
from sitegen.charts.frame import Span
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


@dataclass(frozen=True, slots=True)
class Part:
    """A share of a bar."""

    colour: str
    word: str
    share: float


@dataclass(frozen=True, slots=True)
class Preview:
    """What a picture says.

    Args:
        title: name of the run or site; text from a log.
        fallback: said instead where no font has the signs of `title`.
        badge: status and its colour, None for none.
        verdict: sentence in large letters.
        facts: short texts of the last line.
        first: first step, None without steps.
        last: last step.
        spans: phases of the ribbon.
        marks: incidents.
        curves: at most two, each with its own axis.
        bar: shares drawn as a bar where there are no steps.
    """

    title: str
    fallback: str
    badge: tuple[str, str] | None
    verdict: str
    facts: tuple[str, ...]
    first: int | None = None
    last: int | None = None
    spans: tuple[Span, ...] = ()
    marks: tuple[StepMark, ...] = ()
    curves: tuple[Curve, ...] = ()
    bar: tuple[Part, ...] = ()
