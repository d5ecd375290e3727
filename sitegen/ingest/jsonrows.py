"""Records -> arrays. Real logs carry the same names line after line; each set of names becomes one matrix.

A record of plain numbers is packed into doubles as it is; packing refuses text, null, lists and objects, and
those records are looked at cell by cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from struct import Struct
from struct import error as StructError  # noqa: N812

import numpy as np

from sitegen.ingest.jsonfaults import Faults
from sitegen.ingest.source import BLOCK
from sitegen.model import Floats, Ints, NonFinite, Rows

CELLS = 1 << 22  # values that one block may span, absent ones included: 32 MB
MAX_DEPTH = 16
NON_FINITE = {
    "nan": "nan", "inf": "inf", "+inf": "inf", "-inf": "-inf",
    "infinity": "inf", "+infinity": "inf", "-infinity": "-inf",
}  # fmt: skip

Found = tuple[int, int, float, Mapping[str, object], bool]  # line, step, Unix seconds or NaN, values, cut
Cells = Callable[[Mapping[str, object]], tuple[object, ...]]  # raises KeyError where a name is missing


class _Group:
    """Records with the same names."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.cells: Cells = itemgetter(*names) if len(names) > 1 else partial(_few, names)
        self.pack = Struct(f"{len(names)}d").pack
        self.rows: list[int] = []
        self.numbers = bytearray()  # doubles, len(rows) x number of names
        self.odd_rows: list[int] = []
        self.odd: list[tuple[object, ...]] = []  # cells of the records that are not all numbers


def _few(names: tuple[str, ...], data: Mapping[str, object]) -> tuple[object, ...]:
    """What an `itemgetter` of less than two names would not return as a tuple."""
    return tuple(data[name] for name in names)


class Records:
    """Records of one block, grouped by their keys until `rows` makes arrays of them."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.steps: list[int] = []
        self.lines: list[int] = []
        self.times: list[float] = []
        self.cut: list[int] = []
        self.full = False  # the block is large enough: take its rows and go on with a new one
        self._room = BLOCK
        self._width = 0  # names of all groups; at least the number of columns
        self._groups: dict[tuple[str, ...], _Group] = {}
        self._group = _Group(())
        self._non_finite: list[NonFinite] = []
        self._columns: dict[str, Floats] = {}

    def extend(self, found: Iterable[Found]) -> bool:
        """Append records until the block is full. Returns whether it is; the rest is for the next one."""
        group = self._group
        for row, (line, step, time, data, cut) in enumerate(found, len(self.steps)):
            try:
                cells = group.cells(data)
            except KeyError:
                cells = None
            if cells is None or len(cells) != len(data):
                group = self._turn(tuple(data))
                cells = group.cells(data)
            try:
                group.numbers += group.pack(*cells)
            except (StructError, OverflowError):
                group.odd_rows.append(row)
                group.odd.append(cells)
            else:
                group.rows.append(row)
            self.steps.append(step)
            self.lines.append(line)
            self.times.append(time)
            if cut:
                self.cut.append(row)
            if self.full:
                break
        return self.full

    def spend(self, size: int) -> None:
        """Tell that `size` bytes of text were read: the block is full when there were `BLOCK` of them."""
        self._room -= size
        self.full = self.full or (self._room <= 0 and bool(self.steps))

    def _turn(self, names: tuple[str, ...]) -> _Group:
        """Go on with the group of other names."""
        if names not in self._groups:
            self._groups[names] = _Group(names)
            self._width += len(names)
        self._group = self._groups[names]
        self.full = self.full or self._width * len(self.steps) > CELLS
        return self._group

    def rows(self) -> Rows:
        """The block as arrays."""
        for names, group in self._groups.items():
            if group.rows and names:
                self._matrix(group)
            if group.odd_rows:
                rows = np.array(group.odd_rows, dtype=np.int64)
                for name, cells in zip(names, zip(*group.odd, strict=True), strict=True):
                    self._column(name, rows, cells)
        return Rows(
            steps=np.array(self.steps, dtype=np.int64),
            lines=np.array(self.lines, dtype=np.int64),
            times=np.array(self.times, dtype=np.float64),
            columns=self._columns,
            non_finite=tuple(self._non_finite),
            cut=tuple(self.cut),
        )

    def _matrix(self, group: _Group) -> None:
        """Columns of the records that are all numbers."""
        rows = np.array(group.rows, dtype=np.int64)
        numbers = np.frombuffer(group.numbers).reshape(len(rows), len(group.names))
        spread = np.full((len(self.steps), len(group.names)), np.nan)
        spread[rows] = numbers
        odd = set(np.flatnonzero(~np.isfinite(numbers).all(axis=0)).tolist())
        for i, name in enumerate(group.names):
            if i in odd:
                self._column(name, rows, numbers[:, i])
            elif name in self._columns:
                self._columns[name][rows] = numbers[:, i]
            elif self.faults.admits(name):
                self._columns[name] = spread[:, i]

    def _column(self, name: str, rows: Ints, cells: Sequence[object] | Floats) -> None:
        column = _numbers(cells)
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
            value = as_float(cell)
            if math.isfinite(value):
                return value
            self._non_finite.append(NonFinite(row, name, _spelled(value)))
        elif cell is None:
            self._non_finite.append(NonFinite(row, name, "null"))
        elif isinstance(cell, str) and cell.strip().lower() in NON_FINITE:
            self._non_finite.append(NonFinite(row, name, NON_FINITE[cell.strip().lower()]))
        elif isinstance(cell, dict) and cell and depth < MAX_DEPTH:
            for key, inner in cell.items():
                value = self._cell(f"{name}/{key}", row, inner, depth + 1)
                if math.isfinite(value):
                    self._put(f"{name}/{key}", np.array([row]), np.array([value]))
        else:
            self.faults.not_a_number(name, cell, self.lines[row])
        return math.nan

    def _put(self, name: str, rows: Ints, values: Floats) -> None:
        column = self._columns.get(name)
        if column is None and not self.faults.admits(name):
            return
        if column is None:
            column = self._columns[name] = np.full(len(self.steps), np.nan)
        column[rows] = values


def _numbers(values: Sequence[object] | Floats) -> Floats | None:
    """Array of numbers, or None as soon as one cell is text, null, a list or an object."""
    try:
        array = np.array(values)
    except (ValueError, OverflowError, TypeError):
        return None
    if array.ndim != 1 or array.dtype.kind not in "fiub":
        return None
    return array.astype(np.float64, copy=False)


def as_float(value: float) -> float:
    """A number as a double; one that is beyond all doubles is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _spelled(value: float) -> str:
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
