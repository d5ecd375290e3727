"""Files beside a run's page: the archive's own Parquet, the same as CSV, the report."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet


def csv(parquet: Path) -> bytes:
    """The table of `parquet` as CSV: absent values are empty, numbers are written in full."""
    with pyarrow.parquet.ParquetFile(parquet) as file:  # `read_table` looks for data sets of many files first
        table = file.read(use_threads=False)
    out = io.BytesIO()
    pyarrow.csv.write_csv(table, out)
    return out.getvalue()
