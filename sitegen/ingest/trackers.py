"""Known formats that this version does not read yet. They are claimed, so that nobody thinks they were seen.

A file claimed here gives one problem that names the format; `archive` folds the problems of one
folder and format into one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sitegen.errors import Problem
from sitegen.ingest.source import Source
from sitegen.model import Batch

NAME = "tracker"
HINT = (
    "This version does not read this format yet; the console log or the FileLogger JSONL of the run is read."
)
_SWANLAB_VALUE = re.compile(rb'\s*\{"index": \d+, "data": [^\n]{0,2000}"create_time": "')
_MLFLOW_METRIC = re.compile(rb"\A(\d{10,16} \S+ -?\d+\r?\n)+")


def sniff(path: str, head: bytes) -> bool:
    """Whether the file is one of the formats that `which` knows."""
    return which(path, head) is not None


def read(source: Source) -> Iterator[Batch]:
    """One problem, no rows."""
    yield Batch(
        problems=(unsupported(source.path, which(source.path, source.head(1 << 16)) or "tracker data"),)
    )


def unsupported(path: str, kind: str, files: int = 1) -> Problem:
    """The problem that says that `files` files below or at `path` were recognised and not read."""
    what = f"{kind} was recognised and not read yet"
    return Problem(path, None, "unsupported", what if files == 1 else f"{what} ({files} files)", HINT)


def which(path: str, head: bytes) -> str | None:
    """Name of the format, or None."""
    parts = path.split("/")
    return _binary(path, head) or _dump(head) or _store(parts, head)


def _binary(path: str, head: bytes) -> str | None:
    if head.startswith(b"SQLite format 3\0"):
        if path.endswith(".swanlab"):
            return "the database of SwanLab's local board (a log of a run, `*.swanlab`, is read)"
        return "an SQLite database without a readable run of MLflow or Trackio"
    return None


def _dump(head: bytes) -> str | None:
    if not head.lstrip().startswith(b"{"):
        return None
    start = head[:4096]
    if b'"columns"' in start and b'"data"' in start and b'"step"' not in start.split(b'"columns"')[0]:
        return "a W&B table that holds no samples"
    if b'"_swanLab"' in start:
        return "a SwanLab table that holds no samples"
    if _SWANLAB_VALUE.match(start):
        return "a metric of SwanLab's local board without the run's log"
    if b'"trackio"' in start and b'"session"' in start:
        return "a Trackio trace without its database"
    return None


def _store(parts: list[str], head: bytes) -> str | None:
    if "metrics" in parts[:-1] and _MLFLOW_METRIC.match(head):
        return "a metric of an MLflow file store without the run's meta.yaml"
    if ".hydra" in parts[:-1]:
        return "a file of Hydra that is none of its three"
    return None
