"""Rows of long texts to a Parquet file: bounded memory, secrets taken out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa
import pyarrow.parquet as pq

from sitegen.redact import redact_name, redact_value

GROUP = 8 << 20  # bytes of a row group, about


class TextRows:
    """Writer of a Parquet file that is made with the first row. Use as a context manager.

    Args:
        file: where it goes.
        schema: its columns.
        repeated: columns whose texts repeat.
        sought: columns that queries filter by.
    """

    def __init__(self, file: Path, schema: pa.Schema, repeated: Sequence[str], sought: Sequence[str]) -> None:
        self._file, self._schema = file, schema
        self._repeated, self._sought = list(repeated), list(sought)
        self._writer: pq.ParquetWriter | None = None
        self._columns: dict[str, list[object]] = {name: [] for name in schema.names}
        self._held = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._flush()
        if self._writer is not None:
            self._writer.close()

    def append(self, row: Mapping[str, object]) -> None:
        """One row, with a value for every column."""
        for name, value in row.items():
            self._columns[name].append(value)
        self._held += sum(_size(text) for text in row.values() if isinstance(text, str)) + 64
        if self._held > GROUP:
            self._flush()

    def _flush(self) -> None:
        if not self._held:
            return
        if self._writer is None:
            self._writer = pq.ParquetWriter(
                self._file,
                self._schema,
                compression="zstd",
                use_dictionary=self._repeated,
                write_statistics=self._sought,
                store_schema=False,
            )
        arrays = [pa.array(self._columns[one.name], one.type) for one in self._schema]
        self._writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema))
        self._columns = {name: [] for name in self._schema.names}
        self._held = 0


def _size(text: str) -> int:
    """Bytes of memory, at most: one emoji makes four of each character."""
    return len(text) if text.isascii() else 4 * len(text)


def cleaned(value: object, secrets: Counter[str], name: str = "") -> object:
    """A value of a record without secrets, which are counted; the name it lies under may give one away."""
    if isinstance(value, str):
        short, found = redact_value(name, value)
        secrets += found
        return short
    if isinstance(value, dict):
        return {_key(str(key), secrets): cleaned(each, secrets, str(key)) for key, each in value.items()}
    if isinstance(value, list):
        return [cleaned(each, secrets, name) for each in value]
    return value


def _key(text: str, secrets: Counter[str]) -> str:
    short, found = redact_name(text)
    secrets += found
    return short
