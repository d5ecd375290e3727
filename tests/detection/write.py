"""Traces -> Parquet as an archive keeps it; or the text that verl would have printed.

The Parquet is written here, to the layout of an archive (`steps` and `extras`), so that thousands of runs
need no log to be parsed. That both ways lead to the same findings is a test.
"""

from __future__ import annotations

import json
import pprint
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sitegen.errors import Problem
from sitegen.metrics import glossary
from sitegen.model import Floats, LogLine, MetricSummary, Run, Segment, SourceFile
from tests.detection.trace import Event, Trace

LOG = "train.log"


class Shelf:
    """Runs whose Parquet lies in `folder`; all else is in memory. The part of an archive that rules read."""

    def __init__(self, folder: Path, traces: Iterable[Trace]) -> None:
        self._folder = folder
        self._traces = {trace.name: trace for trace in traces}
        self._runs = {name: _run(trace) for name, trace in self._traces.items()}
        for trace in self._traces.values():
            _write(folder / trace.name, trace)

    def runs(self) -> tuple[str, ...]:
        return tuple(self._traces)

    def run(self, run: str, /) -> Run:
        return self._runs[run]

    def steps(self, run: str, /) -> Path:
        return self._folder / run / "steps.parquet"

    def columns(self, run: str, /) -> Mapping[str, str]:
        return {name: name for name in _names(self._traces[run])}

    def log_lines(self, run: str, /) -> tuple[LogLine, ...]:
        trace = self._traces[run]
        return tuple(_line(trace, number, one) for number, one in enumerate(_ordered(trace)))

    def problems(self) -> tuple[Problem, ...]:
        return ()


def _names(trace: Trace) -> tuple[str, ...]:
    """Metrics with at least one value, or with one that is not finite."""
    carried = {name for name, values in trace.metrics.items() if np.isfinite(values).any()}
    return tuple(sorted(carried | {name for _, name, _ in trace.odd}))


def _values(trace: Trace, name: str) -> Floats:
    return trace.metrics.get(name, np.full(trace.rows, np.nan))


def _write(folder: Path, trace: Trace) -> None:
    folder.mkdir(parents=True)
    rows = np.arange(trace.rows)
    fixed = {
        "row": rows,
        "segment": trace.segments.astype(np.int32),
        "step": trace.steps,
        "live": trace.live,
        "time": pa.nulls(trace.rows, pa.float64()),
        "line": rows + 1,
        "source": pa.array([LOG] * trace.rows, pa.string()),
        "cut": np.isin(rows, trace.torn),
    }
    metrics = {name: pa.array(_values(trace, name), from_pandas=True) for name in _names(trace)}
    pq.write_table(pa.table(fixed | metrics), folder / "steps.parquet")
    extras = [
        ("non_finite", int(trace.segments[row]), int(trace.steps[row]), name, raw, None, LOG)
        for row, name, raw in sorted(trace.odd)
    ]
    listed = [dict(zip(EXTRAS.names, each, strict=True)) for each in extras]
    pq.write_table(pa.Table.from_pylist(listed, EXTRAS), folder / "extras.parquet")


