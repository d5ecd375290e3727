"""Bringing an archive up to date: only runs whose files changed are read again."""

from __future__ import annotations

import gc
import os
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from sitegen.archive import manifest as store
from sitegen.archive import removed
from sitegen.archive.build import Built, RunPlan, build, fingerprint_of, reader_version
from sitegen.archive.discovery import Discovery, discover
from sitegen.archive.lock import locked
from sitegen.archive.manifest import Manifest
from sitegen.archive.walk import Listing, walk
from sitegen.errors import Problem

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
    runs: Path, home: Path, *, jobs: int | None = None, progress: Callable[[str], None] | None = None
) -> Update:
    """Read what changed under `runs` into the archive at `home`.

    `jobs` processes read runs side by side (default: one per core). Raises ArchiveError when `runs` cannot be
    listed or `home` not be written.
    """
    say = progress or (lambda text: None)
    with locked(home, say):
        return _update(runs, home, jobs or os.cpu_count() or 1, say)


def _update(runs: Path, home: Path, jobs: int, say: Callable[[str], None]) -> Update:
    archive = home / "archive"
    archive.mkdir(parents=True, exist_ok=True)
    _recover(archive)
    old = store.load(home / "manifest.json", reader_version())
    listing = walk(runs, home)
    found = discover(runs.resolve(), listing, _unchanged(listing, old), old.groups)
    entries, faults = removed.load(runs) if runs.is_dir() else ((), ())
    states = {plan.id: _state(plan, listing) for plan in found.runs}
    stale = [plan for plan in found.runs if not _fresh(plan, states[plan.id], old, archive)]
    if stale:
        say(f"reading {len(stale)} of {len(found.runs)} runs")
    built = dict(_build_all([_with_shas(plan, old, listing) for plan in stale], archive, jobs, say))
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


def _state(plan: RunPlan, listing: Listing) -> list[Any]:
    """What a run looks like from outside: when this is as it was, its files are not opened."""
    states = {each.path: each.state for each in listing.files}
    inputs = [[each.path, *states[each.path], each.format] for each in plan.inputs]
    toml = [plan.toml.path, *states[plan.toml.path]] if plan.toml else []
    return [plan.path, inputs, toml, [repr(problem) for problem in plan.problems]]


def _fresh(plan: RunPlan, state: list[Any], old: Manifest, archive: Path) -> bool:
    entry = old.runs.get(plan.id)
    if entry is None or entry["state"] != state:
        return False
    return fingerprint_of(archive / plan.id) == str(entry["fingerprint"])


def _with_shas(plan: RunPlan, old: Manifest, listing: Listing) -> RunPlan:
    """The plan with the hashes of files that are as they were."""
    states = {each.path: each.state for each in listing.files}
    inputs = []
    for each in plan.inputs:
        entry = old.files.get(each.path)
        same = entry and (entry["size"], entry["mtime_ns"]) == states[each.path]
        inputs.append(replace(each, sha=entry["sha"] or None) if entry and same else each)
    return replace(plan, inputs=tuple(inputs), reader=old.reader)


def _manifest(
    old: Manifest,
    found: Discovery,
    listing: Listing,
    states: dict[str, list[Any]],
    built: dict[str, Built | Problem],
) -> Manifest:
    read = {path: sha for each in built.values() if isinstance(each, Built) for path, sha in each.shas}
    files = {}
    for file in listing.files:
        if file.path in found.formats:
            entry = old.files.get(file.path)
            kept = entry["sha"] if entry and (entry["size"], entry["mtime_ns"]) == file.state else ""
            files[file.path] = {
                "size": file.size,
                "mtime_ns": file.mtime_ns,
                "format": found.formats[file.path],
                "sha": read.get(file.path, kept),
            }
    runs = {}
    for plan in found.runs:
        each = built.get(plan.id)
        if isinstance(each, Built):
            runs[plan.id] = {"state": states[plan.id], "fingerprint": each.fingerprint}
        elif each is None and plan.id in old.runs:
            runs[plan.id] = old.runs[plan.id]
    return Manifest(old.reader, files, dict(found.relations), runs, (), found.ignored)


def _clean(archive: Path, kept: set[str]) -> tuple[str, ...]:
    """Remove the folders of runs that are gone."""
    gone = sorted(each.name for each in archive.iterdir() if each.is_dir() and each.name not in kept)
    for name in gone:
        shutil.rmtree(archive / name, ignore_errors=True)
    return tuple(name for name in gone if not name.startswith("."))


def _build_all(
    plans: list[RunPlan], archive: Path, jobs: int, say: Callable[[str], None]
) -> Iterator[tuple[str, Built | Problem]]:
    """Build runs, the biggest first; a run that fails becomes a problem and keeps its last good folder."""
    sizes = {plan.id: sum(each.size for each in plan.inputs) for plan in plans}
    ordered = sorted(plans, key=lambda plan: (-sizes[plan.id], plan.id))
    if jobs > 1 and len(plans) > 1 and sum(sizes.values()) > SMALL:
        done = _in_processes(ordered, archive, min(jobs, len(plans)))
    else:
        done = ((plan, _attempt(plan, archive)) for plan in ordered)
    for plan, result in done:
        if isinstance(result, Built) and result.changed:
            say(f"read {plan.id}")
        yield plan.id, result


def _attempt(plan: RunPlan, archive: Path) -> Built | Problem:
    try:
        return build(plan, archive)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return Problem(plan.path, None, "internal", f"the run could not be written to the archive: {reason}")
    except Exception as error:  # one bad run never stops the others
        what = f"the run could not be built ({type(error).__name__})"
        return Problem(plan.path, None, "internal", what, "Please report it with the run's files.")


def _in_processes(
    plans: Iterable[RunPlan], archive: Path, jobs: int
) -> Iterator[tuple[RunPlan, Built | Problem]]:
    """Build in `jobs` processes, this one among them; starting one costs as much as reading 50 MB.

    The others take the biggest runs, this one the smallest that is left. What a dying process left undone is
    tried again, each run in a process of its own.
    """
    left = deque(plans)
    busy: dict[Future[Built | Problem], RunPlan] = {}
    undone: list[RunPlan] = []
    with _pool(jobs - 1) as pool:
        while left or busy:
            while left and len(busy) < 2 * (jobs - 1) and not undone:
                plan = left.popleft()
                try:
                    busy[pool.submit(_attempt, plan, archive)] = plan
                except BrokenProcessPool:
                    undone.append(plan)
            if left:
                plan = left.pop()
                yield plan, _attempt(plan, archive)
            for future in wait(busy, 0 if left else None, FIRST_COMPLETED).done:
                plan = busy.pop(future)
                try:
                    yield plan, future.result()
                except BrokenProcessPool:
                    undone.append(plan)
    for plan in undone:
        yield plan, _alone(plan, archive)


def _alone(plan: RunPlan, archive: Path) -> Built | Problem:
    try:
        with _pool(1) as pool:
            return pool.submit(_attempt, plan, archive).result()
    except BrokenProcessPool:
        hint = "It may have run out of memory."
        return Problem(plan.path, None, "internal", "the process that read the run died", hint)


def _pool(jobs: int) -> ProcessPoolExecutor:
    # Not fork: the caller may have threads (mkdocs serve has), and a forked lock may never open again.
    # Records are trees of lists and floats: looking for cycles among them costs a fifth of the reading time.
    return ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=gc.set_threshold, initargs=(200_000, 50, 100)
    )
