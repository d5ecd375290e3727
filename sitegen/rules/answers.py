"""The answer of a card's SQL, cut into one series per run (per run and data set for validations)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sitegen.errors import CardError
from sitegen.model import Floats, Ints, Severity
from sitegen.rules.definition import Definition
from sitegen.store import RefusedError, Store

Flags = NDArray[np.bool_]

SEVERITIES: Mapping[str | None, Severity | None] = {None: None, **{one.word: one for one in Severity}}


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows of one series in the order of the relation's own index.

    `row` is 0 and `step` is None where an event came before the first row.
    """

    run: str
    name: str | None  # validation metric
    row: Ints  # 1-based row of `steps`
    idx: Ints  # own index of evals and events, else the row
    steps: tuple[int | None, ...]
    value: Floats
    threshold: Floats
    hit: Flags
    hold: Flags
    severity: tuple[Severity | None, ...] | None
    extra: Mapping[str, tuple[Any, ...]]


def ask(store: Store, rule: Definition, params: Mapping[str, object]) -> pa.Table:
    """Run the SQL of a rule. Raises CardError that names the card and its line."""
    try:
        return store.table(rule.sql, params)
    except RefusedError as error:
        line = rule.sql_line + error.line - 1
        raise CardError(f"{rule.path}:{line}: {rule.code}: {error.message}") from None


def evaluated(table: pa.Table) -> dict[str, int]:
    """Rows of each run whose condition was true or false; runs without a row are left out."""
    runs, names = _runs(table)
    rows = np.bincount(runs, minlength=len(names))
    known = np.bincount(runs, np.asarray(pc.is_valid(table["hit"])), len(names))
    return {name: int(known[at]) for at, name in enumerate(names) if rows[at]}


def series(rule: Definition, table: pa.Table) -> Iterator[Answer]:
    """The answer in series, by run and name. Runs without a hit are left out before anything is sorted."""
    runs, names = _runs(table)
    hits = np.bincount(runs, np.asarray(pc.fill_null(table["hit"].cast(pa.bool_()), False)), len(names))
    sick = ordered(rule, table.filter(pa.array(hits[runs] > 0)))
    if not len(sick):
        return
    found = np.asarray(sick["run"].to_pylist(), dtype=object)
    sets = np.asarray(sick["name"].to_pylist(), dtype=object) if rule.relation == "evals" else None
    change = found[1:] != found[:-1]
    if sets is not None:
        change |= sets[1:] != sets[:-1]
    columns = _Columns(rule, sick)
    for first, end in pairwise([0, *(np.flatnonzero(change) + 1).tolist(), len(found)]):
        yield columns.answer(str(found[first]), str(sets[first]) if sets is not None else None, first, end)


def _runs(table: pa.Table) -> tuple[Ints, list[str]]:
    """Number of the run of each row, and the runs by number."""
    words = _numbered(table["run"])
    return np.asarray(words.indices, np.int64), words.dictionary.to_pylist()


def _numbered(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """The different texts of a column, and which each row has: relations number their runs already."""
    whole = column.combine_chunks()
    return whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()


def ordered(rule: Definition, table: pa.Table) -> pa.Table:
    """Rows by run, data set and own index: numbers sort many times faster than texts."""
    if rule.relation == "evals" and "name" not in table.column_names:
        table = table.append_column("name", pa.array([""] * len(table)))
    texts = ["run", "name"] if rule.relation == "evals" else ["run"]
    index = {"evals": "idx", "events": "idx"}.get(rule.relation, "row")
    keys = [_ranks(table[name]) for name in texts]
    if index in table.column_names:
        keys.append(_numbers(table[index]))
    order = np.lexsort(keys[::-1])
    return table if (order[1:] > order[:-1]).all() else table.take(order)


def _ranks(column: pa.ChunkedArray) -> Ints:
    """Place of each text among the different texts of the column."""
    words = _numbered(column)
    place = np.argsort(np.argsort(np.asarray(words.dictionary.to_pylist(), dtype=object)))
    return np.asarray(place[np.asarray(words.indices)], np.int64)


def _numbers(column: pa.ChunkedArray) -> Ints:
    return np.asarray(pc.fill_null(column.cast(pa.int64()), 0), np.int64)


class _Columns:
    """Columns of a whole answer as numpy, cut on demand."""

    def __init__(self, rule: Definition, table: pa.Table) -> None:
        self.rule = rule
        self.table = table
        self.value = self._floats("value")
        self.threshold = self._floats("threshold")
        self.hit = self._flags("hit")
        self.hold = self._flags("hold")
        self.row = self._ints("row")
        self.idx = self._ints("idx" if "idx" in table.column_names else "row")

    def answer(self, run: str, name: str | None, first: int, end: int) -> Answer:
        cut = slice(first, end)
        part = self.table.slice(first, end - first) if self.hit[cut].any() else None
        return Answer(
            run=run,
            name=name,
            row=self.row[cut],
            idx=self.idx[cut],
            steps=tuple(self._listed(part, "step")),
            value=self.value[cut],
            threshold=self.threshold[cut],
            hit=self.hit[cut],
            hold=self.hold[cut],
            severity=self._severities(part),
            extra={extra: tuple(self._listed(part, extra)) for extra in self.rule.extra},
        )

    def _listed(self, part: pa.Table | None, name: str) -> list[Any]:
        """Values of a series that has a hit; nobody asks for the others."""
        if part is None:
            return []
        return part[name].to_pylist() if name in part.column_names else [None] * len(part)

    def _severities(self, part: pa.Table | None) -> tuple[Severity | None, ...] | None:
        if part is None or "severity" not in part.column_names:
            return None
        words = part["severity"].to_pylist()
        try:
            return tuple(SEVERITIES[word] for word in words)
        except KeyError as error:
            bad = error.args[0]
            where = f"{self.rule.path}:{self.rule.sql_line}: {self.rule.code}"
            raise CardError(
                f"{where}: severity must be info, warning, error or critical, not {bad!r}"
            ) from None

    def _flags(self, name: str) -> Flags:
        if name not in self.table.column_names:
            return np.zeros(len(self.table), np.bool_)
        column = self.table[name].cast(pa.bool_())
        return np.asarray(pc.fill_null(column, False), np.bool_)

    def _floats(self, name: str) -> Floats:
        if name not in self.table.column_names:
            return np.full(len(self.table), np.nan)
        return np.asarray(self.table[name].cast(pa.float64()), np.float64)

    def _ints(self, name: str) -> Ints:
        if name not in self.table.column_names:
            return np.zeros(len(self.table), np.int64)
        return _numbers(self.table[name])
