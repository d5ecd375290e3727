"""Cases as runs of an archive that exists only in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sitegen.cards import Table
from sitegen.errors import Problem
from sitegen.model import Floats, LogLine, Run, Segment, SourceFile
from sitegen.rules import casetext
from sitegen.store import Frame, best_of_n, empty_raw, main_validations


def stretched(text: str, rows: int, name: str) -> Floats:
    """Values of a series; a single one is as long as the case."""
    values = casetext.values(text, name)
    return np.repeat(values, rows) if len(values) == 1 else values


class CaseShelf:
    """Cases as runs of an archive that exists only in memory."""

    def __init__(self, cases: Mapping[str, Table]) -> None:
        self._cases = cases
        self._steps = {run: _steps(case) for run, case in cases.items()}

    def runs(self) -> tuple[str, ...]:
        """One run per case."""
        return tuple(self._cases)

    def run(self, id: str) -> Run:
        """Facts of the run a case describes."""
        return _run(id, self._cases[id].values, self._steps[id])

    def steps(self, id: str) -> Path:
        """There is no file; see `frame`."""
        return Path(id)

    def columns(self, id: str) -> Mapping[str, str]:
        """There is no file; see `frame`."""
        return {}

    def log_lines(self, id: str) -> tuple[LogLine, ...]:
        """Lines a case mentions."""
        lines = self._cases[id].values.get("lines", [])
        return tuple(_line(number, one) for number, one in enumerate(lines, start=1))

    def problems(self) -> tuple[Problem, ...]:
        """None that belong to no run."""
        return ()

    def rows(self, id: str) -> dict[int, int]:
        """Step -> live row."""
        return {step: row for row, step in enumerate(sorted(set(self._steps[id][0].tolist())), start=1)}

    def frame(self, keys: Sequence[str]) -> Frame:
        """Rows of all cases with a column for each of `keys`."""
        raws = [self._raw(run, keys) for run in self._cases]
        return Frame(
            tuple(keys),
            pa.concat_tables([empty_raw(keys), *raws]),
            self._validations(),
            self._non_finite(),
        )

    def _series(self, run: str) -> dict[str, Any]:
        case = self._cases[run]
        rows = len(self._steps[run][0])
        return {name: stretched(text, rows, name) for name, text in case.values.get("series", {}).items()}

    def _clock(self, run: str) -> Floats:
        text = self._cases[run].values.get("times")
        rows = len(self._steps[run][0])
        return np.full(rows, np.nan) if text is None else stretched(str(text), rows, "times")

    def _raw(self, run: str, keys: Sequence[str]) -> pa.Table:
        steps, segments, live = self._steps[run]
        series = self._series(run)
        cut = np.isin(np.arange(1, len(steps) + 1), self._cases[run].values.get("cut", []))
        blank = np.full(len(steps), np.nan)
        columns = {
            "run": [run] * len(steps),
            "segment": segments,
            "step": steps,
            "live": live,
            "time": pa.array(self._clock(run), pa.float64(), from_pandas=True),
            "cut": cut,
            "trains": np.ones(len(steps), np.bool_),
            **{key: pa.array(series.get(key, blank), from_pandas=True) for key in keys},
        }
        return pa.table(columns, schema=empty_raw(keys).schema)

    def _validations(self) -> pa.Table:
        found: list[tuple[str, str, str, int, float, float | None]] = []
        for run in self._cases:
            steps, _, live = self._steps[run]
            series = self._series(run)
            for check in main_validations(series):
                values = series[check.name]
                kept = np.flatnonzero(np.isfinite(values) & live)
                name = best_of_n(check, series)
                best = (
                    {at: float(series[name][at]) for at in np.flatnonzero(np.isfinite(series[name]))}
                    if name
                    else {}
                )
                found += [
                    (run, check.name, check.dataset, int(steps[at]), float(values[at]), best.get(at))
                    for at in kept
                ]
        return _arrow(
            found,
            {
                "run": pa.string(),
                "name": pa.string(),
                "dataset": pa.string(),
                "step": pa.int64(),
                "val": pa.float64(),
                "best_of_n": pa.float64(),
            },
        )

    def _non_finite(self) -> pa.Table:
        found = []
        for run, case in self._cases.items():
            steps, segments, _ = self._steps[run]
            for name, text in case.values.get("series", {}).items():
                for at, raw in casetext.non_finite(str(text), name).items():
                    found.append((run, int(segments[at]), int(steps[at]), name, raw, "case"))
        kinds = {"run": pa.string(), "segment": pa.int32(), "step": pa.int64(), "name": pa.string()}
        return _arrow(found, kinds | {"raw": pa.string(), "path": pa.string()})


def _arrow(rows: Sequence[tuple[Any, ...]], kinds: Mapping[str, pa.DataType]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(kinds)
    return pa.table(
        {name: pa.array(column, kind) for (name, kind), column in zip(kinds.items(), columns, strict=True)}
    )


def _steps(case: Table) -> tuple[Any, Any, Any]:
    """Steps, segment numbers and liveness of the rows of a case."""
    stride = int(case.values.get("stride", 1))
    spans = case.values.get("segments")
    if spans is None:
        first = int(case.values.get("first_step", 1))
        spans = [[first, first + (casetext.length(case) - 1) * stride]] if casetext.length(case) else []
    parts = [np.arange(first, last + 1, stride) for first, last in spans]
    steps = np.concatenate([*parts, np.zeros(0, np.int64)]).astype(np.int64)
    segments = np.repeat(np.arange(len(parts), dtype=np.int32), [len(part) for part in parts])
    latest = {int(step): int(number) for step, number in zip(steps, segments, strict=True)}
    live = np.array(
        [latest[int(step)] == number for step, number in zip(steps, segments, strict=True)], np.bool_
    )
    return steps, segments, live


def _line(number: int, given: Mapping[str, Any]) -> LogLine:
    return LogLine(
        path="case.log",
        line=int(given.get("line", number)),
        time=None,
        level=str(given.get("level", "error")),
        kind=str(given["kind"]),
        step=given.get("step"),
        text=str(given.get("text", "")),
    )


def _run(id: str, given: Mapping[str, Any], rows: tuple[Any, Any, Any]) -> Run:
    steps, segments, _ = rows
    facts = {str(key): str(value) for key, value in given.get("facts", {}).items()}
    distinct = sorted(set(steps.tolist()))
    first, last = (distinct[0], distinct[-1]) if distinct else (None, None)
    return Run(
        id=id,
        path="case.log",
        title=id,
        project=None,
        experiment=given.get("experiment"),
        algorithm=given.get("algorithm"),
        model=None,
        verl_version=facts.get("verl_version"),
        commit=facts.get("commit"),
        hardware=given.get("hardware"),
        gpus=None,
        started_at=None,
        ended_at=given.get("ended_at"),
        wall_s=None,
        steps=len(distinct),
        first_step=first,
        last_step=last,
        planned_steps=given.get("planned"),
        finished=bool(given.get("finished", False)),
        growing=bool(given.get("growing", False)),
        segments=tuple(_segment(one, steps[segments == one]) for one in sorted(set(segments.tolist()))),
        sources=(SourceFile("case.log", "console", 0, "", len(steps), first, last),),
        formats=tuple(given.get("formats", ("console",))),
        tags=(),
        owner=None,
        baseline=None,
        notes="",
        aliases=(),
        config={str(key): str(value) for key, value in given.get("config", {}).items()},
        summary=(),
        problems=tuple(_problem(one) for one in given.get("problems", [])),
        fingerprint=id,
        presets=tuple(given.get("presets", ())),
        facts=facts,
    )


def _segment(number: int, steps: Any) -> Segment:
    reason = "rewind" if number else "start"
    return Segment(number, int(steps[0]), int(steps[-1]), len(steps), "case.log", reason)


def _problem(given: Mapping[str, Any]) -> Problem:
    return Problem("case.log", given.get("line"), str(given["kind"]), str(given.get("message", "")))
