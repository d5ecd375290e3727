"""Views over the Parquet files of many runs: samples, raw_samples, steps, non_finite, generations, spans.

Runs that log the same columns are read together; each such group is one branch of the view, under the exact
names of its files. So names that differ in case only never meet, and with a filter on `run` only its file is
read (and the first of each group, for its schema).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sitegen.metrics import glossary
from sitegen.store.connection import Connection, identifier, put
from sitegen.store.frames import Shelf, free_name, text

VIEWS = frozenset({"samples", "raw_samples", "steps", "non_finite", "generations", "spans"})

#: A file belongs to the run whose folder it lies in; a filter on it drops files before they are opened.
RUN = "parse_path(filename)[-2]"
#: What a metric without a name is called in SQL, which has no empty identifiers.
NAMELESS = "nameless"


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that store the same columns."""

    number: int
    columns: tuple[tuple[str, str], ...]  # stored column, name as logged
    paths: tuple[str, ...]

    @property
    def files(self) -> str:
        """The Parquet files as a table of SQL: their columns and their path, whatever metrics are called."""
        stored = [column for column, _ in self.columns]
        name = free_name("filename", stored)
        listed = ", ".join(map(text, self.paths))
        return f"read_parquet([{listed}], filename = {text(name)}){self._aliases(name)}"

    @property
    def run(self) -> str:
        """SQL of the run of a row of `files`."""
        return RUN.replace(
            "filename", identifier(free_name("filename", [column for column, _ in self.columns]))
        )

    def column(self, stored: str) -> str:
        """A stored column, quoted for SQL on `files`."""
        return identifier(stored or free_name(NAMELESS, [column for column, _ in self.columns]))

    def _aliases(self, filename: str) -> str:
        """Names by position, where a column has none to be called by."""
        if all(column for column, _ in self.columns):
            return ""
        names = [*map(self.column, pq.read_schema(self.paths[0]).names), identifier(filename)]
        return f" AS found({', '.join(names)})"


class Long:
    """Makes the views for some runs of an archive."""

    def __init__(self, shelf: Shelf, runs: Sequence[str]) -> None:
        self._shelf = shelf
        self._runs = runs

    def paths(self) -> list[str]:
        """Files the views read."""
        steps = [self._shelf.steps(run) for run in self._runs]
        extras = [path.with_name("extras.parquet") for path in steps]
        more = (*self._held("samples.parquet"), *self._held("traces.parquet"))
        return [str(path) for path in (*steps, *extras, *more) if path.is_file()]

    def create(self, connection: Connection, name: str) -> None:
        """Make one of VIEWS."""
        groups = self._groups()
        if name in ("samples", "raw_samples"):
            self._name_columns(connection, groups)
        branches = list(_BRANCHES[name](groups))
        if name in ("raw_samples", "non_finite"):
            branches += self._extras(name)
        if name == "generations":
            branches += self._generations()
        if name == "spans":
            branches += self._spans()
        sql = " UNION ALL BY NAME ".join([_EMPTY[name](), *branches])
        connection.execute(f"CREATE VIEW {name} AS {sql}")

    def _groups(self) -> tuple[Group, ...]:
        paths: dict[tuple[tuple[tuple[str, str], ...], str], list[str]] = {}
        for run in self._runs:
            path = self._shelf.steps(run)
            if path.is_file():
                columns = self._shelf.columns(run)
                alone = run if "" in columns else ""  # a column without a name is known by its position
                paths.setdefault((tuple(sorted(columns.items())), alone), []).append(str(path))
        return tuple(Group(at, key[0], tuple(found)) for at, (key, found) in enumerate(paths.items()))

    def _name_columns(self, connection: Connection, groups: Sequence[Group]) -> None:
        """Table `named`: what each stored column of each group is."""
        rows = [row for group in groups for row in _names(group)]
        columns = list(zip(*rows, strict=True)) or [(), (), (), (), ()]
        kinds = (pa.int64(), pa.string(), pa.string(), pa.string(), pa.float64())
        arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
        put(connection, "named", pa.table(arrays, names=["grp", "stored", "name", "metric", "scale"]))

    def _held(self, name: str) -> list[Path]:
        """The file `name` of the runs that have one: dumped generations, or traces."""
        found = (self._shelf.steps(run).with_name(name) for run in self._runs)
        return [path for path in found if path.is_file()]

    def _generations(self) -> Iterator[str]:
        if held := [text(str(path)) for path in self._held("samples.parquet")]:
            yield (
                f'SELECT {RUN} AS run, step, kind, "index" AS sample, input, output, '  # noqa: S608
                "expected AS ground_truth, score, extra "
                f"FROM read_parquet([{', '.join(held)}], filename = true)"
            )

    def _spans(self) -> Iterator[str]:
        if held := [text(str(path)) for path in self._held("traces.parquet")]:
            listed = ", ".join(name for name, _ in _SPANS[1:])
            files = f"read_parquet([{', '.join(held)}], filename = true)"
            yield f"SELECT {RUN} AS run, {listed} FROM {files}"  # noqa: S608

    def _extras(self, name: str) -> Iterator[str]:
        """What one finite column could not hold."""
        extras = [self._shelf.steps(run).with_name("extras.parquet") for run in self._runs]
        held = [text(str(path)) for path in extras if path.is_file()]
        if not held:
            return
        files = f"read_parquet([{', '.join(held)}], filename = true)"
        if name == "raw_samples":
            yield (
                f"SELECT {RUN} AS run, segment, step, name, value, source FROM {files} "  # noqa: S608
                "WHERE kind != 'non_finite' AND value IS NOT NULL"
            )
        else:
            keys = ", ".join(f"{text(raw)}: {text(key)}" for raw, key in _exact_names())
            metric = f"coalesce((MAP {{{keys}}})[name], name) AS metric"
            yield (
                f"SELECT {RUN} AS run, segment, step, {metric}, raw, name "  # noqa: S608
                f"FROM {files} WHERE kind = 'non_finite'"
            )


