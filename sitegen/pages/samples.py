"""A choice of what a run generated: around its incidents, what changed most, and of some steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from sitegen import charts
from sitegen.language import t
from sitegen.model import Dumped, Page
from sitegen.pages import render as rendering
from sitegen.pages import texts, words
from sitegen.reports.excerpts import Abreast, Excerpt, Moment, SamplesReport, SampleView, StepSamples
from sitegen.reports.shapes import RunReport

KIND = "samples"
NAMES = {"rollout": "Rollouts", "validation": "Validation", "samples": "Samples"}
_STEPS = 300  # in the table of all steps
_LONG, _LINES = 700, 12  # characters and lines of an answer that is folded


@dataclass(frozen=True, slots=True)
class Shown:
    """One sample."""

    roles: tuple[str, ...]
    where: str
    score: str
    prompt: Markup
    prompt_end: str  # its last words, for the fold
    answer: Markup
    answer_begin: str
    length: str
    long: bool
    expected: Markup | None
    extra: Markup | None


@dataclass(frozen=True, slots=True)
class Column:
    """One answer among those side by side."""

    label: str
    step: str
    note: str
    sample: Shown


@dataclass(frozen=True, slots=True)
class Row:
    """Answers side by side, and the prompt where they share one."""

    kind: str
    prompt: Markup | None
    expected: Markup | None
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Event:
    """An onset with what was generated around it."""

    anchor: str
    incidents: tuple[str, ...]
    title: str
    onset: int
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class StepBlock:
    """Samples of one step."""

    anchor: str
    title: str
    note: str
    samples: tuple[Shown, ...]
    open: bool


@dataclass(frozen=True, slots=True)
class KindBlock:
    """Steps of one kind."""

    key: str
    title: str
    note: str
    shown: tuple[StepBlock, ...]
    table: tuple[tuple[str, ...], ...]  # step, samples, scored, mean, lowest, highest
    more: int  # steps beyond the table


def anchor(onset: int) -> str:
    """Fragment of what was generated around an onset."""
    return f"at-{onset}"


def page(report: RunReport, render: rendering.Render) -> Page | None:
    """`/runs/<run>/samples/`, None where the run dumped no generations."""
    found = report.samples
    if found is None:
        return None
    return rendering.below(
        render,
        report.run,
        KIND,
        title=t("Samples"),
        summary=summary(found),
        events=tuple(_event(moment) for moment in found.moments),
        changed=tuple(_changed(one) for one in found.changed),
        all_looked_at=found.all_looked_at,
        kinds=tuple(_kind(kind, found) for kind in found.kinds),
        limits=tuple(map(words.count, found.limits)),
    )


def summary(found: SamplesReport) -> str:
    """`1 024 rollouts of 8 steps (1 to 40) and 96 validation samples of 2 steps`."""
    first, *rest = map(_counted, found.kinds)
    return t("{first} and {last}", first=t(", ").join((first, *rest[:-1])), last=rest[-1]) if rest else first


def link(report: RunReport, incident: str) -> str:
    """Where the run page finds what was generated around an incident; "" where nothing was."""
    moments = report.samples.moments if report.samples else ()
    return next((f"samples/#{anchor(one.onset)}" for one in moments if incident in one.anchors), "")


def _counted(kind: Dumped) -> str:
    rows = _rows(kind)
    if kind.first is None or kind.last is None:
        return rows
    first, last = words.count(kind.first), words.count(kind.last)
    if kind.steps <= 1:
        return t("{rows} of step {step}", rows=rows, step=first)
    steps = words.plural(kind.steps, "step")
    return t("{rows} of {steps} ({first} to {last})", rows=rows, steps=steps, first=first, last=last)


def _rows(kind: Dumped) -> str:
    if kind.kind == "rollout":
        return words.plural(kind.rows, "rollout")
    if kind.kind == "validation":
        return words.plural(kind.rows, "validation sample")
    return words.plural(kind.rows, "sample")


def _event(moment: Moment) -> Event:
    first = sorted(moment.compared, key=lambda one: not one.same_prompt)
    rows = tuple(_row(one, _labels(one, moment.onset)) for one in first)
    return Event(anchor(moment.onset), moment.anchors, moment.title, moment.onset, rows)


def _labels(one: Abreast, onset: int) -> tuple[str, ...]:
    """How each step lies to the onset."""
    return tuple(_distance(sample.step, onset) for sample in one.samples)


def _distance(step: int | None, onset: int) -> str:
    if step is None or step == onset:
        return t("at the onset")
    apart = words.plural(abs(step - onset), "step")
    before = step < onset
    return t("{steps} before the onset" if before else "{steps} after the onset", steps=apart)


def _changed(one: Abreast) -> Row:
    return _row(one, tuple("" for _ in one.samples))


def _row(one: Abreast, labels: Sequence[str]) -> Row:
    first = one.samples[0]
    answers = _answers([sample.output for sample in one.samples]) if one.same_prompt else None
    columns = tuple(
        Column(
            labels[place],
            _step_name(sample.step),
            _mean(one.means[place], one.same_prompt, sample),
            _sample(sample, answers[place] if answers else None),
        )
        for place, sample in enumerate(one.samples)
    )
    if not one.same_prompt:
        return Row(_named(one.kind), None, None, columns)
    return Row(_named(one.kind), texts.excerpt(first.input), _maybe(first.expected), columns)


def _answers(outputs: Sequence[Excerpt]) -> list[Markup]:
    """What the next answer lacks is marked in the first, what the one before lacks in the others."""
    marked = [texts.compared(after, before, "ins") for before, after in pairwise(outputs)]
    return [texts.compared(outputs[0], outputs[1], "del"), *marked]


def _mean(mean: float | None, same: bool, sample: SampleView) -> str:
    if mean is None or (same and mean == sample.score):
        return ""
    of = "mean score {score} for this prompt" if same else "mean score {score} of the step"
    return t(of, score=_score(mean))


def _kind(kind: Dumped, found: SamplesReport) -> KindBlock:
    steps = [step for step in found.steps if step.kind == kind.kind]
    shown = [step for step in steps if step.chosen]
    return KindBlock(
        key=kind.kind,
        title=_named(kind.kind),
        note=_counted(kind),
        shown=tuple(_block(step, step is shown[-1]) for step in shown),
        table=tuple(_numbers(step) for step in steps[:_STEPS]) if len(steps) > len(shown) else (),
        more=max(0, len(steps) - _STEPS),
    )


def _block(step: StepSamples, last: bool) -> StepBlock:
    notes = [words.plural(step.rows, "answer")]
    if step.mean is not None:
        notes.append(t("mean score {score}", score=_score(step.mean)))
    if step.low is not None and step.high is not None and step.low < step.high:
        notes.append(t("{low} to {high}", low=_score(step.low), high=_score(step.high)))
    if step.scored < step.rows:
        notes.append(t("{n} without a finite score", n=words.count(step.rows - step.scored)))
    name = _step_name(step.step)
    key = "none" if step.step is None else str(step.step)
    samples = tuple(_sample(sample) for sample in step.chosen)
    return StepBlock(f"{step.kind}-{key}", name[:1].upper() + name[1:], t(", ").join(notes), samples, last)


def _numbers(step: StepSamples) -> tuple[str, ...]:
    name = t("not logged") if step.step is None else words.count(step.step)
    values = (step.mean, step.low, step.high)
    return (name, words.count(step.rows), words.count(step.scored), *(_score(value) for value in values))


def _step_name(step: int | None) -> str:
    return t("no step logged") if step is None else t("step {step}", step=words.count(step))


def _named(kind: str) -> str:
    return t(NAMES[kind]) if kind in NAMES else kind


def _score(value: float | None) -> str:
    return words.MISSING if value is None else charts.human(value, 4)


def _sample(sample: SampleView, answer: Markup | None = None) -> Shown:
    output = sample.output.head
    return Shown(
        roles=sample.roles,
        where=sample.where,
        score=sample.raw_score if sample.score is None else _score(sample.score),
        prompt=texts.excerpt(sample.input),
        prompt_end=_end(sample.input),
        answer=texts.excerpt(sample.output) if answer is None else answer,
        answer_begin=words.clip(" ".join(output[:200].split()), 110),
        length=words.plural(sample.output.length, "character"),
        long=len(output) + len(sample.output.tail) > _LONG or output.count("\n") > _LINES,
        expected=_maybe(sample.expected),
        extra=_maybe(sample.extra),
    )


def _end(text: Excerpt) -> str:
    """The last words of a prompt: what precedes them is mostly the same for all."""
    line = " ".join((text.tail or text.head)[-400:].split())
    line = line.removesuffix(" assistant")
    return line if len(line) <= 90 else "…" + line[-89:]


def _maybe(text: Excerpt | None) -> Markup | None:
    return None if text is None else texts.excerpt(text)
