"""What the charts of one page share: the x range, phases behind it, incidents on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sitegen.model import Phase, Segment


@dataclass(frozen=True, slots=True)
class Size:
    """Geometry of a drawing in px of its own; pages scale it to the width they have."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int
    raw: int  # up to so many rows are drawn as they are
    buckets: int  # of more, at most so many columns are drawn
    x_ticks: int
    y_ticks: int

    @property
    def plot_width(self) -> int:
        """Width between the axes."""
        return self.width - self.left - self.right

    @property
    def plot_height(self) -> int:
        """Height between the axes."""
        return self.height - self.top - self.bottom


@dataclass(frozen=True, slots=True)
class Span:
    """A phase as drawn: steps `first` to `last`, both included."""

    phase: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Mark:
    """An incident as drawn. `severity` is its word."""

    step: int
    severity: str
    label: str  # "KL-05"
    title: str  # "KL-05 KL runaway, from step 210"
    href: str = ""


@dataclass(frozen=True, slots=True)
class Limit:
    """A threshold as drawn, one value per step; it is named at its right end."""

    label: str
    steps: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """x range in steps, both ends included, and what is on it."""

    first: int
    last: int
    spans: tuple[Span, ...] = ()
    marks: tuple[Mark, ...] = ()
    resumes: tuple[int, ...] = ()  # first steps of later segments

    def position(self, step: float) -> float:
        """Where `step` lies, 0 at the left end, 1 at the right; the middle when there is one step."""
        if self.last == self.first:
            return 0.5
        return min(1.0, max(0.0, (step - self.first) / (self.last - self.first)))


def live_spans(phases: Sequence[Phase], segments: Sequence[Segment]) -> tuple[Span, ...]:
    """Phases on the steps that no later segment rewrote, in order of steps."""
    ends = _live_ends(segments)
    spans = [
        Span(phase.phase.value, phase.first, min(phase.last, ends.get(phase.segment, phase.last)))
        for phase in phases
    ]
    return _joined(sorted((span for span in spans if span.last >= span.first), key=lambda span: span.first))


def _joined(spans: Sequence[Span]) -> tuple[Span, ...]:
    """A phase that goes on in the next segment is one span."""
    out: list[Span] = []
    for span in spans:
        if out and out[-1].phase == span.phase and out[-1].last + 1 >= span.first:
            out[-1] = Span(span.phase, out[-1].first, max(out[-1].last, span.last))
        else:
            out.append(span)
    return tuple(out)


def _live_ends(segments: Sequence[Segment]) -> dict[int, int]:
    """Last live step of each segment: one before the first step of any later one."""
    ends: dict[int, int] = {}
    first_later: int | None = None
    for segment in sorted(segments, key=lambda one: one.number, reverse=True):
        ends[segment.number] = segment.last if first_later is None else min(segment.last, first_later - 1)
        first_later = segment.first if first_later is None else min(first_later, segment.first)
    return ends
