"""The header of a CSV export: which column is the step, the time, the run, and which are metrics."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

STEPS = ("step", "_step", "Step", "global_step", "training/global_step", "trainer/global_step", "iteration")
_TIMES = ("_timestamp", "timestamp", "wall_time", "Wall time", "time")
_RUNS = ("run_id", "run_uuid", "Run ID", "run_name", "run", "Run", "Name", "experiment")
_KEYS = ("key", "metric", "metric_name", "Metric", "Key")
_VALUES = ("value", "Value")
_UNNAMED = re.compile(r"|Unnamed: \d+|_runtime|index", re.IGNORECASE)  # what pandas and W&B add
_EXTREME = re.compile(r"__(MIN|MAX)\Z")
_BETWEEN = " - "  # run and metric in W&B's export of a chart


@dataclass(frozen=True, slots=True)
class Column:
    """A metric of one run in a column of its own."""

    place: int
    run: str  # "" where the file is about one run
    name: str


@dataclass(frozen=True, slots=True)
class Header:
    """What the columns mean. Places are from 0; None = there is no such column."""

    width: int
    delimiter: str
    step: int
    time: int | None
    run: int | None  # a column that names the run of each line
    key: int | None  # long form: a column that names the metric of each line …
    value: int | None  # … and one with its value
    columns: tuple[Column, ...]  # wide form: metrics
    extremes: tuple[tuple[int, int], ...] = ()  # W&B: columns of the least and the greatest value in a bin

    @property
    def long(self) -> bool:
        """Whether each line is one value."""
        return self.key is not None

    @property
    def runs(self) -> tuple[str, ...]:
        """Runs that have columns of their own."""
        return tuple(dict.fromkeys(column.run for column in self.columns if column.run))


def header(line: str) -> Header | None:
    """The header, None when the line is none: there is no step, or nothing beside it."""
    delimiter = max(",\t;", key=line.count)
    try:
        names = next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter, strict=True))
    except (csv.Error, StopIteration):
        return None
    names = [name.strip().lstrip("\ufeff") for name in names]
    step = _first(names, STEPS)
    if step is None or len(names) < 2 or len(set(names)) < len(names) - names.count(""):
        return None
    time, key, value = _first(names, _TIMES), _first(names, _KEYS), _first(names, _VALUES)
    if key is not None and value is not None:
        run = _first(names, _RUNS)
        return Header(len(names), delimiter, step, time, run, key, value, ())
    wide = _wide(names, {step, time}, delimiter)
    return wide if wide.columns else None


def _first(names: Sequence[str], wanted: Sequence[str]) -> int | None:
    return next((names.index(name) for name in wanted if name in names), None)


def _wide(names: Sequence[str], taken: set[int | None], delimiter: str) -> Header:
    step, time = _first(names, STEPS), _first(names, _TIMES)
    run = _first(names, _RUNS)
    of_chart = any(_EXTREME.search(name) and _BETWEEN in name for name in names)
    columns, ends = [], {}
    for place, name in enumerate(names):
        if place in taken or place == run or _UNNAMED.fullmatch(name):
            continue
        if end := _EXTREME.search(name):
            ends[(name[: end.start()], end[1])] = place
            continue
        owner, between, metric = name.rpartition(_BETWEEN) if of_chart else ("", "", name)
        if metric != "_step":
            columns.append(Column(place, owner, metric if between or not of_chart else name))
    pairs = [
        (ends[(name, "MIN")], ends[(name, "MAX")])
        for name, end in ends
        if end == "MIN" and (name, "MAX") in ends
    ]
    assert step is not None  # looked up by the caller
    return Header(len(names), delimiter, step, time, run, None, None, tuple(columns), tuple(pairs))


def number(text: str) -> float | str | None:
    """Value of a cell: None when it is empty, the text when it is no number."""
    text = text.strip()
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        return text


def step(text: str) -> int | None:
    """Step of a cell; pandas writes whole numbers as `3.0` where a column has gaps."""
    value = number(text)
    return int(value) if isinstance(value, float) and math.isfinite(value) and value.is_integer() else None


def seconds(text: str) -> float:
    """Unix seconds of a cell in seconds, milliseconds or ISO form; NaN for anything else."""
    value = number(text)
    if isinstance(value, float):
        scaled = value / 1000 if value > 1e11 else value
        return scaled if 1e9 <= scaled < 1e11 else math.nan
    try:
        time = datetime.fromisoformat(value or "")
    except ValueError:
        return math.nan
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def cells(lines: Iterator[str], delimiter: str) -> Iterator[list[str] | None]:
    """Cells of each line; None for one that is no CSV."""
    reader = csv.reader(lines, delimiter=delimiter)
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error:
            yield None
