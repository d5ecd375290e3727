"""The rows of a run as charts read them: those that count, by step, then each stretch that was rewritten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sitegen.model import Floats, Ints, Series

BUCKETS = 256  # of the rows that count
_FORK_BUCKETS = 64  # of each rewritten stretch
_ALL_FORKS = 256  # of all rewritten stretches, as long as each gets one


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows that are drawn as one line, in buckets of `per` rows; the last bucket may hold fewer."""

    segment: int  # -1 for the rows that count
    rows: int
    per: int

    @property
    def buckets(self) -> int:
        """How many there are."""
        return -(-self.rows // self.per)


@dataclass(frozen=True, slots=True)
class Plan:
    """Order and buckets of the n rows of a run. All series of a run share them.

    Args:
        order: (n,) row numbers of the archive, as they are written.
        pieces: they follow each other and cover all rows.
        steps: (n,) in `order`.
        segments: (rows of the first piece,) numbers of the segments that the rows that count come from.
    """

    order: Ints
    pieces: tuple[Piece, ...]
    steps: Ints
    segments: Ints

    @property
    def live(self) -> int:
        """Rows that count."""
        return self.pieces[0].rows

    def edges(self) -> tuple[Ints, Ints]:
        """(buckets,) first row of each bucket, and how many rows it has."""
        starts, sizes, at = [], [], 0
        for piece in self.pieces:
            first = np.arange(0, piece.rows, piece.per)
            starts.append(first + at)
            sizes.append(np.minimum(piece.per, piece.rows - first))
            at += piece.rows
        return np.concatenate(starts).astype(np.int64), np.concatenate(sizes).astype(np.int64)


def plan(series: Series) -> Plan:
    """The plan of the run that `series` is of; it has at least one row."""
    live = np.flatnonzero(series.live)
    live = live[np.argsort(series.steps[live], kind="stable")]
    dead = np.flatnonzero(~series.live)
    forks = [dead[series.segments[dead] == number] for number in np.unique(series.segments[dead])]
    forks = [rows[np.argsort(series.steps[rows], kind="stable")] for rows in forks]
    most = max(1, min(_FORK_BUCKETS, _ALL_FORKS // max(1, len(forks))))
    pieces = [Piece(-1, live.size, _per(live.size, BUCKETS))]
    pieces += [Piece(int(series.segments[rows[0]]), rows.size, _per(rows.size, most)) for rows in forks]
    order = np.concatenate([live, *forks]).astype(np.int64)
    return Plan(order, tuple(pieces), series.steps[order], series.segments[live])


def matrix(series: Sequence[Series], made: Plan) -> Floats:
    """(metrics, rows) values in the order of the plan."""
    return np.stack([one.values for one in series])[:, made.order]


def _per(rows: int, most: int) -> int:
    """Rows of a bucket; a few more than `most` stay as they are."""
    return 1 if rows <= 1.5 * most else -(-rows // most)
