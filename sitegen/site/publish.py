"""Put a finished build in place without touching what is not ours.

A build happens in a staging folder and is then moved file by file, so that a build that dies leaves
the last good site, and a folder named by mistake loses nothing: only files that an earlier manifest
lists are ever removed.
"""

from __future__ import annotations

import filecmp
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from sitegen.errors import ConfigError

NAME = ".sitegen-manifest.json"


@dataclass(frozen=True, slots=True)
class Manifest:
    """Files of a site, as paths below its root with `/`, sorted."""

    files: tuple[str, ...]

    @classmethod
    def read(cls, site: Path) -> Manifest:
        """What the last build wrote below `site`; empty where there was none or it is damaged."""
        try:
            listed = list(json.loads((site / NAME).read_text("utf-8"))["files"])
        except (OSError, ValueError, KeyError, TypeError):
            return cls(())
        return cls(tuple(name for name in listed if isinstance(name, str) and _stays_inside(name)))

    @classmethod
    def of(cls, site: Path) -> Manifest:
        """Everything that lies below `site` now, the manifest itself apart."""
        found = (file.relative_to(site).as_posix() for file in site.rglob("*") if file.is_file())
        return cls(tuple(sorted(name for name in found if name not in (NAME, f"{NAME}.new"))))

    @staticmethod
    def forget(site: Path) -> None:
        """Remove the list from `site`: a larger site holds it."""
        (site / NAME).unlink(missing_ok=True)

    def write(self, site: Path) -> None:
        """Leave the list in `site` for the next build."""
        new = site / f"{NAME}.new"
        new.write_text(json.dumps({"files": self.files}, indent=0) + "\n", "utf-8")
        new.replace(site / NAME)


@dataclass(frozen=True, slots=True)
class Derived:
    """Bytes that cost more to make than to recognise.

    Args:
        digest: their SHA-256 in hexadecimal, where they were made before; "" = not known.
        make: gives them.
    """

    digest: str
    make: Callable[[], bytes]


Content = bytes | Path | Callable[[], bytes] | Derived


def write(files: Mapping[str, Content], folder: Path) -> None:
    """Write `files` (path below `folder` -> bytes, a file to copy, or what makes the bytes)."""
    with ThreadPoolExecutor() as pool:  # most of the time goes to Arrow and the disk, which wait for nobody
        for _ in pool.map(lambda named: _write(folder / named[0], named[1]), files.items()):
            pass


def _write(target: Path, content: Content) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, Path):
        if not _same(content, target):
            shutil.copyfile(content, target)
        return
    if isinstance(content, Derived):
        if content.digest and _digest(target) == content.digest:
            return
        content = content.make
    data = content if isinstance(content, bytes) else content()
    if not (target.is_file() and target.stat().st_size == len(data) and target.read_bytes() == data):
        target.write_bytes(data)


def _digest(file: Path) -> str:
    if not file.is_file():
        return ""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def publish(staging: Path, site: Path, files: Mapping[str, Content] | None = None) -> Manifest:
    """Move the build in `staging` to `site` and remove what the last build wrote and this one did not.

    `files` belong to the site too and go there directly: most are the same as last time.
    Raises ConfigError before anything is touched where a file of somebody else would be overwritten.
    """
    beside = files or {}
    staged = Manifest.of(staging).files
    before, now = Manifest.read(site), Manifest(tuple(sorted({*staged, *beside})))
    _refuse_foreign(site, before, now)
    site.mkdir(parents=True, exist_ok=True)
    # Said before the first move: what a killed build leaves must not look foreign to the next one.
    Manifest(tuple(sorted({*before.files, *now.files}))).write(site)
    _remove(site, sorted(set(before.files) - set(now.files)))
    for name in staged:
        target = site / name
        target.parent.mkdir(parents=True, exist_ok=True)
        _move(staging / name, target)
    write(beside, site)
    now.write(site)
    return now


def _move(source: Path, target: Path) -> None:
    """Put `source` at `target`, both on one file system; a file that holds the same stays as it is.

    Replacing thousands of equal files makes a journaling file system write them all to the disk at
    once, and gives every one a new time for whoever uploads what changed.
    """
    if not _same(source, target):
        source.replace(target)


def _same(source: Path, target: Path) -> bool:
    return target.is_file() and filecmp.cmp(source, target, shallow=False)


def _refuse_foreign(site: Path, before: Manifest, now: Manifest) -> None:
    if site.exists() and not site.is_dir():
        raise ConfigError(f"{site}: expected a folder for the site, found a file. Name another with -o.")
    ours = set(before.files)
    for name in now.files:
        if name in ours and os.path.isfile(f"{site}/{name}"):  # noqa: PTH113  thousands of them: no objects
            continue
        taken = _foreign(site, name, ours)
        if taken:
            raise ConfigError(
                f"{site}: holds '{taken}', which no build of sitegen wrote, and would be overwritten. "
                f"Name an empty folder with -o, or move that file away."
            )


def _foreign(site: Path, name: str, ours: set[str]) -> str:
    """The file of somebody else that stands where `name` is to be written, or ""."""
    target = site / name
    if target.is_dir():
        inside = (file.relative_to(site).as_posix() for file in target.rglob("*") if not file.is_dir())
        return next((file for file in inside if file not in ours), "")
    for place in (target, *target.parents):
        if place == site:
            return ""
        if place.exists() and not place.is_dir():
            found = place.relative_to(site).as_posix()
            return "" if found in ours else found
    return ""


def _remove(site: Path, names: list[str]) -> None:
    for name in names:
        file = site / name
        file.unlink(missing_ok=True)
        for parent in file.parents:
            if parent == site or not parent.is_dir() or any(parent.iterdir()):
                break
            parent.rmdir()


def _stays_inside(name: str) -> bool:
    return bool(name) and not Path(name).is_absolute() and ".." not in Path(name).parts