EXTRAS = pa.schema(
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


def _ordered(trace: Trace) -> list[Event]:
    return sorted(trace.events, key=lambda one: one.row)


def _line(trace: Trace, number: int, event: Event) -> LogLine:
    step = int(trace.steps[event.row]) if event.row >= 0 else None
    return LogLine(LOG, event.row + 2 + number, None, event.level, event.kind, step, event.text)


def _segments(trace: Trace) -> tuple[Segment, ...]:
    said = {one.row for one in trace.events if one.kind in ("resumed", "checkpoint_found")}
    found = []
    for number in sorted(set(trace.segments.tolist())):
        rows = np.flatnonzero(trace.segments == number)
        first, last = int(trace.steps[rows[0]]), int(trace.steps[rows[-1]])
        reason = "start" if number == 0 else "resume" if int(rows[0]) - 1 in said else "rewind"
        found.append(Segment(number, first, last, len(rows), LOG, reason))
    return tuple(found)


def _run(trace: Trace) -> Run:
    first, last = (int(trace.steps.min()), int(trace.steps.max())) if trace.rows else (None, None)
    planned = trace.config.get("trainer.total_training_steps")
    gpus = trace.config.get("trainer.n_gpus_per_node")
    seconds = trace.metrics.get("timing_s/step", np.zeros(0))
    return Run(
        id=trace.name, path=trace.name, title=trace.name, project=None, experiment=trace.name,
        algorithm=trace.setup.profile.algorithm, model="sim-7b", verl_version=None, commit=None,
        hardware=None, gpus=int(gpus) if gpus else None, started_at=None, ended_at=None,
        wall_s=float(np.nansum(seconds)) if len(seconds) else None, steps=int(trace.live.sum()),
        first_step=first, last_step=last, planned_steps=int(planned) if planned else None,
        finished=trace.finished, growing=trace.growing, segments=_segments(trace),
        sources=(SourceFile(LOG, "console", 0, "", trace.rows, first, last),), formats=("console",), tags=(),
        owner=None, baseline=None, notes="", aliases=(), config=dict(sorted(trace.config.items())),
        summary=_summary(trace), problems=_problems(trace), fingerprint=trace.name,
    )  # fmt: skip


def _summary(trace: Trace) -> tuple[MetricSummary, ...]:
    names, live = _names(trace), trace.live
    keys = glossary().canonical(names)
    return tuple(_summed(trace, name, keys[name], _values(trace, name)[live]) for name in names)


def _summed(trace: Trace, name: str, key: str, values: Floats) -> MetricSummary:
    there = values[np.isfinite(values)]
    odd = sum(bool(trace.live[row]) for row, other, _ in trace.odd if other == name)
    if not len(there):
        return MetricSummary(name, key, 0, None, None, None, None, None, None, None, odd)
    low, high, mean = float(there.min()), float(there.max()), float(there.mean())
    return MetricSummary(
        name, key, len(there), float(there[0]), float(there[-1]), low, high, mean, None, None, odd
    )


def _problems(trace: Trace) -> tuple[Problem, ...]:
    return tuple(Problem(LOG, row + 2, "truncated", "the line has lost its end") for row in trace.torn)


# --- the text ------------------------------------------------------------------------------

PREFIX = "(TaskRunner pid=4711) "


def console(trace: Trace) -> str:
    """What verl prints on the console."""
    parts = [PREFIX + line for line in pprint.pformat(_nested(trace.config)).splitlines()]
    by_row: dict[int, list[Event]] = {}
    for event in _ordered(trace):
        by_row.setdefault(event.row, []).append(event)
    parts += [line for event in by_row.get(-1, []) for line in _printed(event)]
    odd = {(row, name): raw for row, name, raw in trace.odd}
    for row in range(trace.rows):
        line = f"step:{trace.steps[row]} - " + " - ".join(
            f"{k}:{v}" for k, v in _said(trace, row, odd).items()
        )
        parts.append(PREFIX + (line[: int(0.6 * len(line))] if row in trace.torn else line))
        parts += [line for event in by_row.get(row, []) for line in _printed(event)]
    return "\n".join(parts) + "\n"


def file_log(trace: Trace) -> str:
    """What verl's FileLogger writes; JSON has no word for NaN."""
    odd = {(row, name): raw for row, name, raw in trace.odd}
    lines = []
    for row in range(trace.rows):
        data = {k: None if isinstance(v, str) else v for k, v in _said(trace, row, odd).items()}
        lines.append(json.dumps({"step": int(trace.steps[row]), "data": data}))
    return "\n".join(lines) + "\n"


def _said(trace: Trace, row: int, odd: Mapping[tuple[int, str], str]) -> dict[str, float | str]:
    names = sorted({*trace.metrics, *(name for at, name in odd if at == row)})
    found: dict[str, float | str] = {}
    for name in names:
        value = float(trace.metrics[name][row]) if name in trace.metrics else np.nan
        if (row, name) in odd:
            found[name] = odd[row, name]
        elif np.isfinite(value):
            found[name] = value
    return found


def _printed(event: Event) -> list[str]:
    if event.kind == "traceback":
        frame = '  File "main_ppo.py", line 71, in run'
        return [
            PREFIX + line for line in ("Traceback (most recent call last):", frame, "    step()", event.text)
        ]
    return [event.text if event.kind in ("exit", "sigterm") else PREFIX + event.text]


def _nested(config: Mapping[str, str]) -> dict[str, object]:
    root: dict[str, object] = {}
    for key, value in config.items():
        *path, last = key.split(".")
        place = root
        for part in path:
            place = place.setdefault(part, {})  # type: ignore[assignment]
        place[last] = _literal(value)
    return root


def _literal(text: str) -> object:
    if text in ("True", "False"):
        return text == "True"
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return text
