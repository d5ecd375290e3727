"""One JSON object per line -> Rows. Shared by the formats that differ only in where step and values lie.

Speed comes from two habits of real logs: most lines are strict JSON (orjson; a line with a NaN token
falls back to `json`), and most records carry the keys of the record before, so that a block becomes
one numpy array per set of keys instead of one float at a time.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import orjson

from sitegen.errors import Problem
from sitegen.ingest.source import Source, blocks
from sitegen.model import Batch, Floats, NonFinite, Rows

Record = tuple[int, float, Mapping[str, object]]  # step, Unix seconds or NaN, values
Unpack = Callable[[object], Record | str]  # object of a line -> record, or why it is none

SHOWN = 20  # bad lines listed one by one; the rest is counted
MAX_DEPTH = 16
MAX_NAMES = 5_000  # names per file; more are no metrics but data (a sample's id as key, say)
CELLS = 1 << 22  # values that one batch may span, absent ones included: 32 MB
_NON_FINITE = {
    "nan": "nan", "inf": "inf", "+inf": "inf", "-inf": "-inf",
    "infinity": "inf", "+infinity": "inf", "-infinity": "-inf",
}  # fmt: skip
_PAIR_END = re.compile(rb',\s*"')
_GLUED = re.compile(rb'.\{\s*"(?:step|_step|global_step)"\s*:', re.DOTALL)


def loads(line: bytes) -> object:
    """Value of a JSON line; NaN and Infinity tokens are accepted, a repeated key keeps its last value.

    Raises ValueError.
    """
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        pass
    try:
        return _storable(json.loads(line.decode("utf-8", "replace")))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _storable(value: object) -> object:
    """The value with half surrogates, which JSON can escape and UTF-8 cannot hold, replaced."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_storable(each) for each in value]
    if isinstance(value, dict):
        return {_storable(key): _storable(each) for key, each in value.items()}
    return value


def whole(value: object) -> int | None:
    """A step number: an int, or a float or text that spells one. None for anything else."""
    if isinstance(value, str) and re.fullmatch(r"\s*\d{1,18}\s*", value):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if -(2**63) <= value < 2**63 else None


def objects(head: bytes, limit: int = 20) -> tuple[list[dict[str, object]], int]:
    """Objects among the first `limit` non-empty lines of a head, and how many lines were looked at.

    The last line of a head is usually cut; it counts only when it is whole or the only one.
    """
    lines = [line for line in head.split(b"\n") if line.strip(b" \t\r\0")]
    if len(lines) > 1 and not head.endswith(b"\n"):
        lines.pop()
    found = []
    for line in lines[:limit]:
        try:
            value = loads(line.strip(b"\0 \t\r"))
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found, min(len(lines), limit)


def read(source: Source, unpack: Unpack, prefix: re.Pattern[bytes] | None = None) -> Iterator[Batch]:
    """Batches of a source, one per block of about 4 MB, and last what could not be read.

    `prefix` matches what may stand before the object on a line.
    """
    faults = Faults(source.path)
    with source.open() as stream:
        for first, lines, is_whole in blocks(stream):
            records = Records(faults)
            if prefix is not None:
                lines = [_without(prefix, line) for line in lines]
            for number, line in enumerate(lines, first):
                try:
                    value = orjson.loads(line)  # one array of all lines would be slower: measured
                except orjson.JSONDecodeError:
                    _odd_line(line.strip(b"\0 \t\r"), number, is_whole, records, unpack)
                else:
                    _value(value, number, records, unpack)
                if records.width * len(records.steps) > CELLS:
                    yield Batch(rows=records.rows())
                    records = Records(faults)
            if records.steps:
                yield Batch(rows=records.rows())
    if problems := faults.problems():
        yield Batch(problems=problems)


def _without(prefix: re.Pattern[bytes], line: bytes) -> bytes:
    if line[:1] == b"{":
        return line
    match = prefix.match(line)
    return line[match.end() :] if match else line


def _value(value: object, number: int, records: Records, unpack: Unpack) -> None:
    found = unpack(value)
    if isinstance(found, str):
        records.faults.bad(number, found)
    else:
        records.add(number, *found)


def _odd_line(line: bytes, number: int, is_whole: bool, records: Records, unpack: Unpack) -> None:
    """A line that is not strict JSON: empty, with NaN tokens, torn, or two writes glued together."""
    if not line:
        return
    try:
        value = loads(line)
    except ValueError:
        _torn_line(line, number, is_whole, records, unpack)
        return
    _value(value, number, records, unpack)


