"""RUNS -> what to build: which files are logs, which of them make one run, what was not read."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sitegen import ingest
from sitegen.archive import grouping, ids, runtoml
from sitegen.archive.build import Input, RunPlan
from sitegen.archive.layout import home
from sitegen.archive.peek import Peek, Relation, peek, relation
from sitegen.archive.walk import Found, Listing, printable
from sitegen.errors import Problem
from sitegen.ingest import trackers
from sitegen.ingest.source import Source, SourceRefused

LISTED = 20  # ignored files of one folder listed one by one


@dataclass(frozen=True, slots=True)
class Discovery:
    """Runs under RUNS, and what belongs to none."""

    runs: tuple[RunPlan, ...]
    problems: tuple[Problem, ...]
    ignored: tuple[str, ...]
    formats: Mapping[str, str]  # path -> name of the format, "" = no reader claims it
    relations: Mapping[str, str]  # see `Relating`


def discover(
    root: Path, listing: Listing, formats: Mapping[str, str], relations: Mapping[str, str]
) -> Discovery:
    """Sort the files of RUNS into runs.

    `formats` and `relations` are what an earlier update found out about files that did not change since.
    """
    problems = list(listing.problems)
    claimed, kinds, ignored = _claims(listing.files, formats, problems)
    relating = Relating(kinds, relations)
    tomls = _outermost(listing.files, problems)
    groups = _groups(claimed, kinds, tomls, relating, listing)
    runs = _plans(root, groups, kinds, tomls, problems, [f for f in claimed if _passive(kinds[f.path])])
    known = {each.path: kinds.get(each.path, "") for each in listing.files}
    return Discovery(runs, tuple(problems), _shortened(ignored), known, relating.used)


class Relating:
    """Relations between files, looked up or found out by peeking; `used` is what was asked for."""

    def __init__(self, kinds: Mapping[str, str], known: Mapping[str, str]) -> None:
        self._kinds = kinds
        self._known = known
        self._peeks: dict[str, Peek] = {}
        self.used: dict[str, str] = {}

    def __call__(self, a: Found, b: Found) -> Relation:
        """Relation of two files."""
        a, b = sorted((a, b), key=lambda each: each.path)
        key = f"{a.path}\n{a.state}\n{b.path}\n{b.state}"
        if key not in self.used:
            self.used[key] = self._known.get(key) or relation(self._peek(a), self._peek(b)).value
        return Relation(self.used[key])

    def _peek(self, each: Found) -> Peek:
        if each.path not in self._peeks:
            form = ingest.by_name(self._kinds[each.path])
            self._peeks[each.path] = peek(Source(each.path, each.file, each.size), form)
        return self._peeks[each.path]


def _passive(kind: str) -> bool:
    """Formats that are claimed and not read make no run by themselves."""
    return kind.startswith(trackers.NAME)


def _claims(
    files: Iterable[Found], formats: Mapping[str, str], problems: list[Problem]
) -> tuple[list[Found], dict[str, str], list[str]]:
    """Files that a format claims, the format of each, and the files that none claims."""
    claimed: list[Found] = []
    kinds: dict[str, str] = {}
    ignored: list[str] = []
    for each in files:
        if each.name == runtoml.NAME:
            continue
        kind = formats.get(each.path)
        if kind is None:
            kind = _sniffed(each, problems)
        if kind is None:
            continue
        kinds[each.path] = kind
        if kind:
            claimed.append(each)
        else:
            ignored.append(each.path)
    return claimed, kinds, ignored


def _sniffed(each: Found, problems: list[Problem]) -> str | None:
    """Format of a file, "" when none claims it, None when it cannot be opened (told as a problem)."""
    source = Source(each.path, each.file, each.size)
    try:
        form = ingest.sniff(source)
        if form is None:
            source.probe()
        if form is trackers:
            return f"{trackers.NAME}:{trackers.which(each.path, source.head(ingest.HEAD))}"
    except SourceRefused as error:
        problems.append(Problem(each.path, None, error.kind, str(error), error.hint))
        return None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        hint = "Check owner and permissions."
        problems.append(Problem(each.path, None, "unreadable", f"cannot be read: {reason}", hint))
        return None
    return form.NAME if form else ""


def _outermost(files: Iterable[Found], problems: list[Problem]) -> dict[str, Found]:
    """Folder -> its run.toml, for those that are not inside the run of another one."""
    tomls: dict[str, Found] = {}
    for each in sorted((f for f in files if f.name == runtoml.NAME), key=lambda f: f.path.count("/")):
        outer = _under(each.folder, tomls)
        if outer is None:
            tomls[each.folder] = each
        else:
            what = f"run.toml inside the run that {outer or '.'}/run.toml describes; it is not used"
            problems.append(Problem(each.path, None, "run-toml", what, "Keep one run.toml per run."))
    return tomls


def _under(folder: str, places: Mapping[str, object]) -> str | None:
    """The place that `folder` is or lies below."""
    parts = folder.split("/") if folder else []
    for i in range(len(parts), -1, -1):
        if (place := "/".join(parts[:i])) in places:
            return place
    return None


def _groups(
    claimed: Iterable[Found],
    kinds: Mapping[str, str],
    tomls: Mapping[str, Found],
    relating: Relating,
    listing: Listing,
) -> list[grouping.Group]:
    described = defaultdict(list)
    free: list[Found] = []
    for each in claimed:
        if _passive(kinds[each.path]):
            continue
        place = _under(each.folder, tomls)
        if place is None:
            free.append(each)
        else:
            described[place].append(each)
    single = len(listing.files) == 1 and not listing.files[0].folder
    found = (
        [grouping.Group(each.path, (each,)) for each in free] if single else grouping.group(free, relating)
    )
    return [*(grouping.Group(place, tuple(described[place])) for place in sorted(tomls)), *found]


def _plans(
    root: Path,
    groups: list[grouping.Group],
    kinds: Mapping[str, str],
    tomls: Mapping[str, Found],
    problems: list[Problem],
    passive: Iterable[Found],
) -> tuple[RunPlan, ...]:
    paths = [_unsuffixed(group) or printable(root.name) or "run" for group in groups]
    names = ids.assign(paths)
    unread = _unread(passive, kinds, groups)
    problems += unread.pop(None, [])
    plans = []
    for place, (path, group) in enumerate(zip(paths, groups, strict=True)):
        toml = tomls.get(group.path) if place < len(tomls) else None
        mine = [*unread.get(place, []), *_empty(path, group)]
        inputs = tuple(Input(f.path, f.file, f.size, kinds[f.path]) for f in group.files)
        said = Input(toml.path, toml.file, toml.size, "run-toml") if toml else None
        plans.append(RunPlan(names[path], group.path or path, inputs, said, tuple(mine)))
    return tuple(sorted(plans, key=lambda plan: plan.id))


def _unsuffixed(group: grouping.Group) -> str:
    """Path that a run's id is made of: of a single file without what only says how it was written."""
    folder, slash, name = group.path.rpartition("/")
    is_file = any(each.path == group.path for each in group.files)
    return f"{folder}{slash}{ids.stem(name)}" if is_file else group.path


