"""Samples of a run made by hand, hostile ones among them."""

from __future__ import annotations

from dataclasses import replace

from sitegen.model import Dumped
from sitegen.reports.excerpts import Abreast, Moment, SamplesReport, SampleView, StepSamples
from sitegen.reports.shapes import RunReport
from sitegen.reports.visible import excerpt
from tests.pages import made_runs

SCRIPT = "<script>alert(1)</script></pre></details><img src=x onerror=alert(2)>"
HOSTILE = (
    f"{SCRIPT}\n```\n# not a heading\n[link](javascript:alert(3)) {{{{ 7 * 7 }}}} \u202egnol\u202c \u200b"
)


def sample(step: int | None, output: str, score: float | None = 1.0, **more: object) -> SampleView:
    """An answer of a validation."""
    base = SampleView(
        kind="validation",
        step=step,
        index=0,
        where=f"demo/val/{step}.jsonl:1",
        score=score,
        raw_score="",
        input=excerpt(str(more.pop("prompt", "user\nWhat is 2+2?\nassistant\n")), 500, 700),
        output=excerpt(output, 1800, 700),
        expected=excerpt("4", 400, 0),
        extra=excerpt("acc: true", 600, 0),
    )
    return replace(base, **more)  # type: ignore[arg-type]


def step(number: int, *chosen: SampleView) -> StepSamples:
    return StepSamples("validation", number, 8, 8, 0.5, 0.0, 1.0, chosen)


def report(*outputs: str, anchor: str = "REW-03-1") -> RunReport:
    """The sick run with a step per output, the last two of them around its incident."""
    shown = [sample(at, output, 0.5, roles=("best", "random")) for at, output in enumerate(outputs, 1)]
    compared = Abreast("validation", tuple(shown[-3:]), (1.0, 0.0, 0.0)[: len(shown)], True)
    run = made_runs.ALL["sick"]()
    kinds = (Dumped("validation", 8 * len(shown), 8 * len(shown), len(shown), 1, len(shown)),)
    found = SamplesReport(
        kinds=kinds,
        steps=tuple(step(at, one) for at, one in enumerate(shown, 1)),
        moments=(Moment((anchor,), "Reward hacking", 2, (compared,)),),
        changed=(compared,),
        all_looked_at=True,
        limits=(1200, 2500),
    )
    return replace(run, run=replace(run.run, generations=kinds), samples=found)
