"""`run.json`: a `Run` and the names of its columns, as text that is the same for the same run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import orjson

from sitegen.errors import Problem
from sitegen.model import (
    ConfigSource,
    Dumped,
    MetricSummary,
    Mute,
    Note,
    Run,
    Segment,
    SourceFile,
    Traced,
)

_LISTS = {
    "segments": Segment,
    "sources": SourceFile,
    "summary": MetricSummary,
    "problems": Problem,
    "mutes": Mute,
    "generations": Dumped,
    "config_sources": ConfigSource,
    "traces": Traced,
    "written": Note,
}
_ADDED = ("written",)  # exports of earlier versions have none


def dumps(run: Run, columns: Mapping[str, str]) -> bytes:
    """Bytes of run.json. `columns` maps stored column -> name as logged."""
    table = {each.name: getattr(run, each.name) for each in fields(run)}
    table["columns"] = columns
    return orjson.dumps(table, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def loads(data: bytes) -> tuple[Run, dict[str, str]]:
    """Run and columns of a run.json. Raises ValueError, KeyError or TypeError for anything else."""
    table: dict[str, Any] = orjson.loads(data)
    columns = table.pop("columns")
    for name, kind in _LISTS.items():
        rows = table.get(name, ()) if name in _ADDED else table[name]
        table[name] = tuple(kind(**each) for each in rows)
    for name in ("formats", "tags", "aliases"):
        table[name] = tuple(table[name])
    table["presets"] = None if table.get("presets") is None else tuple(table["presets"])
    return Run(**table), columns
