"""Hits of a rule -> spans of rows. Pure numpy; knows nothing of runs, cards or tables.

All arrays are of one series (one run, or one data set of one run) in the order of the relation's own index.
A condition that could not be evaluated is simply not true: it neither opens a span nor keeps one open.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]

#: A softer condition reaches back across gaps of at most this many rows.
BACK = 2
#: A span is still open at the end when fewer rows than this (or than `exit`) are calm after it.
CALM = 3


@dataclass(frozen=True, slots=True)
class Stretch:
    """Positions first to last, 0-based, inclusive."""

    first: int
    last: int
    open: bool  # still true at the end of the series


def confirmed(hit: Flags, muted: Flags, persist: tuple[int, int]) -> Flags:
    """Hits that belong to a window of m rows with at least k hits whose last hit is not muted.

    Muting blocks opening only: the window may reach back into muted rows.
    """
    k, m = persist
    total = np.cumsum(hit)
    before = np.concatenate([np.zeros(m, total.dtype), total])[: len(hit)]
    seals = hit & (total - before >= k) & ~muted
    # row i is covered when one of rows i .. i + m - 1 seals
    sealed = np.concatenate([[0], np.cumsum(seals)])
    end = np.minimum(np.arange(len(hit)) + m, len(hit))
    covered = sealed[end] - sealed[np.arange(len(hit))] > 0
    return np.asarray(hit & covered, np.bool_)


def stretches(
    hit: Flags,
    hold: Flags,
    muted: Flags,
    persist: tuple[int, int],
    exit: int,
    rows: Ints | None = None,
) -> tuple[Stretch, ...]:
    """Spans of one series.

    A span opens at the first hit of the window that confirms it, reaches back over rows where `hold` is true
    (gaps of at most BACK rows), and lasts while `hold` or `hit` comes back within `exit` rows.

    Args:
        rows: where each element lies, if not one row after the other: events of one moment share a row.
    """
    seeds = np.flatnonzero(confirmed(hit, muted, persist))
    if not len(seeds):
        return ()
    at = rows if rows is not None else np.arange(len(hit))
    soft = np.flatnonzero(hit | hold)
    chain = np.concatenate([[0], np.cumsum(np.diff(at[soft]) > exit)])  # the chain each soft element is in
    found = []
    for number in np.unique(chain[np.searchsorted(soft, seeds)]):
        links = soft[chain == number]
        seed = seeds[(seeds >= links[0]) & (seeds <= links[-1])][0]
        calm = len(hit) - 1 - int(links[-1])
        found.append(Stretch(_back(links[links <= seed], at), int(links[-1]), calm < min(exit, CALM)))
    return tuple(found)


def _back(before: Ints, at: Ints) -> int:
    """The earliest element of a chain that is linked to its last by gaps of at most BACK rows."""
    gaps = np.flatnonzero(np.diff(at[before]) > BACK + 1)
    return int(before[gaps[-1] + 1]) if len(gaps) else int(before[0])