def _torn_line(line: bytes, number: int, is_whole: bool, records: Records, unpack: Unpack) -> None:
    """Keep the pairs before the tear, and a whole record that a restarted writer glued behind it."""
    glued = _GLUED.search(line)
    piece = line[: glued.start() + 1] if glued else line
    value = salvage(piece)
    found = unpack(value) if value is not None else "it is not JSON"
    kept = not isinstance(found, str) and bool(found[2])
    if kept and not isinstance(found, str):
        records.add(number, *found, cut=True)
    last = not is_whole and glued is None
    if last or kept or line.startswith(b"{"):
        records.faults.torn(number, last, kept)
    else:
        records.faults.bad(number, "it is not JSON")
    if glued:
        _odd_line(line[glued.start() + 1 :], number, is_whole, records, unpack)


def salvage(line: bytes) -> object | None:
    """The object at the start of a torn line, without its last pair, which may be cut; None for none."""
    if not line.startswith(b"{"):
        return None
    ends = [match.start() for match in _PAIR_END.finditer(line)]
    for end in reversed(ends[-3:]):  # a `,"` inside text is rare; three tries are enough
        for closing in (b"}", b"}}"):
            try:
                return loads(line[:end] + closing)
            except ValueError:
                continue
    return None


class Records:
    """Records of one block, grouped by their keys until `rows` makes arrays of them."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.steps: list[int] = []
        self.lines: list[int] = []
        self.times: list[float] = []
        self.cut: list[int] = []
        self.width = 0  # names of all groups; at least the number of columns
        self._groups: dict[tuple[str, ...], tuple[list[int], list[list[object]]]] = {}
        self._keys: tuple[str, ...] = ()
        self._rows: list[int] = []
        self._values: list[list[object]] = []
        self._non_finite: list[NonFinite] = []
        self._columns: dict[str, Floats] = {}

    def add(self, line: int, step: int, time: float, data: Mapping[str, object], cut: bool = False) -> None:
        """Append one record."""
        keys = tuple(data)
        if keys != self._keys or not self.steps:
            self._keys = keys
            if keys not in self._groups:
                self.width += len(keys)
            self._rows, self._values = self._groups.setdefault(keys, ([], []))
        row = len(self.steps)
        self._rows.append(row)
        self._values.append(list(data.values()))
        self.steps.append(step)
        self.lines.append(line)
        self.times.append(time)
        if cut:
            self.cut.append(row)

    def rows(self) -> Rows:
        """The block as arrays."""
        for keys, (rows, values) in self._groups.items():
            self._group(keys, np.array(rows, dtype=np.int64), values)
        return Rows(
            steps=np.array(self.steps, dtype=np.int64),
            lines=np.array(self.lines, dtype=np.int64),
            times=np.array(self.times, dtype=np.float64),
            columns=self._columns,
            non_finite=tuple(self._non_finite),
            cut=tuple(self.cut),
        )

    def _group(self, keys: tuple[str, ...], rows: np.ndarray, values: list[list[object]]) -> None:
        if not keys:
            return
        matrix = _numbers(values, 2)
        if matrix is not None and np.isfinite(matrix).all():
            for name, column in zip(keys, np.ascontiguousarray(matrix.T), strict=True):
                self._put(name, rows, column)
            return
        for name, cells in zip(keys, zip(*values, strict=True), strict=True):
            self._column(name, rows, cells)

    def _column(self, name: str, rows: np.ndarray, cells: Sequence[object]) -> None:
        column = _numbers(cells, 1)
        if column is None:
            column = np.array([self._cell(name, int(r), c, 0) for r, c in zip(rows, cells, strict=True)])
        else:
            for i in np.flatnonzero(~np.isfinite(column)):
                self._non_finite.append(NonFinite(int(rows[i]), name, _spelled(column[i])))
            column = np.where(np.isfinite(column), column, np.nan)
        if np.isfinite(column).any():
            self._put(name, rows, column)

    def _cell(self, name: str, row: int, cell: object, depth: int) -> float:
        """Finite value of one cell, NaN for anything else, which is recorded where it belongs."""
        if isinstance(cell, (bool, int, float)):
            value = _float(cell)
            if math.isfinite(value):
                return value
            self._non_finite.append(NonFinite(row, name, _spelled(value)))
        elif cell is None:
            self._non_finite.append(NonFinite(row, name, "null"))
        elif isinstance(cell, str) and cell.strip().lower() in _NON_FINITE:
            self._non_finite.append(NonFinite(row, name, _NON_FINITE[cell.strip().lower()]))
        elif isinstance(cell, dict) and cell and depth < MAX_DEPTH:
            for key, inner in cell.items():
                value = self._cell(f"{name}/{key}", row, inner, depth + 1)
                if math.isfinite(value):
                    self._put(f"{name}/{key}", np.array([row]), np.array([value]))
        else:
            self.faults.not_a_number(name, cell, self.lines[row])
        return math.nan

    def _put(self, name: str, rows: np.ndarray, values: Floats) -> None:
        column = self._columns.get(name)
        if column is None and not self.faults.admits(name):
            return
        if column is None and len(rows) == len(self.steps):
            self._columns[name] = values
            return
        if column is None:
            column = self._columns[name] = np.full(len(self.steps), np.nan)
        column[rows] = values


def _numbers(values: Sequence[object], ndim: int) -> Floats | None:
    """Array of numbers, or None as soon as one cell is text, null, a list or an object."""
    try:
        array = np.array(values)
    except (ValueError, OverflowError, TypeError):
        return None
    if array.ndim != ndim or array.dtype.kind not in "fiub":
        return None
    return array.astype(np.float64, copy=False)


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _spelled(value: float) -> str:
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


@dataclass
class Faults:
    """What could not be read in one file, counted so that a million bad lines stay a few problems."""

    path: str
    listed: list[Problem] = field(default_factory=list)
    more: int = 0
    more_from: int = 0
    texts: dict[str, tuple[str, int, int]] = field(default_factory=dict)  # name -> type, records, line
    names: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)

    def bad(self, line: int, why: str) -> None:
        """A line without a record."""
        self._add(Problem(self.path, line, "malformed", f"the line is no step record: {why}"))

    def torn(self, line: int, last: bool, kept: bool) -> None:
        """A line that ends in the middle of a record."""
        where = "the last line" if last else "the line"
        rest = "the pairs before the tear were kept" if kept else "nothing of it could be kept"
        hint = "Copy the file again if the run goes on; else nothing can be done." if last else ""
        self._add(Problem(self.path, line, "truncated", f"{where} is torn: {rest}", hint))

    def not_a_number(self, name: str, value: object, line: int) -> None:
        """A value that no metric column can hold."""
        kind, records, first = self.texts.get(name, (type(value).__name__, 0, line))
        if name in self.texts or len(self.texts) < 1000:
            self.texts[name] = (kind, records + 1, first)

    def admits(self, name: str) -> bool:
        """Whether a metric may be stored: it is known already, or there is room for another name."""
        if name in self.names:
            return True
        if len(self.names) < MAX_NAMES:
            self.names.add(name)
            return True
        if len(self.refused) < MAX_NAMES:
            self.refused.add(name)
        return False

    def problems(self) -> tuple[Problem, ...]:
        """Everything noted, bad lines first."""
        found = list(self.listed)
        if self.refused:
            n = f"at least {MAX_NAMES}" if len(self.refused) == MAX_NAMES else str(len(self.refused))
            what = f"more than {MAX_NAMES} metric names; {n} were left out, such as {min(self.refused)[:80]}"
            found.append(
                Problem(self.path, None, "too-many", what, "Do not log the id of a sample as a name.")
            )
        if self.more:
            found.append(
                Problem(self.path, self.more_from, "malformed", f"{self.more} more lines are no step record")
            )
        if self.texts:
            found.append(self._texts())
        return tuple(found)

    def _texts(self) -> Problem:
        shown = [
            f"{name[:80]} ({kind}, {records} records, first in line {line})"
            for name, (kind, records, line) in list(self.texts.items())[:5]
        ]
        rest = len(self.texts) - len(shown)
        message = "values that are not numbers were left out: " + ", ".join(shown)
        return Problem(self.path, None, "not-a-number", message + (f" and {rest} more names" if rest else ""))

    def _add(self, problem: Problem) -> None:
        if len(self.listed) < SHOWN:
            self.listed.append(problem)
        else:
            self.more_from = self.more_from or problem.line or 0
            self.more += 1
