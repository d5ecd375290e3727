"""Samples in `report.md`: what the model wrote around each incident, and its scores by step."""

from __future__ import annotations

from collections.abc import Iterator

from sitegen.language import t
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
    parts = (
        f"## {t('Samples')}",
        t("{sentence}.", sentence=escape(samples.summary(found))),
        _steps(found),
        *map(_moment, found.moments),
    )
    return "\n\n".join(part for part in parts if part)


def _steps(found: SamplesReport) -> str:
    rows = [
        (
            t(samples.NAMES[step.kind]) if step.kind in samples.NAMES else escape(step.kind),
            t("not logged") if step.step is None else words.count(step.step),
            words.count(step.rows),
            words.number(step.mean),
            words.number(step.low),
            words.number(step.high),
        )
        for step in found.steps
        if step.chosen
    ]
    columns = ("", t("step"), t("answers"), t("mean score"), t("lowest"), t("highest"))
    return table(columns, rows, numbers=range(1, 6))


def _moment(moment: Moment) -> str:
    """The first answers side by side, one below the other."""
    first = sorted(moment.compared, key=lambda one: not one.same_prompt)[:1]
    onset = words.count(moment.onset)
    title = t(
        "Around {incidents}, from step {step}", incidents=t(", ").join(map(code, moment.anchors)), step=onset
    )
    shown = [part for one in first for part in _answers(one)]
    folded = t("{title}: what was written", title=escape(moment.title))
    return "\n\n".join([f"<details><summary>{folded}</summary>", title, *shown, "</details>"])


def _answers(one: Abreast) -> Iterator[str]:
    if one.same_prompt:
        yield f"{t('The prompt:')}\n\n{fenced(_cut(one.samples[0].input))}"
    for sample in one.samples:
        if not one.same_prompt:
            yield f"{t('A typical prompt of {step}:', step=_step(sample))}\n\n{fenced(_cut(sample.input))}"
        score = (
            t("no score") if sample.score is None else t("score {score}", score=words.number(sample.score))
        )
        answer = t("The answer at {step}, {score}:", step=_step(sample), score=score)
        yield f"{answer}\n\n{fenced(_cut(sample.output))}"


def _step(sample: SampleView) -> str:
    return t("an unknown step") if sample.step is None else t("step {step}", step=words.count(sample.step))


def _cut(text: Excerpt) -> str:
    whole = f"{text.head}\n…\n{text.tail}" if text.left_out else text.head
    return whole if len(whole) <= _LONGEST else f"{whole[: _LONGEST // 2]}\n…\n{whole[-_LONGEST // 2 :]}"
