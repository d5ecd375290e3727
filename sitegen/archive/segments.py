"""Where training went back: segments within one source.

A segment ends where the step number falls, or where the log says that a checkpoint was resumed. A record that
repeats the step before it belongs to the same row (SFT logs train and validation apart; a run's last
validation comes as a record of its own). verl validates at the step it resumed from: that record opens the
new segment in the file, but it measures the weights of the old row, and goes there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sitegen.archive.stage import Staged
from sitegen.model import Ints

RESUME_KINDS = ("resumed", "checkpoint_found")
COPY = 2  # steps that a copy of a log may have lost at its start
Names = Callable[[int], frozenset[str]]  # record -> names it carries


@dataclass(frozen=True, slots=True)
class Split:
    """Segments of one source: number per record, and why each began."""

    segment: Ints  # (records,)
    reasons: tuple[str, ...]  # per segment: "start", "rewind" or "resume"


def split(staged: Staged, names: Names) -> Split:
    """Cut the records of a source into segments."""
    steps, lines = staged.records.steps, staged.records.lines
    if not len(steps):
        return Split(np.empty(0, dtype=np.int64), ())
    resumed = _resumed(staged, lines)
    opens = np.zeros(len(steps), dtype=bool)
    opens[0] = True
    opens[1:] = (np.diff(steps) < 0) | resumed[1:]
    segment = np.cumsum(opens) - 1
    reasons = ["resume" if resumed[i] else "rewind" for i in np.flatnonzero(opens)]
    if not resumed[0]:
        reasons[0] = "start"
    _move_validation(steps, opens, segment, names)
    return _compact(segment, reasons)


def _resumed(staged: Staged, lines: Ints) -> np.ndarray:
    """Per record: whether a resume was announced between the record before it and itself."""
    marks = sorted(line.line for line in staged.log_lines if line.kind in RESUME_KINDS)
    before = np.searchsorted(marks, lines)
    return np.diff(before, prepend=0) > 0


def _move_validation(steps: Ints, opens: np.ndarray, segment: Ints, names: Names) -> None:
    """Give a validation-only record that opens a segment to the row it validates, if there is one."""
    starts = np.flatnonzero(opens)
    for begin, i in pairwise(starts.tolist()):
        if not only_validates(names(i)):
            continue
        # what lies between is the segment before, and its own first record where that moved
        if (steps[begin + (segment[begin] != segment[i] - 1) : i] == steps[i]).any():
            segment[i] -= 1


def only_validates(names: frozenset[str]) -> bool:
    """Whether a record with these names is a validation and nothing else."""
    return all(name.startswith(("val-", "val/", "val_", "test_score")) for name in names)


def _compact(segment: Ints, reasons: list[str]) -> Split:
    """Renumber segments when one of them lost its only record."""
    kept = np.unique(segment)
    number = np.zeros(int(kept[-1]) + 1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    return Split(number[segment], tuple(reasons[i] for i in kept))


def rewrites(reason: str, steps: Ints, earlier: Ints, alike: bool) -> bool:
    """Whether a segment that resumed a checkpoint is an attempt after the one with steps `earlier`.

    Both arrays ascend. A second copy of the same text begins where the segment begins. A file of another
    format (not `alike`) may hold both attempts without a step that falls: then it goes on as far.
    """
    if reason != "resume" or earlier[0] >= steps[0] - COPY:
        return False
    return alike or int(np.isin(steps, earlier).sum()) * 2 < len(steps)
