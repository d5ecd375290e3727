"""Which of the dumped generations a page shows. All of them are in samples.parquet.

Of some steps the best, the worst, a random and the longest answer; around incidents the same prompt before,
at and after the onset; and the prompts whose answers changed most. Random is by run and step: the same in
each build.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from sitegen.model import Incident, Run
from sitegen.reports import onsets, recurring
from sitegen.reports.dumps import ALL, NO_STEP, Dumps, Numbers, Step
from sitegen.reports.excerpts import Abreast, Moment, SamplesReport, SampleView, StepSamples
from sitegen.reports.recurring import Pick
from sitegen.reports.visible import excerpt

SHOWN = 8  # steps of one kind whose samples are shown
INPUT, OUTPUT, EXPECTED, EXTRA = (500, 700), (1800, 700), (400, 0), (600, 0)  # characters: beginning, end


def choose(run: Run, incidents: Sequence[Incident], file: Path) -> SamplesReport:
    """The choice for a run. `incidents` come worst first."""
    with Dumps(file) as dumps:
        steps = dumps.steps()
        starts = onsets.worst(incidents)
        shown = [step for kind in _kinds(steps) for step in _shown(kind, list(starts))]
        whole = dumps.rows <= ALL
        looked = None if whole else [*shown, *(one for at in starts for one in _around_all(steps, at))]
        numbers = dumps.numbers(looked)
        chosen = {id(step): _roles(run.id, step, numbers.of(step)) for step in shown}
        moments = {at: _moment(steps, at, numbers) for at in starts}
        changed = [
            pick
            for kind in _kinds(steps)
            for pick in recurring.changed(
                kind if whole else [s for s in shown if s.kind == kind[0].kind], numbers
            )
        ]
        rows = [row for roles in chosen.values() for row in roles]
        rows += [
            row for pick in (*changed, *(p for picks in moments.values() for p in picks)) for row in pick.rows
        ]
        texts = dumps.texts(rows)
    return SamplesReport(
        kinds=run.generations,
        steps=tuple(_step(step, chosen.get(id(step), {}), texts) for step in steps),
        moments=tuple(
            Moment(tuple(one.anchor for one in starts[at]), starts[at][0].title, at, _compared(picks, texts))
            for at, picks in moments.items()
            if picks
        ),
        changed=_compared(changed, texts),
        all_looked_at=whole,
        limits=(sum(INPUT), sum(OUTPUT)),
    )


def _kinds(steps: Sequence[Step]) -> list[list[Step]]:
    """Steps of each kind."""
    names = dict.fromkeys(step.kind for step in steps)
    return [[step for step in steps if step.kind == name] for name in names]


def _shown(steps: Sequence[Step], onsets: Sequence[int]) -> list[Step]:
    """First and last, those around onsets, and others evenly spread between."""
    if len(steps) <= SHOWN:
        return list(steps)
    wanted = [0, len(steps) - 1]
    for at in onsets:
        wanted += [steps.index(one) for one in recurring.around(steps, at)[:2]]
    wanted = list(dict.fromkeys(wanted))[:SHOWN]
    while len(wanted) < SHOWN:  # halve the widest gap
        held = sorted(wanted)
        width, left = max((b - a, -a) for a, b in pairwise(held))
        wanted.append(-left + width // 2)
    return [steps[place] for place in sorted(wanted)]


def _around_all(steps: Sequence[Step], onset: int) -> list[Step]:
    return [step for kind in _kinds(steps) for step in recurring.around(kind, onset)]


def _roles(run: str, step: Step, numbers: Numbers) -> dict[int, tuple[str, ...]]:
    """Rows to show of a step, with what they are shown for."""
    places: dict[str, int] = {}
    if step.low < step.high:
        places["best"] = int(np.nanargmax(numbers.score))
        places["worst"] = int(np.nanargmin(numbers.score))
    # Of equals the same one everywhere, whatever Python does with hashes.
    draw = random.Random(f"{run}/{step.kind}/{step.step}")  # noqa: S311 - no secret
    places["random"] = draw.randrange(len(numbers.row))
    places["longest"] = int(np.argmax(numbers.length))
    roles: dict[int, tuple[str, ...]] = {}
    for role, place in places.items():
        row = int(numbers.row[place])
        roles[row] = (*roles.get(row, ()), role)
    return roles


def _moment(steps: Sequence[Step], onset: int, numbers: Numbers) -> list[Pick]:
    """Answers before, at and after an onset, of each kind that has some on both sides."""
    return [
        pick for kind in _kinds(steps) for pick in recurring.compare(recurring.around(kind, onset), numbers)
    ]


def _step(
    step: Step, roles: Mapping[int, tuple[str, ...]], texts: Mapping[int, dict[str, Any]]
) -> StepSamples:
    scored = step.scored > 0
    return StepSamples(
        kind=step.kind,
        step=None if step.step == NO_STEP else step.step,
        rows=step.rows,
        scored=step.scored,
        mean=step.mean,
        low=step.low if scored else None,
        high=step.high if scored else None,
        chosen=tuple(_view(texts[row], roles[row]) for row in roles),
    )


def _compared(picks: Iterable[Pick], texts: Mapping[int, dict[str, Any]]) -> tuple[Abreast, ...]:
    return tuple(
        Abreast(pick.kind, tuple(_view(texts[row]) for row in pick.rows), pick.means, pick.same)
        for pick in picks
    )


def _view(row: Mapping[str, Any], roles: tuple[str, ...] = ()) -> SampleView:
    raw, extra = _extra(row)
    return SampleView(
        kind=row["kind"],
        step=row["step"],
        index=row["index"],
        where=f"{row['source']}:{row['line']}",
        score=row["score"],
        raw_score=raw,
        input=excerpt(row["input"], *INPUT),
        output=excerpt(row["output"], *OUTPUT),
        expected=None if row["expected"] is None else excerpt(row["expected"], *EXPECTED),
        extra=excerpt(extra, *EXTRA) if extra else None,
        roles=roles,
    )


def _extra(row: Mapping[str, Any]) -> tuple[str, str]:
    """The score as logged where it is no finite number, and everything else that was logged, as text."""
    try:
        extra = orjson.loads(row["extra"])
    except orjson.JSONDecodeError:  # deeper than orjson goes
        return "", str(row["extra"])
    raw = "" if row["score"] is not None else str(extra.pop("score", ""))
    lines = (
        f"{key}: {each if isinstance(each, str) else orjson.dumps(each).decode()}"
        for key, each in extra.items()
    )
    return excerpt(raw, 20, 0).head, "\n".join(lines)
