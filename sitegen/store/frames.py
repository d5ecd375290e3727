"""Rows of a batch of runs, taken from the archive's Parquet under canonical names.

A `Frame` is what the relations are made from. Here one comes from an archive; a rule's cases make one from
a few lines of text, so that both go through the same SQL.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from sitegen.errors import Problem
from sitegen.metrics import glossary
from sitegen.model import LogLine, Run
from sitegen.store.connection import Connection, arrow, identifier, opened, put

#: Metrics a row can carry although nothing was trained in it.
PASSIVE = frozenset({"time_testing", "time_save_checkpoint", "time_step", "global_step", "epoch", "val_loss"})

#: Live rows of a run that rules look at, at most. Of a longer run they get every k-th row, with the smallest
#: k that is enough, and the last one: as if steps had been logged with that stride; relations allow for it.
#: Values that are not finite, validations and log lines stay complete; so do pages and `sitegen query`.
ROWS = 50_000

RAW_FIELDS: tuple[tuple[str, pa.DataType], ...] = (
    ("run", pa.string()),
    ("segment", pa.int32()),
    ("step", pa.int64()),
    ("live", pa.bool_()),
    ("time", pa.float64()),
    ("cut", pa.bool_()),
    ("trains", pa.bool_()),
)
VALIDATIONS = pa.schema(
    [
        ("run", pa.string()),
        ("name", pa.string()),
        ("dataset", pa.string()),
        ("step", pa.int64()),
        ("val", pa.float64()),
        ("best_of_n", pa.float64()),
    ]
)
_CHECKS = pa.schema([(name, pa.string()) for name in ("run", "stored", "name", "dataset", "best")])
NON_FINITE = pa.schema(
    [
        ("run", pa.string()),
        ("segment", pa.int32()),
        ("step", pa.int64()),
        ("name", pa.string()),
        ("raw", pa.string()),
        ("path", pa.string()),
    ]
)


class Shelf(Protocol):
    """The part of `archive.Archive` that tables are made from."""

    def runs(self) -> tuple[str, ...]: ...
    def run(self, run: str, /) -> Run: ...
    def steps(self, run: str, /) -> Path: ...
    def columns(self, run: str, /) -> Mapping[str, str]: ...
    def log_lines(self, run: str, /) -> tuple[LogLine, ...]: ...
    def problems(self) -> tuple[Problem, ...]: ...


@dataclass(frozen=True, slots=True)
class Frame:
    """Rows of several runs.

    Args:
        keys: metrics that `raw` has a column for.
        raw: RAW_FIELDS and one double per key; a row per (run, segment, step).
        validations: finite values of the main metric of each data set, live rows only, each with the value of
            its `best_of_n` where that is logged.
        non_finite: values that are NaN or infinite.
    """

    keys: tuple[str, ...]
    raw: pa.Table
    validations: pa.Table
    non_finite: pa.Table


@dataclass(frozen=True, slots=True)
class Validation:
    """A metric that scores a data set."""

    name: str  # as logged
    dataset: str
    rank: tuple[int, ...]  # the lowest of a data set is its main metric


def validation(name: str) -> Validation | None:
    """What `name` validates, or None. Losses and auxiliary values are left out."""
    core = re.fullmatch(
        r"val-core/(?P<set>.+)/(?P<of>[^/]+)/(?P<how>mean|maj|best|worst)@(?P<n>\d+)(?P<rest>/.*)?", name
    )
    if core:
        how = ("mean", "maj", "best", "worst").index(core["how"])
        of = {"acc": 0, "reward": 2, "score": 2}.get(core["of"], 1)
        return Validation(name, core["set"], (0, how, of, -int(core["n"])))
    for place, prefix in enumerate(("val-core/", "val/test_score/", "test_score/", "val/"), start=1):
        if name.startswith("val/generations/"):  # W&B's description of the table of samples
            return None
        if name.startswith(prefix) and "loss" not in name and len(name) > len(prefix):
            return Validation(name, name.removeprefix(prefix), (place,))
    return None


def main_validations(names: Iterable[str]) -> tuple[Validation, ...]:
    """The main metric of each data set among the names one run logs."""
    best: dict[str, Validation] = {}
    for found in filter(None, map(validation, names)):
        other = best.get(found.dataset)
        if other is None or (found.rank, found.name) < (other.rank, other.name):
            best[found.dataset] = found
    return tuple(best[dataset] for dataset in sorted(best))


def best_of_n(main: Validation, names: Container[str]) -> str | None:
    """The name of the best of the N answers that `main` is the mean of, if it is among `names`."""
    mean = re.fullmatch(r"val-core/(.+)/mean@(\d+)", main.name)
    if mean is None or mean[2] == "1":
        return None
    told = (f"{where}/{mean[1]}/best@{mean[2]}/mean" for where in ("val-core", "val-aux"))
    return next((name for name in told if name in names), None)


def stride(steps: int) -> int:
    """Every how many rows of a run with `steps` live training rows rules look at: 1 is all of them."""
    return 1 if steps <= ROWS else math.ceil(steps / (ROWS - 1))


def gather(shelf: Shelf, runs: Sequence[str], keys: Iterable[str]) -> Frame:
    """Read `keys` of `runs`. Runs without steps add no rows; keys that no run logs become columns of NULL."""
    wanted = tuple(sorted(set(keys)))
    files = {run: path for run in runs if (path := shelf.steps(run)).is_file()}
    stored = {run: shelf.columns(run) for run in files}
    plan = _Plan(stored, wanted, {run: shelf.run(run).gpus for run in files})
    if not files:
        return Frame(wanted, empty_raw(wanted), VALIDATIONS.empty_table(), NON_FINITE.empty_table())
    with opened() as connection:
        put(
            connection,
            "files",
            pa.table({"run": list(files), "path": [str(path) for path in files.values()]}),
        )
        _read(connection, [str(path) for path in files.values()], plan.columns, plan.holders)
        validations = _validations(connection, plan)
        if any(shelf.run(run).steps > ROWS for run in files):
            _thin(connection, plan.trains())
        raw = arrow(connection, plan.raw())
        return Frame(wanted, raw, validations, _non_finite(connection, files))


def empty_raw(keys: Sequence[str]) -> pa.Table:
    """A raw table without rows."""
    return pa.schema([*RAW_FIELDS, *((key, pa.float64()) for key in keys)]).empty_table()


class _Plan:
    """Which stored column of which run is which metric.

    Parquet columns of several runs are united by name, and DuckDB's names ignore case. Where a column means
    something else in one run than in another (names that differ in case only), the runs are told apart.
    """

    def __init__(
        self,
        stored: Mapping[str, Mapping[str, str]],
        keys: Sequence[str],
        gpus: Mapping[str, int | None],
    ) -> None:
        self.keys = keys
        self.gpus = gpus
        self.holders: dict[str, set[str]] = {}  # lower stored name -> runs that have it
        self.sources: dict[str, dict[tuple[str, float], set[str]]] = {key: {} for key in keys}
        self.checks: list[tuple[str, str, str, str, str | None]] = []
        """Run, lower stored name, name, data set, lower stored name of its best of N."""
        self.columns: set[str] = set()
        for run, columns in stored.items():
            self._add(run, columns)

    def _add(self, run: str, columns: Mapping[str, str]) -> None:
        words = glossary()
        by_name = {name: folded(column) for column, name in columns.items()}
        for column in columns:
            self.holders.setdefault(folded(column), set()).add(run)
        for name, key in words.canonical(by_name).items():
            if key in self.sources:
                self.sources[key].setdefault(
                    (by_name[name], words.scale(name, self.gpus.get(run))), set()
                ).add(run)
                self.columns.add(by_name[name])
        for check in main_validations(by_name):
            best = best_of_n(check, by_name)
            names = [by_name[name] for name in (check.name, best) if name]
            self.checks.append((run, names[0], check.name, check.dataset, names[1] if best else None))
            self.columns.update(names)

    def _value(self, column: str, scale: float, runs: set[str]) -> str:
        value = identifier(column) + (f" * {scale!r}" if scale != 1.0 else "")
        if runs == self.holders[column]:
            return value
        return f"CASE WHEN run IN ({', '.join(map(text, sorted(runs)))}) THEN {value} END"

    def metric(self, key: str) -> str:
        """SQL of one metric over the united columns."""
        parts = [
            self._value(column, scale, runs) for (column, scale), runs in sorted(self.sources[key].items())
        ]
        return f"coalesce({', '.join(parts)})" if parts else "NULL::DOUBLE"

    def trains(self) -> str:
        """Condition that something was trained in a row of `stored`."""
        active = [self.metric(key) for key in self.keys if key not in PASSIVE and self.sources[key]]
        checks = sorted({identifier(column) for _, column, _, _, _ in self.checks})
        return f"{_any(active)} OR NOT {_any(checks)}"  # a row of values that are not finite trains as well

    def raw(self) -> str:
        """SQL that makes the raw table out of `stored`."""
        values = [f"{self.metric(key)} AS {identifier(key)}" for key in self.keys]
        listed = ", ".join(["run, segment, step, live, time, cut", f"{self.trains()} AS trains", *values])
        return f"SELECT {listed} FROM stored ORDER BY run, row"  # noqa: S608


def _read(connection: Connection, paths: list[str], columns: Iterable[str], there: Iterable[str]) -> None:
    """Table `stored`: the columns needed of those there, united over the runs, each row with its run."""
    filename = free_name("filename", there)
    names = "".join(f", p.{identifier(column)} AS {identifier(column)}" for column in sorted(columns))
    connection.execute(
        f"CREATE TABLE stored AS SELECT f.run, p.row, p.segment, p.step, p.live, p.time, p.cut{names} "  # noqa: S608
        f"FROM read_parquet($paths, union_by_name = true, filename = {text(filename)}) p "
        f"JOIN files f ON f.path = p.{identifier(filename)}",
        {"paths": paths},
    )


def _thin(connection: Connection, trains: str) -> None:
    """Take out of `stored` what rules pass over, so that no run has more than ROWS live rows.

    Rows of validations alone are counted apart; none that has a row of training beside it matters to rules.
    """
    connection.execute(
        "CREATE TABLE passed AS SELECT run, row FROM (SELECT run, row, "  # noqa: S608
        "row_number() OVER kind AS place, count(*) OVER (PARTITION BY run, trains) AS n "
        f"FROM (SELECT run, row, step, {trains} AS trains FROM stored WHERE live) "
        "WINDOW kind AS (PARTITION BY run, trains ORDER BY step)) "
        "WHERE n > $rows AND (place - 1) % ceil(n / ($rows - 1))::BIGINT != 0 AND place != n",
        {"rows": ROWS},
    )
    connection.execute(
        "DELETE FROM stored USING passed WHERE stored.run = passed.run AND stored.row = passed.row"
    )


def _validations(connection: Connection, plan: _Plan) -> pa.Table:
    if not plan.checks:
        return VALIDATIONS.empty_table()
    columns = sorted({column for check in plan.checks for column in (check[1], check[4]) if column})
    names = ["run", "stored", "name", "dataset", "best"]
    put(
        connection,
        "checks",
        pa.table(dict(zip(names, map(list, zip(*plan.checks, strict=True)), strict=True)), _CHECKS),
    )
    listed = ", ".join(map(identifier, columns))
    rows = arrow(
        connection,
        "WITH u AS (SELECT run, step, stored, val FROM (UNPIVOT "  # noqa: S608
        f"(SELECT run, step, {listed} FROM stored WHERE live) ON {listed} INTO NAME stored VALUE val)) "
        "SELECT u.run, c.name, c.dataset, u.step, u.val, b.val AS best_of_n FROM u "
        "JOIN checks c ON c.run = u.run AND c.stored = u.stored "
        "LEFT JOIN u b ON b.run = c.run AND b.stored = c.best AND b.step = u.step ORDER BY ALL",
    )
    return rows.cast(VALIDATIONS)


def _non_finite(connection: Connection, files: Mapping[str, Path]) -> pa.Table:
    extras = {run: path.with_name("extras.parquet") for run, path in files.items()}
    held = {run: str(path) for run, path in extras.items() if path.is_file()}
    if not held:
        return NON_FINITE.empty_table()
    put(connection, "extra_files", pa.table({"run": list(held), "path": list(held.values())}))
    rows = arrow(
        connection,
        "SELECT f.run, p.segment, p.step, p.name, p.raw, p.source AS path "
        "FROM read_parquet($paths, union_by_name = true, filename = true) p "
        "JOIN extra_files f ON f.path = p.filename WHERE p.kind = 'non_finite' ORDER BY ALL",
        {"paths": list(held.values())},
    )
    return rows.cast(NON_FINITE)


def _any(values: Sequence[str]) -> str:
    """Condition that one of `values` is there."""
    return f"coalesce({', '.join(values)}) IS NOT NULL" if values else "false"


def folded(column: str) -> str:
    """The name that DuckDB takes for the same: its case ends with ASCII, that of Python does not."""
    if column.isascii():
        return column.lower()
    return "".join(letter.lower() if letter.isascii() else letter for letter in column)


def free_name(name: str, taken: Iterable[str]) -> str:
    """`name`, or the like of it that is not among `taken`; case does not tell names apart."""
    used = {other.casefold() for other in taken}
    return next(
        filter(lambda free: free not in used, (name, *(f"{name}#{at}" for at in range(2, len(used) + 3))))
    )


def text(value: str) -> str:
    """`value` as a literal of SQL."""
    return "'" + value.replace("'", "''") + "'"
