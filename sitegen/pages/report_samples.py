"""Samples in `report.md`: what the model wrote around each incident, and its scores by step."""

from __future__ import annotations

from collections.abc import Iterator

from sitegen.pages import samples, words
from sitegen.pages.gfm import code, escape, fenced, table
from sitegen.reports.excerpts import Abreast, Excerpt, Moment, SamplesReport, SampleView
from sitegen.reports.shapes import RunReport

_LONGEST = 700  # characters of a text


def section(report: RunReport) -> str:
    """The section, "" for a run without dumps."""
    found = report.samples
    if found is None:
        return ""
    parts = ("## Samples", f"{escape(samples.summary(found))}.", _steps(found), *map(_moment, found.moments))
    return "\n\n".join(part for part in parts if part)


def _steps(found: SamplesReport) -> str:
    rows = [
        (
            samples.NAMES.get(step.kind, escape(step.kind)),
            "not logged" if step.step is None else words.count(step.step),
            words.count(step.rows),
            words.number(step.mean),
            words.number(step.low),
            words.number(step.high),
        )
        for step in found.steps
        if step.chosen
    ]
    return table(("", "step", "answers", "mean score", "lowest", "highest"), rows, numbers=range(1, 6))


def _moment(moment: Moment) -> str:
    """The first answers side by side, one below the other."""
    first = sorted(moment.compared, key=lambda one: not one.same_prompt)[:1]
    title = f"Around {', '.join(map(code, moment.anchors))}, from step {words.count(moment.onset)}"
    shown = [part for one in first for part in _answers(one)]
    return "\n\n".join(
        [f"<details><summary>{escape(moment.title)}: what was written</summary>", title, *shown, "</details>"]
    )


def _answers(one: Abreast) -> Iterator[str]:
    if one.same_prompt:
        yield f"The prompt:\n\n{fenced(_cut(one.samples[0].input))}"
    for sample in one.samples:
        if not one.same_prompt:
            yield f"A typical prompt of {_step(sample)}:\n\n{fenced(_cut(sample.input))}"
        score = "no score" if sample.score is None else f"score {words.number(sample.score)}"
        yield f"The answer at {_step(sample)}, {score}:\n\n{fenced(_cut(sample.output))}"


def _step(sample: SampleView) -> str:
    return "an unknown step" if sample.step is None else f"step {words.count(sample.step)}"


def _cut(text: Excerpt) -> str:
    whole = f"{text.head}\n…\n{text.tail}" if text.left_out else text.head
    return whole if len(whole) <= _LONGEST else f"{whole[: _LONGEST // 2]}\n…\n{whole[-_LONGEST // 2 :]}"
