"""`manifest.json`: what the last update saw, so that the next one reads only what changed.

It saves work and decides nothing: without it the same archive is built again.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from sitegen.errors import Problem

VERSION = 2


@dataclass
class Manifest:
    """Contents of manifest.json. All mappings are by path or run id."""

    reader: str = ""
    files: dict[str, dict[str, Any]] = field(default_factory=dict)  # path -> size, mtime_ns, format
    groups: dict[str, Any] = field(default_factory=dict)  # state of a folder's files -> how they were grouped
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)  # id -> path, state, fingerprint
    problems: tuple[Problem, ...] = ()
    ignored: tuple[str, ...] = ()
    removed: tuple[tuple[str, str, str], ...] = ()
    sources: dict[str, list[Any]] = field(default_factory=dict)  # path -> state, sha
    parts: dict[str, list[list[Any]]] = field(default_factory=dict)  # file of several runs -> state, its runs


def load(file: Path, reader: str | None) -> Manifest:
    """The manifest of the last update; empty when there is none or other readers than `reader` wrote it.

    None accepts any.
    """
    try:
        table = orjson.loads(file.read_bytes())
        if table.pop("version") != VERSION or table["reader"] != (reader or table["reader"]):
            return Manifest(reader or "")
        table["problems"] = tuple(Problem(**each) for each in table["problems"])
        table["ignored"] = tuple(table["ignored"])
        table["removed"] = tuple(tuple(each) for each in table["removed"])
        return Manifest(**table)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Manifest(reader or "")


def save(file: Path, manifest: Manifest) -> None:
    """Write the manifest atomically."""
    table = {"version": VERSION, **{name: getattr(manifest, name) for name in manifest.__dataclass_fields__}}
    write_atomically(file, orjson.dumps(table, option=orjson.OPT_SORT_KEYS))


def write_atomically(file: Path, data: bytes, *, durable: bool = True) -> None:
    """Write a file so that a reader, or the next build after a kill, finds the old bytes or the new ones.

    `durable`: after a power cut too.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f".{file.name[:100]}.{os.getpid()}")
    try:
        with temporary.open("wb") as stream:
            stream.write(data)
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
