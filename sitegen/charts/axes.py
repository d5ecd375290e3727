"""What a chart may be drawn over instead of steps: hours, tokens, passes over the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sitegen.charts.rowplan import Plan
from sitegen.model import Floats, Series

_HOUR = 3600.0
_GUESSED = 0.1
_SECONDS = ("time_step", "time_per_step")  # canonical keys; the first that every row that counts has


@dataclass(frozen=True, slots=True)
class Axis:
    """One value per row in the order of the plan; it never falls over the rows that count."""

    key: str  # "time", "tokens", "epoch"
    label: str
    unit: str
    values: Floats


def axes(by_key: Mapping[str, Series], plan: Plan, clock: Floats | None) -> tuple[Axis, ...]:
    """Axes that the run has.

    Args:
        by_key: series by canonical key.
        plan: of the run.
        clock: (n,) Unix seconds of the rows as the archive has them, NaN where the log does not say.
    """
    found = (
        ("time", "wall time", "h", _time(by_key, plan, clock)),
        ("tokens", "tokens", "", _tokens(by_key, plan)),
        ("epoch", "epoch", "", _epoch(by_key.get("epoch"), plan)),
    )
    return tuple(
        Axis(key, label, unit, values)
        for key, label, unit, values in found
        if values is not None and _rises(values[: plan.live])
    )


def _rises(values: Floats) -> bool:
    known = np.isfinite(values).all()
    return bool(known and values.size > 1 and values[-1] > values[0] and (np.diff(values) >= 0).all())


def _time(by_key: Mapping[str, Series], plan: Plan, clock: Floats | None) -> Floats | None:
    """Hours of training: sum of the step times, else time stamps from the first row that counts."""
    for key in _SECONDS:
        summed = _summed(by_key.get(key), plan)
        if summed is not None:
            return np.asarray(summed / _HOUR)
    if clock is None or not plan.live:
        return None
    stamps = clock[plan.order]
    return np.asarray((stamps - stamps[0]) / _HOUR)


def _tokens(by_key: Mapping[str, Series], plan: Plan) -> Floats | None:
    return _summed(by_key.get("total_tokens"), plan)


def _summed(series: Series | None, plan: Plan) -> Floats | None:
    """Running sum over the rows that count; rewritten rows go on from where their segment left them."""
    if series is None:
        return None
    each = series.values[plan.order]
    filled = _filled(each[: plan.live])
    if filled is None:
        return None
    each = np.concatenate((filled, each[plan.live :]))
    out, at = np.empty_like(each), plan.live
    out[:at] = np.cumsum(each[:at])
    for piece in plan.pieces[1:]:
        rows = slice(at, at + piece.rows)
        before = np.flatnonzero((plan.segments == piece.segment) & (plan.steps[: plan.live] < plan.steps[at]))
        start = out[before[-1]] if before.size else 0.0
        out[rows] = start + np.cumsum(np.nan_to_num(each[rows]))
        at += piece.rows
    return out


def _filled(values: Floats) -> Floats | None:
    """Amounts without gaps: 0 before the first one (a validation before training), else as their neighbours.

    None where more than a tenth of the rows say nothing: the sum would be a guess.
    """
    known = np.flatnonzero(np.isfinite(values))
    if not known.size or values.size - known[0] - known.size > _GUESSED * values.size:
        return None
    out = np.interp(np.arange(values.size), known, values[known])
    out[: known[0]] = 0.0
    return out


def _epoch(series: Series | None, plan: Plan) -> Floats | None:
    """Whole passes as logged, and between them the share of the rows of one pass."""
    if series is None:
        return None
    live = series.values[plan.order][: plan.live].copy()
    known = np.flatnonzero(np.isfinite(live))
    if known.size:
        live = live[known[np.maximum(np.searchsorted(known, np.arange(live.size), "right") - 1, 0)]]
    if not known.size or live.size < 2 or (np.diff(live) < 0).any() or live[0] == live[-1]:
        return None
    starts = np.flatnonzero(np.diff(live, prepend=live[0] - 1) != 0)
    sizes = np.diff(np.append(starts, live.size))
    sizes[-1] = max(int(sizes[-1]), int(sizes[:-1].max(initial=1)))  # the last pass may not be complete
    which = np.searchsorted(starts, np.arange(live.size), "right") - 1
    gone = np.where(which + 1 < starts.size, live[starts[np.minimum(which + 1, starts.size - 1)]], live + 1)
    values = live + (np.arange(live.size) - starts[which]) / sizes[which] * (gone - live)
    dead = np.interp(plan.steps[plan.live :], plan.steps[: plan.live], values)
    return np.concatenate((values, dead))
