"""JSONL to archive, against DuckDB's own reader on the same files with every column named."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb

from sitegen import archive

from . import inputs
from .measure import Bench, Result, taken

NAME = "jsonl"
FILES, STEPS = 16, 8000


def run(bench: Bench) -> list[Result]:
    """Speed of `archive.update` over speed of `read_json` into a table, both with all cores."""
    runs = bench.folder / "jsonl"
    paths = inputs.files(runs, "jsonl", FILES, bench.size(STEPS, 100))
    megabytes = sum(path.stat().st_size for path in paths) / 1e6
    home = bench.folder / "jsonl-home"
    # in turns, so that a busy moment of the machine hits both
    rounds = [(taken(lambda: read_json(paths)), taken(lambda: update(runs, home))) for _ in range(3)]
    theirs, ours = (min(side) for side in zip(*rounds, strict=True))
    detail = f"to archive {ours.speed(megabytes)}, read_json {theirs.speed(megabytes)}, {megabytes:.0f} MB"
    return [Result(NAME, theirs.wall / ours.wall, "x", 0.4, "up", detail)]


def read_json(paths: list[Path]) -> None:
    """Every value into a DuckDB table, one column per metric."""
    fields = ", ".join(f'"{name}" DOUBLE' for name in (*inputs.LEVELS, inputs.CORE))
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE steps AS SELECT step, data.* FROM read_json($files, format = 'newline_delimited', "
            f"columns = {{step: 'BIGINT', data: 'STRUCT({fields})'}})",
            {"files": [str(path) for path in paths]},
        )


def update(runs: Path, home: Path, jobs: int | None = None) -> None:
    """Into an archive that does not exist yet."""
    shutil.rmtree(home, ignore_errors=True)
    archive.update(runs, home, jobs=jobs)
