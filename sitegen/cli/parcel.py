"""An exported run as files: a folder, or one `.tar.zst` whose bytes depend on the run only."""

from __future__ import annotations

import io
import shutil
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import zstandard

from sitegen.archive import tar
from sitegen.cli import options
from sitegen.errors import ConfigError
from sitegen.ingest import exported
from sitegen.ingest.source import Source, SourceRefused

ENDING = ".tar.zst"
Files = Mapping[str, bytes | Path]  # name -> content, or the file that has it
_DATE = 946_684_800  # 2000-01-01: of every entry
_LEVEL = 3  # tables are packed already


def check(out: Path) -> None:
    """Raise ConfigError where `out` holds anything but an earlier export, which is replaced."""
    if out.name.endswith(ENDING):
        if out.exists() and not _is_packed_export(out):
            raise ConfigError(f"'{out}' is no export of sitegen. Give a new file with -o.")
        return
    if out.exists() and not out.is_dir():
        raise ConfigError(f"'{out}' is a file. Give a folder, or a file that ends with {ENDING}.")
    held = sorted(each.name for each in out.iterdir()) if out.is_dir() else []
    strange = [name for name in held if name not in (exported.RECORD, *exported.BESIDE)]
    if strange or (held and not _is_export(out / exported.RECORD)):
        raise ConfigError(
            f"'{out}' holds other files ({', '.join((strange or held)[:3])}). Give a new folder with -o."
        )


def write(out: Path, run: str, files: Files) -> None:
    """Write an export in place of an earlier one. `run` names the folder in a packed one.

    Raises ConfigError where that cannot be done.
    """
    try:
        if out.name.endswith(ENDING):
            _packed(out, run, files)
        else:
            _folder(out, files)
    except OSError as error:
        raise ConfigError(f"cannot write '{out}': {error.strerror}. Give another place with -o.") from error


def _folder(out: Path, files: Files) -> None:
    for name in (exported.RECORD, *exported.BESIDE):
        (out / name).unlink(missing_ok=True)
    for name, content in sorted(files.items(), key=lambda each: each[0] == exported.RECORD):
        if isinstance(content, bytes):  # run.json comes last: it makes the folder an export
            options.save(out / name, content)
        else:
            shutil.copyfile(content, out / name)


def _packed(out: Path, run: str, files: Files) -> None:
    """Write beside `out`, then put in place: a reader finds the old one or the new one, each whole."""
    out.parent.mkdir(parents=True, exist_ok=True)
    made = out.with_name(f".{out.name[:100]}.new")
    packer = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
    try:
        with (
            made.open("wb") as file,
            packer.stream_writer(file) as stream,
            tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as archive,
        ):
            for name in sorted(files, key=lambda each: (each != exported.RECORD, each)):
                with _opened(files[name]) as (content, size):
                    archive.addfile(_entry(f"{run}/{name}", size), content)
        made.replace(out)
    finally:
        made.unlink(missing_ok=True)


@contextmanager
def _opened(content: bytes | Path) -> Iterator[tuple[BinaryIO, int]]:
    if isinstance(content, bytes):
        yield io.BytesIO(content), len(content)
        return
    with content.open("rb") as stream:
        yield stream, content.stat().st_size


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime, entry.mode = size, _DATE, 0o644
    return entry


def _is_packed_export(file: Path) -> bool:
    """Whether the first entry is the run.json of an export."""
    try:
        with Source(file.name, file).unpacked() as stream:
            entry = next(tar.entries(stream), None)
            return entry is not None and exported.sniff(entry.name, next(entry.data, b"")[:64])
    except (OSError, SourceRefused, tar.TarDamaged):
        return False


def _is_export(file: Path) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        return exported.sniff(file.name, stream.read(64))
