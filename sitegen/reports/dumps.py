"""samples.parquet read in pieces: numbers of many rows, texts of few."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sitegen.model import Floats, Ints

ALL = 2_000_000  # rows whose numbers are looked at together; of more, those of chosen steps only
NO_STEP = -(2**62)
_TEXTS = ["kind", "step", "index", "input", "output", "expected", "score", "extra", "source", "line"]


@dataclass
class Step:
    """Rows of one kind and step: where they are, and their scores."""

    kind: str
    step: int  # NO_STEP = none was logged
    rows: int = 0
    scored: int = 0
    total: float = 0.0
    low: float = np.inf
    high: float = -np.inf
    spans: list[tuple[int, int]] = field(default_factory=list)

    def add(self, first: int, scores: Floats) -> None:
        """Add rows that follow one another, the first of which is number `first` of the file."""
        self.rows += len(scores)
        self.spans.append((first, first + len(scores)))
        known = scores[~np.isnan(scores)]
        if len(known):
            self.scored += len(known)
            with np.errstate(over="ignore"):
                self.total += float(known.sum())
            self.low, self.high = min(self.low, float(known.min())), max(self.high, float(known.max()))

    @property
    def mean(self) -> float | None:
        """Mean of the finite scores."""
        mean = self.total / self.scored if self.scored else np.nan
        return mean if np.isfinite(mean) else None


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers of n rows."""

    row: Ints  # (n,) place in the file
    prompt: Ints  # (n,) equal for equal prompts
    score: Floats  # (n,) NaN = none
    length: Ints  # (n,) characters of the output

    def of(self, step: Step) -> Numbers:
        """Those of one step."""
        spans = [slice(*np.searchsorted(self.row, span)) for span in step.spans]
        return self.at(np.concatenate([np.arange(span.start, span.stop) for span in spans]))

    def at(self, places: NDArray[Any]) -> Numbers:
        """Those at `places`."""
        return Numbers(self.row[places], self.prompt[places], self.score[places], self.length[places])


class Dumps:
    """One samples.parquet."""

    def __init__(self, file: Path) -> None:
        self._file = pq.ParquetFile(file)
        groups = [self._file.metadata.row_group(i).num_rows for i in range(self._file.num_row_groups)]
        self._starts = np.concatenate([[0], np.cumsum(groups, dtype=np.int64)])

    def __enter__(self) -> Dumps:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def rows(self) -> int:
        """How many there are."""
        return int(self._starts[-1])

    def steps(self) -> tuple[Step, ...]:
        """What there is, by kind and step."""
        found: dict[tuple[str, int], Step] = {}
        for first, table in self._tables(["kind", "step", "score"], range(self._file.num_row_groups)):
            kinds, steps, scores = _kinds(table), _ints(table, "step"), _doubles(table, "score")
            edges = np.flatnonzero((kinds[1:] != kinds[:-1]) | (steps[1:] != steps[:-1])) + 1
            for a, b in zip([0, *edges], [*edges, len(steps)], strict=True):
                key = (str(kinds[a]), int(steps[a]))
                found.setdefault(key, Step(*key)).add(first + int(a), scores[a:b])
        return tuple(found[key] for key in sorted(found))

    def numbers(self, steps: Iterable[Step] | None = None) -> Numbers:
        """Numbers of all rows, or of those of `steps`."""
        spans = None if steps is None else sorted(span for step in steps for span in step.spans)
        parts = []
        for first, table in self._tables(["prompt", "score", "length"], self._groups(spans)):
            row = np.arange(first, first + table.num_rows)
            prompt, length = _ints(table, "prompt"), _ints(table, "length")
            part = Numbers(row, prompt, _doubles(table, "score"), length)
            parts.append(part if spans is None else part.at(_within(row, spans)))
        none = np.empty(0, dtype=np.int64)
        return Numbers(
            np.concatenate([none, *(part.row for part in parts)]),
            np.concatenate([none, *(part.prompt for part in parts)]),
            np.concatenate([none.astype(np.float64), *(part.score for part in parts)]),
            np.concatenate([none, *(part.length for part in parts)]),
        )

    def texts(self, rows: Iterable[int]) -> dict[int, dict[str, Any]]:
        """Rows by their number, a row group at a time."""
        wanted = sorted(set(rows))
        found: dict[int, dict[str, Any]] = {}
        for first, table in self._tables(_TEXTS, self._groups([(row, row + 1) for row in wanted])):
            mine = [row for row in wanted if first <= row < first + table.num_rows]
            found.update(zip(mine, table.take([row - first for row in mine]).to_pylist(), strict=True))
        return found

    def _groups(self, spans: Sequence[tuple[int, int]] | None) -> list[int]:
        """Row groups that hold rows of `spans`."""
        if spans is None:
            return list(range(self._file.num_row_groups))
        held: set[int] = set()
        for first, end in spans:
            a, b = np.searchsorted(self._starts, [first, end - 1], side="right") - 1
            held.update(range(int(a), int(b) + 1))
        return sorted(held)

    def _tables(self, columns: list[str], groups: Iterable[int]) -> Iterator[tuple[int, pa.Table]]:
        for group in groups:
            yield int(self._starts[group]), self._file.read_row_group(group, columns, use_threads=False)


def _within(rows: Ints, spans: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    held = np.zeros(len(rows), dtype=np.bool_)
    for first, end in spans:
        held[slice(*np.searchsorted(rows, [first, end]))] = True
    return held


def _kinds(table: pa.Table) -> NDArray[Any]:
    kinds: NDArray[Any] = table.column("kind").to_numpy()
    return kinds


def _ints(table: pa.Table, name: str) -> Ints:
    result: Ints = table.column(name).fill_null(NO_STEP).to_numpy()
    return result


def _doubles(table: pa.Table, name: str) -> Floats:
    result: Floats = table.column(name).to_numpy().astype(np.float64, copy=False)
    return result
