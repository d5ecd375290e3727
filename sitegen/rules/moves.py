"""Moves of a score from one level to another: where each begins and ends.

A curve is compared as a whole with rises of many shapes (`shapes`), which averages its noise over all rows; a
slope in a window has the noise of the window, and finds the ends of an S late. Where one move leaves more
than noise, the curve is cut in two and each part is looked at for itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from sitegen.model import Floats, Ints
from sitegen.rules.shapes import BUCKETS, shapes

#: Rows with a value that are needed to look for moves at all.
LEAST = 16
#: A move must explain so many times the variance of a row.
CLEAR = 30.0
#: A move is still going on at the end of the curve unless that explains so many times the variance less.
OPEN = 6.0
#: A cut must explain so many times the variance of a row more than the one move that it replaces.
CUT = 80.0
#: Two moves in one direction are one unless so large a share of the curve lies between them.
REST = 0.08
#: Cuts within cuts.
DEPTH = 3


@dataclass(frozen=True, slots=True)
class Move:
    """From level `before` at row `first` to level `after` at row `last`; rows are 1-based."""

    first: int
    last: int
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class _Part:
    """The best single move in values[lo:hi], and how well it explains them."""

    lo: int
    hi: int
    move: Move
    gain: float  # sum of squares explained
    left: float  # sum of squares left


@dataclass(frozen=True, slots=True)
class Moves:
    """Moves of one run, in order, and the sd of a single row about them."""

    moves: tuple[Move, ...]
    noise: float | None  # None where there are too few values to say


def moves(values: Floats) -> Moves:
    """What `values` (rows,) of one run do; NaN where a row does not carry the metric."""
    rows = np.flatnonzero(np.isfinite(values))
    there = values[rows]
    if len(there) < LEAST:
        return Moves((), None)
    variance = _variance(there)
    found = _split(there, 0, len(there), variance, DEPTH)
    return Moves(tuple(_placed(move, rows) for move in found), math.sqrt(variance))


def _placed(move: Move, rows: Ints) -> Move:
    return replace(move, first=int(rows[move.first]) + 1, last=int(rows[move.last]) + 1)


def _variance(there: Floats) -> float:
    """Of the noise of one row, from neighbours: a trend does not add to it. Never nothing."""
    noise = float(np.median(np.abs(np.diff(there)))) / 0.954
    wide = len(there) // BUCKETS
    if wide >= 2:  # noise that lasts for several rows does not average away
        cut = there[: len(there) // wide * wide].reshape(-1, wide).mean(axis=1)
        noise = max(noise, float(np.median(np.abs(np.diff(cut, 2)))) / 1.652 * np.sqrt(wide))
    return max(noise, 1e-3 * float(np.ptp(there)), 1e-12) ** 2


def _split(there: Floats, lo: int, hi: int, variance: float, depth: int) -> list[Move]:
    whole = _best(there, lo, hi, variance)
    if depth and hi - lo >= 3 * LEAST and whole.left > variance * (1.05 * (hi - lo) + CUT):
        pairs = [
            (_best(there, lo, at, variance), _best(there, at, hi, variance))
            for at in np.linspace(lo, hi, 13)[1:-1].astype(int).tolist()
            if at - lo >= LEAST and hi - at >= LEAST
        ]
        pairs = [pair for pair in pairs if _apart(*pair, variance)]
        if pairs:
            one, two = min(pairs, key=lambda pair: pair[0].left + pair[1].left)
            if whole.left - one.left - two.left > CUT * variance:
                return [
                    *_split(there, lo, two.lo, variance, depth - 1),
                    *_split(there, two.lo, hi, variance, depth - 1),
                ]
    return [whole.move] if _clear(whole, variance) else []


def _apart(one: _Part, two: _Part, variance: float) -> bool:
    """Whether two parts are more than one move cut in two."""
    if not (_clear(one, variance) and _clear(two, variance)):
        return True
    up = one.move.after > one.move.before, two.move.after > two.move.before
    return up[0] != up[1] or two.move.first - one.move.last >= REST * (two.hi - one.lo)


def _clear(part: _Part, variance: float) -> bool:
    return part.gain > CLEAR * variance and abs(part.move.after - part.move.before) > variance**0.5


def _best(there: Floats, lo: int, hi: int, variance: float) -> _Part:
    known, cut = shapes(), there[lo:hi]
    level, n = float(cut.mean()), hi - lo
    like = known.units @ (_buckets(cut) - level).astype(np.float32)
    at = _choice(like, OPEN * variance * BUCKETS / n)
    gain = float(like[at]) ** 2 * n / BUCKETS
    fitted = float(like[at]) * known.units[at]
    first = min(n - 1, round(float(known.first[at]) * n))
    last = min(n - 1, max(first, round(float(known.last[at]) * n) - 1))
    move = Move(lo + first, lo + last, level + float(fitted[0]), level + float(fitted[-1]))
    return _Part(lo, hi, move, gain, max(0.0, float(np.square(cut - level).sum()) - gain))


def _choice(like: Floats, slack: float) -> int:
    """The shape that explains most, or the open one that explains hardly less."""
    gains = like**2
    best = int(np.argmax(gains))
    still = int(np.argmax(np.where(shapes().last >= 1, gains, -1)))
    return still if gains[still] >= gains[best] - slack else best


def _buckets(values: Floats) -> Floats:
    """Means over BUCKETS equal stretches, a row on a border shared between both."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    edges = np.linspace(0, len(values), BUCKETS + 1)
    shared: Floats = np.interp(edges, np.arange(len(values) + 1), total)
    return np.diff(shared) * (BUCKETS / len(values))
