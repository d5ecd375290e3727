"""Bringing an archive up to date: only runs whose files changed are read again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sitegen.archive import fingerprint, processes, removed
from sitegen.archive import manifest as store
from sitegen.archive.build import Built
from sitegen.archive.discovery import Discovery, discover
from sitegen.archive.lock import locked
from sitegen.archive.manifest import Manifest
from sitegen.archive.packs import Packs
from sitegen.archive.planned import Input, RunPlan
from sitegen.archive.processes import Result
from sitegen.archive.walk import Listing, walk
from sitegen.config import ALWAYS, Redaction
from sitegen.errors import Problem
from sitegen.redact import using

SMALL = 16 << 20  # bytes to read below which starting processes costs more than it saves


@dataclass(frozen=True, slots=True)
class Update:
    """What an update found. `runs`, `changed` and `removed` are run ids; problems are those of no run."""

    runs: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    problems: tuple[Problem, ...]
    ignored: tuple[str, ...]


def update(
    runs: Path,
    home: Path,
    *,
    jobs: int | None = None,
    redaction: Redaction = ALWAYS,
    progress: Callable[[str], None] | None = None,
) -> Update:
    """Read what changed under `runs` into the archive at `home`; where `redaction` changed, everything.

    `jobs` processes read runs side by side (default: one per core). Raises ArchiveError when `runs` cannot be
    listed or `home` not be written.
    """
    say = progress or (lambda text: None)
    reader = fingerprint.reader_version(redaction)
    with locked(home, say), using(redaction), Packs(home, reader) as packs:
        return _update(runs, home, jobs or os.cpu_count() or 1, redaction, packs, say)


def _update(
    runs: Path, home: Path, jobs: int, redaction: Redaction, packs: Packs, say: Callable[[str], None]
) -> Update:
    archive = home / "archive"
    archive.mkdir(parents=True, exist_ok=True)
    _recover(archive)
    old = store.load(home / "manifest.json", fingerprint.reader_version(redaction))
    listing = walk(runs, home, packs)
    packs.prune()
    found = discover(runs.resolve(), listing, _unchanged(listing, old), old.groups, old.parts)
    entries, faults = removed.load(runs) if runs.is_dir() else ((), ())
    states = {plan.id: _state(plan) for plan in found.runs}
    stale = [plan for plan in found.runs if not _fresh(plan, states[plan.id], old, archive)]
    if stale:
        say(f"reading {len(stale)} of {len(found.runs)} runs")
        packs.provide(file for plan in stale for file in _files(plan))
    ready = [replace(_with_shas(plan, old), redaction=redaction) for plan in stale]
    built = dict(_build_all(ready, archive, jobs, say))
    lost = tuple(each for each in built.values() if isinstance(each, Problem))
    changed = tuple(sorted(key for key, each in built.items() if isinstance(each, Built) and each.changed))
    gone = _clean(archive, {plan.id for plan in found.runs})
    new = _manifest(old, found, listing, states, built)
    new.problems = (*found.problems, *faults, *lost)
    new.removed = entries
    if changed and hasattr(os, "sync"):
        os.sync()  # once for all runs: a thousand runs would be five thousand fsyncs
    store.save(home / "manifest.json", new)
    present = tuple(plan.id for plan in found.runs if (archive / plan.id).is_dir())
    return Update(present, changed, gone, new.problems, new.ignored)


def _recover(archive: Path) -> None:
    """Tidy up after a killed build: a run that was being replaced gets its old folder back."""
    for folder in archive.glob(".old-*"):
        place = archive / folder.name.removeprefix(".old-")
        if not place.exists():
            folder.rename(place)
    for folder in (*archive.glob(".new-*"), *archive.glob(".old-*")):
        shutil.rmtree(folder, ignore_errors=True)


def _unchanged(listing: Listing, old: Manifest) -> dict[str, str]:
    """Formats of the files that are as they were."""
    known = {}
    for each in listing.files:
        entry = old.files.get(each.path)
        if entry and (entry["size"], entry["mtime_ns"]) == each.state:
            known[each.path] = entry["format"]
    return known


def _state(plan: RunPlan) -> list[Any]:
    """What a run looks like from outside: when this is as it was, its files are not opened."""
    inputs = [[each.path, *each.state, each.format] for each in plan.inputs]
    toml = [plan.toml.path, *plan.toml.state] if plan.toml else []
    notes = [[each.path, *each.state] for each in plan.notes]
    return [plan.path, inputs, toml, [repr(problem) for problem in plan.problems], notes]


def _files(plan: RunPlan) -> Iterator[Path]:
    for each in (*plan.inputs, *([plan.toml] if plan.toml else []), *plan.notes):
        yield each.source.file
        yield from (member.file for member in each.source.members)


def _fresh(plan: RunPlan, state: list[Any], old: Manifest, archive: Path) -> bool:
    entry = old.runs.get(plan.id)
    if entry is None or entry["state"] != state:
        return False
    return fingerprint.kept(archive / plan.id) == str(entry["fingerprint"])


def _with_shas(plan: RunPlan, old: Manifest) -> RunPlan:
    """The plan with the hashes of files that are as they were."""
    inputs = tuple(replace(each, sha=_sha(each, old) or None) for each in plan.inputs)
    return replace(plan, inputs=inputs, reader=old.reader)


def _sha(each: Input, old: Manifest) -> str:
    """Hash that the last update found, "" when the source is new or changed."""
    state, sha = old.sources.get(each.path, ((), ""))
    return str(sha) if list(state) == list(each.state) else ""


def _manifest(
    old: Manifest,
    found: Discovery,
    listing: Listing,
    states: dict[str, list[Any]],
    built: dict[str, Result],
) -> Manifest:
    read = {path: sha for each in built.values() if isinstance(each, Built) for path, sha in each.shas}
    files = {}
    for file in listing.files:
        if file.path in found.formats:
            files[file.path] = {
                "size": file.size,
                "mtime_ns": file.mtime_ns,
                "format": found.formats[file.path],
            }
    inputs = (each for plan in found.runs for each in plan.inputs)
    sources = {each.path: [list(each.state), read.get(each.path) or _sha(each, old)] for each in inputs}
    runs = {}
    for plan in found.runs:
        each = built.get(plan.id)
        if isinstance(each, Built):
            runs[plan.id] = {"state": states[plan.id], "fingerprint": each.fingerprint}
        elif each is None and plan.id in old.runs:
            runs[plan.id] = old.runs[plan.id]
    return Manifest(
        old.reader, files, dict(found.relations), runs, (), found.ignored, (), sources, dict(found.parts)
    )


def _clean(archive: Path, kept: set[str]) -> tuple[str, ...]:
    """Remove the folders of runs that are gone."""
    gone = sorted(each.name for each in archive.iterdir() if each.is_dir() and each.name not in kept)
    for name in gone:
        shutil.rmtree(archive / name, ignore_errors=True)
    return tuple(name for name in gone if not name.startswith("."))


def _build_all(
    plans: list[RunPlan], archive: Path, jobs: int, say: Callable[[str], None]
) -> Iterator[tuple[str, Result]]:
    """Build runs, the biggest first; a run that fails becomes a problem and keeps its last good folder."""
    sizes = {plan.id: sum(each.size for each in plan.inputs) for plan in plans}
    ordered = sorted(plans, key=lambda plan: (-sizes[plan.id], plan.id))
    if jobs > 1 and len(plans) > 1 and sum(sizes.values()) > SMALL:
        done = processes.side_by_side(ordered, archive, min(jobs, len(plans)))
    else:
        done = ((plan, processes.attempt(plan, archive)) for plan in ordered)
    for plan, result in done:
        if isinstance(result, Built) and result.changed:
            say(f"read {plan.id}")
        yield plan.id, result
