"""Time stamps of lines that nobody else reads: only the first and the newest one are looked at."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sitegen.ingest import text

TRIES = 8  # lines looked at for a stamp at their start; a date further in is no time of the line


class Clock:
    """Time stamps of one block of lines.

    Args:
        lines: of the block.
        timed: indexes of lines that hold a date, ascending.
    """

    def __init__(self, lines: Sequence[bytes], timed: Sequence[int]) -> None:
        self._lines = lines
        self._timed = timed
        self._at = 0  # lines of `timed` passed by `newest`

    def first(self, index: int) -> float:
        """Unix seconds of the first stamp before line `index`; NaN if there is none."""
        for timed in self._timed[: 4 * TRIES]:
            if timed >= index:
                break
            if not math.isnan(time := self._seconds(timed)):
                return time
        return math.nan

    def newest(self, index: int, default: float) -> float:
        """Unix seconds of the last stamp before line `index`, `default` if none came since the last call."""
        start = self._at
        while self._at < len(self._timed) and self._timed[self._at] < index:
            self._at += 1
        for timed in reversed(self._timed[max(start, self._at - TRIES) : self._at]):
            if not math.isnan(time := self._seconds(timed)):
                return time
        return default

    def _seconds(self, index: int) -> float:
        raw = self._lines[index][:400].decode("utf-8", "replace")
        found = [text.seconds(line.body) for line in text.lines(0, raw)]
        return next((time for time in reversed(found) if not math.isnan(time)), math.nan)