def _exact_names() -> list[tuple[str, str]]:
    return [(name, metric.key) for metric in glossary().metrics for name in metric.names]


def _names(group: Group) -> Iterator[tuple[int, str, str, str, float]]:
    words = glossary()
    keys = words.canonical(name for _, name in group.columns)
    for at, (_, name) in enumerate(group.columns):
        yield group.number, f"m{at}", name, keys[name], words.scale(name)


def _unpivoted(group: Group, columns: str) -> str:
    """Rows of a group, one per value. Columns go by number: a metric may be called `run` or `path`."""
    named = ", ".join(f"{group.column(stored)} AS m{at}" for at, (stored, _) in enumerate(group.columns))
    listed = ", ".join(f"m{at}" for at in range(len(group.columns)))
    return (
        f"SELECT {columns} FROM (UNPIVOT (SELECT {group.run} AS run, segment, step, source AS path, {named} "  # noqa: S608
        f"FROM {group.files}) ON {listed} INTO NAME stored VALUE number) u "
        f"JOIN named n ON n.grp = {group.number} AND n.stored = u.stored"
    )


def _samples(groups: Sequence[Group]) -> Iterator[str]:
    for group in groups:
        if group.columns:
            yield _unpivoted(group, "u.run, u.segment, u.step, n.metric, u.number * n.scale AS value")


def _raw_samples(groups: Sequence[Group]) -> Iterator[str]:
    for group in groups:
        if group.columns:
            yield _unpivoted(group, "u.run, u.segment, u.step, n.name, u.number AS value, u.path AS source")


def _steps(groups: Sequence[Group]) -> Iterator[str]:
    known = {metric.key for metric in glossary().metrics}
    for group in groups:
        values = [
            f"{group.column(stored)} * {scale!r} AS {identifier(key)}"
            for (stored, _), (_, _, _, key, scale) in zip(group.columns, _names(group), strict=True)
            if key in known
        ]
        listed = ", ".join([f"{group.run} AS run", "segment", "step", "time", "cut", *values])
        yield f"SELECT {listed} FROM {group.files} WHERE live"  # noqa: S608


def _nothing(columns: Sequence[tuple[str, str]]) -> str:
    return f"SELECT {', '.join(f'NULL::{kind} AS {identifier(name)}' for name, kind in columns)} WHERE false"


_PLACE = [("run", "VARCHAR"), ("segment", "INTEGER"), ("step", "BIGINT")]
_SPANS = [
    *(
        ("run", "VARCHAR"),
        ("step", "BIGINT"),
        ("sample", "BIGINT"),
        ("span", "VARCHAR"),
        ("parent", "VARCHAR"),
    ),
    *(("name", "VARCHAR"), ("kind", "VARCHAR"), ("status", "VARCHAR")),
    *(("start_s", "DOUBLE"), ("duration_s", "DOUBLE"), ("attributes", "VARCHAR")),
    *(("trace", "VARCHAR"), ("rollout", "BIGINT"), ("validation", "BOOLEAN"), ("tool", "VARCHAR")),
    *(("arguments", "VARCHAR"), ("result", "VARCHAR"), ("error", "VARCHAR")),
]
_EMPTY = {
    "spans": lambda: _nothing(_SPANS),
    "samples": lambda: _nothing([*_PLACE, ("metric", "VARCHAR"), ("value", "DOUBLE")]),
    "raw_samples": lambda: _nothing(
        [*_PLACE, ("name", "VARCHAR"), ("value", "DOUBLE"), ("source", "VARCHAR")]
    ),
    "non_finite": lambda: _nothing([*_PLACE, ("metric", "VARCHAR"), ("raw", "VARCHAR"), ("name", "VARCHAR")]),
    "generations": lambda: _nothing(
        [
            ("run", "VARCHAR"),
            ("step", "BIGINT"),
            ("kind", "VARCHAR"),
            ("sample", "BIGINT"),
            *((name, "VARCHAR") for name in ("input", "output", "ground_truth")),
            ("score", "DOUBLE"),
            ("extra", "VARCHAR"),
        ]
    ),
    "steps": lambda: _nothing(
        [
            *_PLACE,
            ("time", "DOUBLE"),
            ("cut", "BOOLEAN"),
            *((one.key, "DOUBLE") for one in glossary().metrics),
        ]
    ),
}
_BRANCHES: Mapping[str, Callable[[Sequence[Group]], Iterator[str]]] = {
    "samples": _samples,
    "raw_samples": _raw_samples,
    "non_finite": lambda groups: iter(()),
    "generations": lambda groups: iter(()),
    "spans": lambda groups: iter(()),
    "steps": _steps,
}
