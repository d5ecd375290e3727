"""The folder that `sitegen export` writes: a run as the archive has it, secrets already taken out.

The archive takes such a folder over as it is (`archive.portable`). Where it lies together with logs of the
same run, it is one more source, and `read` gives its records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from sitegen.errors import Problem
from sitegen.ingest.source import Source
from sitegen.model import Batch, LogLine, NonFinite, Rows

NAME = "exported"
VERSION = 1
MARK = "sitegen_export"  # first key of an exported run.json; its value is VERSION
RECORD = "run.json"
TABLES = ("steps.parquet", "extras.parquet", "lines.parquet", "samples.parquet", "traces.parquet")
BESIDE = (*TABLES, "README.md", "report.md", "report-trend.png", "report-efficiency.png")
MAX_BYTES = 64 << 20  # of run.json
_ROWS = 2000
_FIXED = ("row", "segment", "step", "live", "time", "line", "source", "cut")
_HINT = "Export the run again with this version of sitegen."


def sniff(path: str, head: bytes) -> bool:
    """Whether the file is the run.json of an exported run."""
    return head.lstrip()[:1] == b"{" and f'"{MARK}"'.encode() in head[:64]


def beside(path: str) -> tuple[str, ...]:
    """The files that belong to the folder of an exported run."""
    folder, slash, _ = path.rpartition("/")
    return tuple(f"{folder}{slash}{name}" for name in BESIDE)


def record(source: Source) -> dict[str, Any]:
    """The exported run.json. Raises ValueError for one that this version cannot take over."""
    with source.open() as stream:
        raw = stream.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise ValueError(f"run.json is larger than {MAX_BYTES >> 20} MiB")
    table = orjson.loads(raw)
    if table.get(MARK) != VERSION or not isinstance(table.get("run"), dict):
        raise ValueError(f"it is no export of version {VERSION}")
    found: dict[str, Any] = table
    return found


def member(source: Source, name: str) -> Source | None:
    """A file of the folder, None where it is missing."""
    folder, slash, _ = source.path.rpartition("/")
    return source.member(f"{folder}{slash}{name}")


def read(source: Source) -> Iterator[Batch]:
    """Configuration and facts, log lines, then step records in the order of time."""
    try:
        table = record(source)
        said = table["run"]
        yield Batch(config=_texts(said.get("config")), facts=_texts(said.get("facts")))
        yield Batch(log_lines=tuple(_lines(source)))
        yield from _records(source, _texts(table.get("columns")))
    except (ValueError, KeyError, TypeError, pa.ArrowException) as error:
        what = f"cannot be read: {str(error).splitlines()[0][:200]}"
        yield Batch(problems=(Problem(source.path, None, "malformed", what, _HINT),))


def _texts(value: object) -> dict[str, str]:
    """The texts of an object; anything else is left out."""
    items = value.items() if isinstance(value, Mapping) else ()
    return {str(key): text for key, text in items if isinstance(text, str)}


def _lines(source: Source) -> Iterator[LogLine]:
    found = member(source, "lines.parquet")
    for row in _rows(found) if found else ():
        yield LogLine(**row)


def _records(source: Source, columns: Mapping[str, str]) -> Iterator[Batch]:
    steps = member(source, "steps.parquet")
    if steps is None:
        return
    odd: dict[tuple[int, int], list[tuple[str, str]]] = {}
    extras = member(source, "extras.parquet")
    for row in _rows(extras) if extras else ():
        if row["kind"] == "non_finite":
            odd.setdefault((row["segment"], row["step"]), []).append((row["name"], row["raw"]))
    with pq.ParquetFile(steps.file) as file:
        for batch in file.iter_batches(_ROWS, use_threads=False):
            yield Batch(rows=_chunk(batch, columns, odd))


def _chunk(
    batch: pa.RecordBatch, columns: Mapping[str, str], odd: Mapping[tuple[int, int], list[tuple[str, str]]]
) -> Rows:
    def numbers(name: str) -> Any:
        return batch.column(name).to_numpy(zero_copy_only=False)

    segments, steps = numbers("segment").astype(np.int64), numbers("step").astype(np.int64)
    places = zip(segments.tolist(), steps.tolist(), strict=True)
    return Rows(
        steps=steps,
        lines=numbers("line").astype(np.int64),
        times=numbers("time").astype(np.float64),
        columns={
            columns.get(name, name): numbers(name).astype(np.float64)
            for name in batch.schema.names
            if name not in _FIXED
        },
        non_finite=tuple(
            NonFinite(i, name, raw) for i, place in enumerate(places) for name, raw in odd.get(place, ())
        ),
        cut=tuple(np.flatnonzero(numbers("cut")).tolist()),
    )


def _rows(source: Source) -> Iterator[dict[str, Any]]:
    with pq.ParquetFile(source.file) as file:
        for batch in file.iter_batches(_ROWS, use_threads=False):
            yield from batch.to_pylist()
