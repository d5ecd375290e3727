"""A throw-away archive: the layout of the real one, written from a few arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sitegen.errors import Problem
from sitegen.model import LogLine, Run, Segment

_EXTRAS = pa.schema(
    [
        ("kind", pa.string()),
        ("segment", pa.int32()),
        ("step", pa.int64()),
        ("name", pa.string()),
        ("raw", pa.string()),
        ("value", pa.float64()),
        ("source", pa.string()),
    ]
)


def facts(run: str, steps: Sequence[int] = (), **changed: Any) -> Run:
    """A Run about which nothing is known but its steps."""
    unknown = ("project", "experiment", "algorithm", "model", "verl_version", "commit", "hardware", "gpus")
    times = ("started_at", "ended_at", "wall_s", "planned_steps", "owner", "baseline")
    blank: dict[str, Any] = dict.fromkeys((*unknown, *times))
    first, last = (min(steps), max(steps)) if len(steps) else (None, None)
    known = {
        "id": run,
        "path": run,
        "title": run,
        "steps": len(set(steps)),
        "first_step": first,
        "last_step": last,
        "finished": False,
        "growing": False,
        "segments": (Segment(0, first, last, len(steps), "x.log", "start"),) if first is not None else (),
        "formats": ("console",),
        "notes": "",
        "config": {},
        "fingerprint": run,
    }
    empty = dict.fromkeys(("sources", "tags", "aliases", "summary", "problems"), ())
    return Run(**{**blank, **empty, **known, **changed})


class Written:
    """Implements `store.Shelf` over a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.known: dict[str, Run] = {}
        self.names: dict[str, dict[str, str]] = {}
        self.texts: dict[str, tuple[LogLine, ...]] = {}

    def add(
        self,
        run: str,
        columns: Mapping[str, Any],
        *,
        steps: Sequence[int] | None = None,
        segments: Sequence[int] | None = None,
        live: Sequence[bool] | None = None,
        non_finite: Sequence[tuple[int, str, str]] = (),
        lines: Sequence[LogLine] = (),
        **changed: Any,
    ) -> None:
        """Write a run. NaN in `columns` is not carried; `non_finite` holds (step, name, raw)."""
        rows = max((len(values) for values in columns.values()), default=0)
        numbers = np.asarray(steps if steps is not None else np.arange(1, rows + 1))
        stored = _stored(columns)
        fixed = {
            "row": np.arange(rows),
            "segment": np.asarray(segments if segments is not None else np.zeros(rows), np.int32),
            "step": numbers,
            "live": np.asarray(live if live is not None else np.ones(rows), np.bool_),
            "time": np.full(rows, np.nan),
            "line": np.arange(1, rows + 1),
            "source": ["x.log"] * rows,
            "cut": np.zeros(rows, np.bool_),
        }
        data = {
            name: pa.array(np.asarray(columns[raw], np.float64), from_pandas=True)
            for name, raw in stored.items()
        }
        folder = self.folder / run
        folder.mkdir(parents=True)
        pq.write_table(pa.table({**fixed, **data}), folder / "steps.parquet", compression="zstd")
        extras = [("non_finite", 0, step, name, raw, None, "x.log") for step, name, raw in non_finite]
        _write_extras(folder / "extras.parquet", extras)
        self.known[run] = facts(run, numbers.tolist(), **changed)
        self.names[run] = stored
        self.texts[run] = tuple(lines)

    def runs(self) -> tuple[str, ...]:
        return tuple(sorted(self.known))

    def run(self, run: str) -> Run:
        return self.known[run]

    def steps(self, run: str) -> Path:
        return self.folder / run / "steps.parquet"

    def columns(self, run: str) -> Mapping[str, str]:
        return self.names[run]

    def log_lines(self, run: str) -> tuple[LogLine, ...]:
        return self.texts[run]

    def problems(self) -> tuple[Problem, ...]:
        return (Problem("stray.bin", None, "unreadable", "not a log"),)


def _stored(columns: Mapping[str, Any]) -> dict[str, str]:
    """Stored column -> name as logged; names that clash without case get a suffix."""
    taken: set[str] = set()
    stored = {}
    for raw in columns:
        name = raw if raw.lower() not in taken else f"{raw}#2"
        taken.add(name.lower())
        stored[name] = raw
    return stored


def _write_extras(path: Path, rows: Sequence[tuple[Any, ...]]) -> None:
    columns = list(zip(*rows, strict=True)) or [()] * len(_EXTRAS)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _EXTRAS, strict=True)]
    pq.write_table(pa.table(arrays, schema=_EXTRAS), path)


def line(kind: str, step: int | None, text: str = "", number: int = 1) -> LogLine:
    """A log line that matters."""
    return LogLine("x.log", number, None, "error", kind, step, text)
