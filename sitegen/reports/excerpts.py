"""All that a page may know of the generations that a run dumped."""

from __future__ import annotations

from dataclasses import dataclass

from sitegen.model import Dumped


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A text made visible: its beginning, and its end where the middle was left out."""

    head: str
    tail: str
    left_out: int  # characters between the two
    length: int  # of the whole text


@dataclass(frozen=True, slots=True)
class SampleView:
    """A dumped generation as shown."""

    kind: str
    step: int | None
    index: int
    where: str  # path:line
    score: float | None
    raw_score: str  # as logged, where it is no finite number; "" = none was logged
    input: Excerpt
    output: Excerpt
    expected: Excerpt | None
    extra: Excerpt | None
    roles: tuple[str, ...] = ()  # "best", "worst", "random", "longest"


@dataclass(frozen=True, slots=True)
class StepSamples:
    """The generations of one kind and step, and those of them that are shown."""

    kind: str
    step: int | None
    rows: int
    scored: int
    mean: float | None
    low: float | None
    high: float | None
    chosen: tuple[SampleView, ...] = ()


@dataclass(frozen=True, slots=True)
class Abreast:
    """Answers at steps that follow one another: to one prompt, or typical ones where no prompt recurs."""

    kind: str
    samples: tuple[SampleView, ...]  # by step, two or three
    means: tuple[float | None, ...]  # mean score of the answers to that prompt, or of all, at each step
    same_prompt: bool


@dataclass(frozen=True, slots=True)
class Moment:
    """What was generated before, at and after the onset of incidents."""

    anchors: tuple[str, ...]  # of the incidents, worst first
    title: str  # of the worst
    onset: int
    compared: tuple[Abreast, ...]


@dataclass(frozen=True, slots=True)
class SamplesReport:
    """A choice of the generations that a run dumped."""

    kinds: tuple[Dumped, ...]
    steps: tuple[StepSamples, ...]  # by kind and step; all steps, some with samples
    moments: tuple[Moment, ...]
    changed: tuple[Abreast, ...]  # most, for the same prompt
    all_looked_at: bool  # False = too many to look for changes anywhere but in the steps shown
    limits: tuple[int, int]  # characters of a prompt and of an answer that are shown
