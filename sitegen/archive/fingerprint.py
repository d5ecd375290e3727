"""When a run has to be made again: the fingerprint of its files and of the code that reads them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path

from sitegen.archive import samples, traces
from sitegen.archive.planned import Input, RunPlan
from sitegen.archive.stage import content
from sitegen.config import ALWAYS, Redaction
from sitegen.errors import Problem
from sitegen.ingest.source import SourceRefused

FILES = ("run.json", "steps.parquet", "extras.parquet", "lines.parquet")
MARK = "fingerprint"


def reader_version(redaction: Redaction) -> str:
    """Changes with what makes an archive out of logs, so that no archive outlives its readers."""
    if redaction == ALWAYS:
        return _code()
    return hashlib.sha256(f"{_code()}\n{redaction!r}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


@cache
def _code() -> str:
    digest = hashlib.sha256()
    for room in ("ingest", "archive", "metrics", "redact", "model"):
        for file in sorted(files(f"sitegen.{room}").iterdir(), key=lambda each: each.name):
            if file.name.endswith((".py", ".toml")):
                digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def kept(folder: Path) -> str | None:
    """Fingerprint of an archived run, None when the folder is not a whole one.

    The mark holds the sizes of the files beside it: after a power cut a file may be there and empty.
    """
    try:
        mark, *sizes = (folder / MARK).read_text(encoding="ascii").split()
        whole = sizes == _sizes(folder)
    except (OSError, UnicodeDecodeError, ValueError):
        return None
    return mark if whole else None


def keep(folder: Path, fingerprint: str) -> None:
    """Mark a folder that is whole now."""
    (folder / MARK).write_text(" ".join([fingerprint, *_sizes(folder)]) + "\n", encoding="ascii")


def _sizes(folder: Path) -> list[str]:
    more = (name for name in (samples.NAME, traces.NAME) if (folder / name).is_file())
    return [str((folder / name).stat().st_size) for name in (*FILES, *more)]


def hashed(inputs: Iterable[Input]) -> tuple[tuple[Input, ...], list[Problem]]:
    """Inputs with their content hash; files that cannot be read become problems."""
    found: list[Input] = []
    lost: list[Problem] = []
    for each in inputs:
        try:
            found.append(each if each.sha else replace(each, sha=content(each.source, each.format)))
        except (OSError, SourceRefused) as error:
            reason = getattr(error, "strerror", None) or str(error)
            hint = "Check that the file is still there and may be read."
            lost.append(Problem(each.path, None, "unreadable", f"cannot be read: {reason}", hint))
    return tuple(found), lost


def of(run: RunPlan, shas: Sequence[tuple[str, str]], lost: Sequence[Problem]) -> str:
    """Changes with the files of a run, with what discovery says of it, and with its readers."""
    said = (
        run.reader or reader_version(run.redaction),
        run.id,
        run.path,
        shas,
        run.problems,
        lost,
        [each.format for each in run.inputs],
        run.numbers,
    )
    return hashlib.sha256(repr(said).encode("utf-8", "surrogatepass")).hexdigest()
