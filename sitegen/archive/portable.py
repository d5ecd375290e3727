"""A run as a folder that travels: written from the archive, and taken over by another one.

What arrives may have been touched by anybody: tables are checked against the schema and written anew, and
secrets are taken out again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sitegen.archive import parquet, runjson, samples, traces
from sitegen.archive.read import Archive
from sitegen.archive.runtoml import RunToml
from sitegen.errors import Problem
from sitegen.ingest import exported
from sitegen.ingest.source import Source
from sitegen.model import Run
from sitegen.redact import redact, redact_name, redact_value

GROUP = 512 << 20  # bytes of a row group at most: what is larger would not fit in memory
ROWS = 4096  # taken over at once
_SAID = (
    "title", "project", "experiment", "algorithm", "model", "verl_version", "commit", "hardware", "baseline",
)  # fmt: skip


def record(archive: Archive, run: str) -> bytes:
    """The run.json of an export. Raises ArchiveError for a run that is not there."""
    table = orjson.loads(runjson.dumps(archive.run(run), archive.columns(run)))
    columns = table.pop("columns")
    whole = {exported.MARK: exported.VERSION, "columns": columns, "run": table}
    return orjson.dumps(whole, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def tables(archive: Archive, run: str) -> dict[str, Path]:
    """The Parquet files of an export by name."""
    found = {name: archive.steps(run).with_name(name) for name in exported.TABLES}
    return {name: file for name, file in found.items() if file.is_file()}


def restore(source: Source, folder: Path) -> tuple[Run, dict[str, str], tuple[Problem, ...]]:
    """Write the tables of an exported run into `folder`: its facts, its columns, and what was taken out.

    Raises ValueError, KeyError, TypeError or ArrowException for what is no export.
    """
    secrets: Counter[str] = Counter()
    whole = exported.record(source)
    columns = {str(name): _name(str(logged), secrets) for name, logged in whole["columns"].items()}
    run = _run(whole["run"], secrets)
    metrics = pa.schema([*parquet.STEPS, *((name, pa.float64()) for name in columns)])
    schemas = (metrics, parquet.EXTRAS, parquet.LINES, samples.SCHEMA, traces.SCHEMA)
    for name, schema in zip(exported.TABLES, schemas, strict=True):
        table = exported.member(source, name)
        if table is not None:
            _copy(table, folder / name, schema, secrets)
        elif name not in (samples.NAME, traces.NAME):
            raise ValueError(f"{name} is missing")
    return run, columns, tuple(_told(source.path, secrets))


def adopted(run: Run, toml: RunToml) -> Run:
    """An exported run with what a run.toml beside it says."""
    said: dict[str, Any] = {key: toml.text(key) for key in _SAID if toml.text(key)}
    said |= {key: toml.texts(key) for key in ("tags", "aliases") if toml.texts(key)}
    said |= {key: toml.number(key) for key in ("gpus", "planned_steps") if toml.number(key) is not None}
    said |= {key: redact(text)[0] for key in ("owner", "notes") if (text := toml.text(key))}
    return replace(run, **said)


def _run(table: dict[str, Any], secrets: Counter[str]) -> Run:
    config = {}
    for key, text in table.pop("config").items():
        config[_clean(key, secrets)], found = redact_value(key, str(text))
        secrets += found
    clean = _cleaned(table, secrets)
    assert isinstance(clean, dict)
    return runjson.loads(orjson.dumps({**clean, "config": config, "columns": {}}))[0]


def _cleaned(value: object, secrets: Counter[str]) -> object:
    if isinstance(value, str):
        return _clean(value, secrets)
    if isinstance(value, dict):
        return {_clean(key, secrets): _cleaned(each, secrets) for key, each in value.items()}
    if isinstance(value, list):
        return [_cleaned(each, secrets) for each in value]
    return value


def _copy(source: Source, target: Path, schema: pa.Schema, secrets: Counter[str]) -> None:
    """Write a table anew, row groups as they were. Raises ValueError where its columns are others."""
    source.raw().close()  # refuses what is no regular file
    with pq.ParquetFile(source.file) as file, pq.ParquetWriter(target, schema, compression="zstd") as out:
        if file.schema_arrow.names != schema.names:
            raise ValueError(f"{target.name} has other columns than an export")
        for group in range(file.num_row_groups):
            if file.metadata.row_group(group).total_byte_size > GROUP:
                raise ValueError(f"{target.name} has a row group of more than {GROUP >> 20} MiB")
            for batch in file.iter_batches(ROWS, [group], use_threads=False):
                arrays = [_column(batch.column(f.name), f.type, secrets) for f in schema]
                out.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _column(values: pa.Array, kind: pa.DataType, secrets: Counter[str]) -> pa.Array:
    if pa.types.is_floating(kind):
        doubles = values.cast(pa.float64())
        return pc.if_else(pc.is_finite(doubles), doubles, None)
    if not pa.types.is_string(kind):
        return values.cast(kind)
    table = values.cast(pa.string()).dictionary_encode()
    texts = pa.array([_clean(text, secrets) for text in table.dictionary.to_pylist()], pa.string())
    return texts.take(table.indices)


def _clean(text: str, secrets: Counter[str]) -> str:
    short, found = redact(text)
    secrets += found
    return short


def _name(text: str, secrets: Counter[str]) -> str:
    short, found = redact_name(text)
    secrets += found
    return short


def _told(path: str, secrets: Mapping[str, int]) -> Iterable[Problem]:
    for kind, n in sorted(secrets.items()):
        what = f"{n} x {kind} replaced by [redacted:{kind}]"
        yield Problem(path, None, "redacted", what, "Change the secret: it lies in the export.")
