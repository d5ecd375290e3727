"""Where the time of a step goes, and how long a stretch of steps took."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sitegen.model import Floats, Ints
from sitegen.reports.curves import Curves
from sitegen.reports.shapes import TimingPart

_PREFIXES = ("timing_s/", "timing/")
_INSIDE = {"generate_sequences", "reshard"}  # parts of "gen"; counting them again would exceed the step
_ALL_GPUS = "tokens_per_sec"  # divided by the number of GPUs where that is known
_LONGEST = 1e10  # seconds, three centuries: more is no time that passed
_PERIODIC = ("testing", "save_checkpoint")
_MUCH = 0.05  # of a step; whether a smaller part is missing does not show in the step's seconds


def parts(curves: Curves) -> tuple[TimingPart, ...]:
    """Parts of the step, longest share first, "other" last.

    A part's seconds are its median over the steps that have it; shares spread parts that come every k steps
    over k. "other" is the median of step less parts, over steps without validation and checkpoint. Rows that
    do not tell of a part (see `_untold`) count neither as steps without it nor for "other".
    """
    step = _step(curves)
    named = _named(curves)
    if not named or not np.isfinite(step).any():
        return ()
    untold = {name: _untold(name, values, step, curves.cut) for name, values in named.items()}
    found = [
        _part(name, values[~untold[name]], curves.steps[~untold[name]])
        for name, values in sorted(named.items())
    ]
    other = _other(step, named, ~np.any(list(untold.values()), axis=0))
    spread = sum(part.seconds / part.every for part in found) + other
    if not 0 < spread < np.inf:
        return ()
    shares = [_shared(part, spread) for part in found]
    shares.sort(key=lambda part: (-part.share, part.name))
    return (*shares, TimingPart("other", other, other / spread, 1))


def throughput(curves: Curves, gpus: int | None) -> float | None:
    """Median tokens per second and GPU, net of validation and checkpoints; None where unknown.

    Steps with validation or a checkpoint are left out while enough others remain; else their seconds are
    taken off the step. A number for all GPUs together says nothing where their number is unknown.
    """
    series = curves.by_key("throughput")
    logged = curves.values("throughput")
    if series is not None and series.name == _ALL_GPUS and not gpus:
        return None
    if not np.isfinite(logged).any() and gpus:
        logged = curves.values("total_tokens") / (_step(curves) * gpus)
    quiet = _quiet(_named(curves), len(logged)) & np.isfinite(logged)
    if quiet.sum() >= max(1, min(3, np.isfinite(logged).sum() // 2)):
        return _known(_median(logged[quiet]))
    return _known(_median(logged * _net_factor(curves)))


def seconds(curves: Curves) -> Floats:
    """Seconds of each live row: the step, and validation where it is timed outside; NaN where unknown."""
    step = _step(curves)
    testing = np.nan_to_num(curves.values("time_testing"))
    inside = step >= 0.98 * _total(list(_named(curves).values()), len(step))
    return np.asarray(step + np.where(inside, 0.0, testing))


def seconds_from(curves: Curves, first: int | None) -> float | None:
    """Seconds spent on step `first` and after it; None where the run does not log step times."""
    spent = seconds(curves)
    known = np.isfinite(spent)
    if not known.any():
        return None
    after = known if first is None else known & (curves.steps >= first)
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(spent[after].sum())
    return total if 0 <= total < _LONGEST else None


def _step(curves: Curves) -> Floats:
    step = curves.values("time_step")
    return step if np.isfinite(step).any() else curves.values("time_per_step")


def _named(curves: Curves) -> dict[str, Floats]:
    """Part -> seconds per live row, for the parts that add up to a step."""
    found: dict[str, Floats] = {}
    for series in curves:
        prefix = next((p for p in _PREFIXES if series.name.startswith(p)), None)
        name = series.name[len(prefix) :] if prefix else ""
        if not name or "/" in name or name == "step" or name in _INSIDE:
            continue
        values = curves.values(series.metric)
        if np.isfinite(values).any():
            found[name] = values
    return found


def _steady(named: dict[str, Floats]) -> list[Floats]:
    return [values for name, values in named.items() if name not in _PERIODIC]


def _total(named: list[Floats], n: int) -> Floats:
    return np.asarray(sum((np.nan_to_num(values) for values in named), np.zeros(n)))


def _quiet(named: dict[str, Floats], n: int) -> NDArray[np.bool_]:
    """Rows without validation and checkpoint."""
    return _total([named[name] for name in _PERIODIC if name in named], n) <= 0


def _untold(name: str, values: Floats, step: Floats, cut: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Rows that lack the part though it may have been there.

    Such a row was cut; or, as in a log that somebody abridged, steps without the part take no less time than
    those with it. Validation and checkpoints may be timed outside the step, so this says nothing of them.
    """
    there = np.isfinite(values)
    if name not in _PERIODIC:
        seconds = _median(values)
        usual, without = _median(step[there]), _median(step[~there])
        if seconds >= _MUCH * usual and without > usual - seconds / 2:
            return ~there
    return cut & ~there


def _other(step: Floats, named: dict[str, Floats], whole: NDArray[np.bool_]) -> float:
    """Seconds of a step that no part explains, from the rows that tell of all parts where there are any."""
    quiet = _quiet(named, len(step))
    whole = whole & np.isfinite(step)
    whole = whole if whole.any() else np.ones(len(step), dtype=np.bool_)
    calm = bool((quiet & whole).any())
    rest = step - _total(_steady(named) if calm else list(named.values()), len(step))
    return max(0.0, _known(_median(rest[quiet & whole if calm else whole])) or 0.0)


def _part(name: str, values: Floats, steps: Ints) -> TimingPart:
    there = np.isfinite(values) & (values > 0)
    if not there.any():
        there = np.isfinite(values)
    gaps = np.diff(steps[there])
    usual = np.diff(steps)
    stride = max(1.0, _median(usual.astype(float))) if len(usual) else 1.0
    every = max(1, round(_median(gaps.astype(float)) / stride)) if len(gaps) else max(1, len(steps))
    return TimingPart(name, _median(values[there]), 0.0, every)


def _shared(part: TimingPart, whole: float) -> TimingPart:
    return TimingPart(part.name, part.seconds, part.seconds / part.every / whole, part.every)


def _net_factor(curves: Curves) -> Floats:
    step = _step(curves)
    off = np.nan_to_num(curves.values("time_testing")) + np.nan_to_num(curves.values("time_save_checkpoint"))
    net = step - off
    return np.where(net > 0, step / np.where(net > 0, net, 1.0), 1.0)


def _median(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return float(2 * np.median(finite / 2)) if len(finite) else float("nan")  # halves never add up to inf


def _known(value: float) -> float | None:
    return value if np.isfinite(value) else None
