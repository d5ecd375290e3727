"""Reads a log given as text, and shows what was found in plain Python values."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import ModuleType
from typing import BinaryIO, cast

import numpy as np

from sitegen.errors import Problem
from sitegen.ingest import console
from sitegen.ingest.source import Source
from sitegen.model import Batch, LogLine, Sample


@dataclass(frozen=True)
class Text:
    """Stands for a file."""

    content: bytes
    path: str = "run/train.log"

    def open(self) -> BinaryIO:
        return io.BytesIO(self.content)


@dataclass
class Reading:
    """What a reader found, batches put together.

    `rows` holds (step, {name: finite value}) in file order; `odd` (step, name, raw) of values that are not
    finite; `cut` the steps of rows that lost their end.
    """

    rows: list[tuple[int, dict[str, float]]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    odd: list[tuple[int, str, str]] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)
    log: list[LogLine] = field(default_factory=list)
    config: dict[str, str] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)

    @property
    def steps(self) -> list[int]:
        return [step for step, _ in self.rows]

    @property
    def kinds(self) -> list[str]:
        return [problem.kind for problem in self.problems]

    def marks(self) -> list[tuple[int, str, str]]:
        """(line, kind, level) of the lines kept."""
        return [(line.line, line.kind, line.level) for line in self.log]


def reading(content: str | bytes, reader: ModuleType = console) -> Reading:
    raw = content.encode() if isinstance(content, str) else content
    return gathered(reader.read(cast(Source, Text(raw))))


def gathered(batches: Iterable[Batch]) -> Reading:
    found = Reading()
    for batch in batches:
        if batch.rows is not None:
            rows = batch.rows
            for i, step in enumerate(rows.steps):
                values = {n: float(c[i]) for n, c in rows.columns.items() if not np.isnan(c[i])}
                found.rows.append((int(step), values))
            found.lines += [int(line) for line in rows.lines]
            found.times += [float(time) for time in rows.times]
            found.odd += [(int(rows.steps[o.row]), o.name, o.raw) for o in rows.non_finite]
            found.cut += [int(rows.steps[i]) for i in rows.cut]
        found.log += batch.log_lines
        found.samples += batch.samples
        found.config.update(batch.config)
        found.facts.update(batch.facts)
        found.problems += batch.problems
    return found