def _empty(path: str, group: grouping.Group) -> list[Problem]:
    if group.files:
        return []
    hint = "Put the console log or the FileLogger JSONL of the run into this folder."
    return [Problem(path, None, "empty", "there is a run.toml and no log that this version reads", hint)]


def _unread(
    passive: Iterable[Found], kinds: Mapping[str, str], groups: list[grouping.Group]
) -> dict[int | None, list[Problem]]:
    """Problems for files that were recognised and not read: number of the run (None = no run) -> problems."""
    owners: dict[str, list[int]] = defaultdict(list)
    for number, group in enumerate(groups):
        for folder in {group.path, *(home(f.folder) for f in group.files)}:
            owners[folder].append(number)
    counts: Counter[tuple[int | None, str, str]] = Counter()
    first: dict[tuple[int | None, str, str], str] = {}
    for each in passive:
        kind = kinds[each.path].partition(":")[2]
        key = (_owner(each, owners, groups), _bundle(each), kind)
        counts[key] += 1
        first.setdefault(key, each.path)
    result: dict[int | None, list[Problem]] = defaultdict(list)
    for key, n in counts.items():
        path = first[key] if n == 1 else key[1]
        result[key[0]].append(trackers.unsupported(path or ".", key[2], n))
    return result


def _owner(each: Found, owners: Mapping[str, list[int]], groups: Sequence[grouping.Group]) -> int | None:
    """The run of the nearest folder above, when that folder has exactly one."""
    place = _under(home(each.folder), owners)
    if place is None or len(owners[place]) != 1:
        return None
    number = owners[place][0]
    return None if place == "" and groups[number].path else number


def _bundle(each: Found) -> str:
    """Folder that a problem about an unread file names: a store of many small files is named once."""
    parts = each.folder.split("/") if each.folder else []
    for name in ("mlruns", ".hydra"):
        if name in parts:
            return "/".join(parts[: parts.index(name) + 1])
    return each.folder


def _shortened(paths: Iterable[str]) -> tuple[str, ...]:
    """Ignored files; of a folder with many (checkpoints) the count."""
    folders = defaultdict(list)
    for path in paths:
        folders[path.rpartition("/")[0]].append(path)
    shown = []
    for folder, found in folders.items():
        shown += found if len(found) <= LISTED else [f"{folder or '.'}/ ({len(found)} files)"]
    return tuple(sorted(shown))
