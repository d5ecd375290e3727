"""Samples that several sources hold: dumps, and the tables that trackers were sent. Each counts once."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field

from sitegen.ingest.generations import ROLLOUT
from sitegen.model import Sample

KNOWN = 300_000  # different samples remembered: some 40 MB


@dataclass
class Copies:
    """Tells which samples of a table are new.

    A row is a copy when an earlier source has as many equal rows: verl logs a table that grows, so that each
    file holds what those before it hold, while one answer given twice to one prompt stays two rows.
    """

    wanted: bool  # whether there is anything to compare with
    full: bool = False  # there were more samples than are remembered
    _held: dict[int, int] = field(default_factory=dict)  # sample -> how many were kept
    _source: str = ""
    _seen: Counter[int] = field(default_factory=Counter)  # the same, in the source at hand

    def note(self, each: Sample) -> None:
        """A sample of a dump, which is kept whatever others hold. verl sends samples of validations only."""
        if self.wanted and each.kind != ROLLOUT:
            key = _key(each)
            self._remember(key, self._held.get(key, 0) + 1)

    def is_new(self, source: str, each: Sample) -> bool:
        """Whether a sample of a table is one that no earlier source holds."""
        if not self.wanted:
            return True
        if source != self._source:
            self._source, self._seen = source, Counter()
        key = _key(each)
        self._seen[key] += 1
        if self._seen[key] <= self._held.get(key, 0):
            return False
        self._remember(key, self._seen[key])
        return True

    def _remember(self, key: int, n: int) -> None:
        if key in self._held or len(self._held) < KNOWN:
            self._held[key] = n
        else:
            self.full = True


def _key(each: Sample) -> int:
    score = None if each.score is None else float(each.score)
    said = repr((each.step, score, each.input, each.output))
    data = hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(data, "big")
