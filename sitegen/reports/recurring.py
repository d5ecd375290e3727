"""Prompts that recur: how the answers to them differ between steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sitegen.model import Floats, Ints
from sitegen.reports.dumps import NO_STEP, Numbers, Step

PROMPTS = 2  # per onset and kind
CHANGED = 4  # per kind
_CONSIDERED = 1000  # of those that changed most


@dataclass(frozen=True, slots=True)
class Pick:
    """Rows to show side by side, one per step."""

    kind: str
    rows: tuple[int, ...]
    means: tuple[float | None, ...]
    same: bool  # whether the prompt is the same


@dataclass(frozen=True, slots=True)
class _Prompts:
    """Answers of several steps by prompt and step, g groups."""

    prompt: Ints  # (g,)
    step: Ints  # (g,) place of the step among those looked at
    mean: Floats  # (g,) mean score, NaN = none is scored
    length: Floats  # (g,) mean length
    first: Ints  # (g + 1,) where the rows of each group begin in `order`
    order: Ints  # rows, sorted by group

    def typical(self, group: int, numbers: Numbers) -> int:
        """The row of a group whose score is nearest to the mean."""
        places = self.order[self.first[group] : self.first[group + 1]]
        return int(numbers.row[places[_nearest(numbers.score[places], self.mean[group])]])


def around(steps: Sequence[Step], onset: int) -> list[Step]:
    """The last step before an onset, the first at or after it, the next; [] unless both sides are there."""
    known = [step for step in steps if step.step != NO_STEP]
    before = [step for step in known if step.step < onset]
    after = [step for step in known if step.step >= onset]
    return [before[-1], *after[:2]] if before and after else []


def compare(steps: Sequence[Step], numbers: Numbers) -> list[Pick]:
    """Answers at `steps` to the prompts whose scores differ most; typical answers where no prompt recurs."""
    if not steps:
        return []
    parts = [numbers.of(step) for step in steps]
    found = _by_prompt(parts)
    groups = _groups(found, len(steps))
    if not groups:
        rows = tuple(int(part.row[_nearest(part.score, _median(part.score))]) for part in parts)
        return [Pick(steps[0].kind, rows, tuple(step.mean for step in steps), False)]
    joined = _joined(parts)
    ranked = sorted(
        groups,
        key=lambda group: (-_spread(found.mean[list(group)]), -_spread(found.length[list(group)]), group),
    )
    return [_pick(steps[0].kind, found, group, joined) for group in ranked[:PROMPTS]]


def changed(steps: Sequence[Step], numbers: Numbers) -> list[Pick]:
    """The prompts whose answers changed most from one step to the next at which they were asked again."""
    known = [step for step in steps if step.step != NO_STEP]
    if len(known) < 2:
        return []
    parts = [numbers.of(step) for step in known]
    found = _by_prompt(parts)
    again = np.flatnonzero(found.prompt[1:] == found.prompt[:-1])
    if not len(again):
        return []
    score = np.nan_to_num(np.abs(found.mean[again + 1] - found.mean[again]), nan=0.0)
    length = np.abs(found.length[again + 1] - found.length[again])
    order = np.lexsort((found.step[again], -length, -score))
    _, firsts = np.unique(found.prompt[again[order]], return_index=True)  # each prompt once
    most = order[np.sort(firsts)][:_CONSIDERED]
    places = _taking_turns(score[most].tolist(), found.step[again[most]].tolist())[:CHANGED]
    joined = _joined(parts)
    return [_pick(known[0].kind, found, (group, group + 1), joined) for group in again[most[places]].tolist()]


def _taking_turns(scores: Sequence[float], steps: Sequence[int]) -> list[int]:
    """Places by score, highest first; of equal ones each step in turn, for most differ by all or nothing."""
    seen: Counter[tuple[float, int]] = Counter()
    turns = []
    for pair in zip(scores, steps, strict=True):
        turns.append(seen[pair])
        seen[pair] += 1
    return sorted(range(len(turns)), key=lambda place: (-scores[place], turns[place], place))


def _by_prompt(parts: Sequence[Numbers]) -> _Prompts:
    joined = _joined(parts)
    step = np.repeat(np.arange(len(parts)), [len(part.row) for part in parts])
    order = np.lexsort((step, joined.prompt))
    prompt, step = joined.prompt[order], step[order]
    first = np.flatnonzero(np.r_[True, (np.diff(prompt) != 0) | (np.diff(step) != 0)])
    scores, counted = joined.score[order], ~np.isnan(joined.score[order])
    with np.errstate(invalid="ignore", over="ignore"):
        mean = np.add.reduceat(np.where(counted, scores, 0.0), first) / np.add.reduceat(
            counted, first, dtype=float
        )
    ends = np.r_[first, len(order)]
    length = np.add.reduceat(joined.length[order].astype(float), first) / np.diff(ends)
    return _Prompts(prompt[first], step[first], mean, length, ends, order)


def _joined(parts: Sequence[Numbers]) -> Numbers:
    return Numbers(
        np.concatenate([part.row for part in parts]),
        np.concatenate([part.prompt for part in parts]),
        np.concatenate([part.score for part in parts]),
        np.concatenate([part.length for part in parts]),
    )


def _groups(found: _Prompts, n: int) -> list[tuple[int, ...]]:
    """Groups of the prompts that occur at all of `n` steps, else of those that occur at the first two."""
    by_prompt: dict[int, list[int]] = {}
    for group, prompt in enumerate(found.prompt.tolist()):
        by_prompt.setdefault(prompt, []).append(group)
    for wanted in range(n, 1, -1):
        steps = list(range(wanted))
        held = [
            tuple(groups[:wanted])
            for groups in by_prompt.values()
            if found.step[groups[:wanted]].tolist() == steps
        ]
        if held:
            return held
    return []


def _pick(kind: str, found: _Prompts, groups: tuple[int, ...], joined: Numbers) -> Pick:
    rows = tuple(found.typical(group, joined) for group in groups)
    means = tuple(None if np.isnan(mean) else float(mean) for mean in found.mean[list(groups)])
    return Pick(kind, rows, means, True)


def _spread(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.max() - known.min()) if len(known) else 0.0


def _median(scores: Floats) -> float:
    known = np.sort(scores[~np.isnan(scores)])
    return float(known[len(known) // 2]) if len(known) else np.nan


def _nearest(scores: Floats, wanted: float) -> int:
    """Place of the score nearest to `wanted`; the first where nothing is scored."""
    apart = np.abs(scores - wanted)
    return 0 if np.isnan(apart).all() else int(np.nanargmin(apart))
