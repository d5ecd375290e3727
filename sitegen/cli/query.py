"""`sitegen query`: the archive in SQL."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path

import click
import orjson
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from sitegen import archive as archives
from sitegen import reports, rules
from sitegen.cli import options
from sitegen.cli.screen import Screen, clean
from sitegen.config import Config
from sitegen.model import Findings
from sitegen.reports import asked
from sitegen.reports.status import state, status
from sitegen.store import Store

_FORMATS = ("table", "csv", "json", "parquet")
#: Ending of a file -> format.
_ENDINGS = {".csv": "csv", ".json": "json", ".parquet": "parquet", ".txt": "table", ".tsv": "table"}


@click.command("query", short_help="Ask the archive in SQL.")
@click.argument("sql")
@options.runs_argument
@click.option(
    "-f", "--format", "form", type=click.Choice(_FORMATS), help="Default: by the ending of -o, else table."
)
@click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write to a file.")
@options.site_options
def command(
    sql: str,
    runs: options.Runs | None,
    form: str | None,
    out: Path | None,
    config_file: Path | None,
    home: Path | None,
    quiet: bool,
) -> int:
    """Run one SELECT over the runs below RUNS.

    \b
    Tables: runs, samples (long), steps (wide, canonical names), raw_samples (names as logged),
    non_finite, summary, log_lines, generations (dumped samples), config, phases, incidents, verdicts,
    problems, spans (of traces: turns and tool calls).

    \b
      sitegen query "SELECT run, max(value) FROM samples WHERE metric = 'score' GROUP BY run"
      sitegen query "SELECT * FROM incidents ORDER BY severity" -o incidents.csv
    """  # noqa: D301  \b is click's sign for "keep these lines"
    screen = Screen(quiet)
    form = form or _by_name(out)
    if form == "parquet" and out is None:
        raise click.UsageError("--format parquet needs a file: add `-o result.parquet`.")
    folder, home = options.local(runs, home, screen)
    config = options.settings(config_file, folder, home)
    options.existing(config.runs)
    options.updated(config, screen.progress)
    archive = archives.Archive(config.archive_home)
    with Store(archive) as store:
        findings = _findings(archive, config)
        table = store.query(
            sql,
            findings,
            status=lambda run: status(archive.run(run), findings(run)).value,
            state=lambda run: state(findings(run).phases).value,
            problems=lambda: asked.of_runs(store.facts(), rules.catalog(config.rules)),
        )
    if form == "table" and out is None:
        numbers = [place for place, field in enumerate(table.schema) if _is_number(field.type)]
        screen.table(table.column_names, _cells(table), numbers)
        screen.progress("1 row" if table.num_rows == 1 else f"{table.num_rows} rows")
        return 0
    data = encode(table, form)
    if out is None:
        screen.write(data)
    else:
        options.save(out, data)
    return 0


def _findings(archive: archives.Archive, config: Config) -> Callable[[str], Findings]:
    """Findings of a run; the rules run only for queries on phases, incidents, verdicts or a status."""
    found = cache(lambda: reports.build(archive, config))
    return lambda run: found().findings(run)


def encode(table: pa.Table, form: str) -> bytes:
    """`table` as CSV, JSON (a list of objects) or Parquet. NaN and infinities are null in JSON."""
    if form == "json":
        return orjson.dumps(
            table.to_pylist(), default=str, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        )
    sink = io.BytesIO()
    if form == "parquet":
        pyarrow.parquet.write_table(table, sink, compression="zstd")
        return sink.getvalue()
    if form == "csv":
        pyarrow.csv.write_csv(_flat(table), sink)
        return sink.getvalue()
    rows = ["\t".join(table.column_names), *("\t".join(row) for row in _cells(table))]
    return ("\n".join(rows) + "\n").encode()


def _by_name(out: Path | None) -> str:
    """The format that the ending of `out` means. Raises UsageError for an ending that means none."""
    if out is None or not out.suffix:
        return "table"
    form = _ENDINGS.get(out.suffix.lower())
    if form is None:
        raise click.UsageError(
            f"-o {clean(str(out))}: no format is known by that ending. "
            f"Known endings: {', '.join(_ENDINGS)}; or say --format ({', '.join(_FORMATS)})."
        )
    return form


def _flat(table: pa.Table) -> pa.Table:
    """Columns that CSV cannot hold (lists, maps) as text."""
    for place, field in enumerate(table.schema):
        if pa.types.is_nested(field.type):
            texts = [None if cell is None else str(cell) for cell in table.column(place).to_pylist()]
            table = table.set_column(place, field.name, pa.array(texts, pa.string()))
    return table


def _cells(table: pa.Table) -> list[list[str]]:
    columns = [[_cell(value) for value in column.to_pylist()] for column in table.columns]
    return [list(row) for row in zip(*columns, strict=True)]


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}" if math.isfinite(value) else str(value)
    return " ".join(str(value).split())


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind))
