"""RUNS -> what to build: which files are logs, which of them make one run, what was not read."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sitegen import ingest
from sitegen.archive import grouping, ids, notes, runtoml, stores, unclaimed
from sitegen.archive.build import Input, RunPlan
from sitegen.archive.layout import home
from sitegen.archive.peek import Peek, Relation, peek, relation
from sitegen.archive.unpack import opened
from sitegen.archive.walk import Found, Listing, printable
from sitegen.errors import Problem
from sitegen.ingest import generations, hydra_files, sample_tables, trackers
from sitegen.ingest.source import SourceRefused

LISTED = 20  # ignored files of one folder listed one by one


@dataclass(frozen=True, slots=True)
class Discovery:
    """Runs under RUNS, and what belongs to none."""

    runs: tuple[RunPlan, ...]
    problems: tuple[Problem, ...]
    ignored: tuple[str, ...]
    formats: Mapping[str, str]  # path -> name of the format, "" = no reader claims it
    relations: Mapping[str, str]  # see `Relating`
    parts: Mapping[str, list[list[object]]]  # see `stores.in_parts`


def discover(
    root: Path,
    listing: Listing,
    formats: Mapping[str, str],
    relations: Mapping[str, str],
    parts: stores.Parts,
) -> Discovery:
    """Sort the files of RUNS into runs.

    `formats`, `relations` and `parts` are what an earlier update found out about files that did not change.
    """
    hidden = [f"{path}/ (hidden folder)" for path in listing.hidden]
    near = stores.Neighbours(listing.files)
    alone = len(listing.files) == 1 and not listing.files[0].folder  # one file, or asked for by its name
    written = [] if alone else [each for each in listing.files if notes.is_note(each.path)]
    logs = [each for each in listing.files if alone or not notes.is_note(each.path)]
    claimed, kinds, ignored, doubts = _claims(logs, formats, near)
    claimed, members = stores.with_members(claimed, kinds, near)
    claimed, noted = stores.in_parts(claimed, kinds, parts)
    ignored = [path for path in ignored if path not in members]
    problems = [*listing.problems, *(each for each in doubts if each.path not in members)]
    relating = Relating(kinds, relations)
    tomls = _outermost(listing.files, problems)
    groups = _groups(claimed, kinds, tomls, relating, listing)
    dealt = [each for each in claimed if _dealt_out(kinds[each.path])]
    runs = _plans(root, groups, kinds, tomls, problems, dealt, written)
    # A file with a problem is looked at again by every update, or the problem would be told once only.
    known = {
        each.path: kinds.get(each.path, "")
        for each in listing.files
        if each.path in kinds or each.name == runtoml.NAME
    }
    return Discovery(
        runs, tuple(problems), tuple(sorted((*_shortened(ignored), *hidden))), known, relating.used, noted
    )


class Relating:
    """Relations between files, looked up or found out by peeking; `used` is what was asked for."""

    def __init__(self, kinds: Mapping[str, str], known: Mapping[str, str]) -> None:
        self._kinds = kinds
        self._known = known
        self._peeks: dict[str, Peek] = {}
        self.used: dict[str, str] = {}

    def __call__(self, a: Found, b: Found) -> Relation:
        """Relation of two files."""
        if a.part and b.part and a.file == b.file and a.called != b.called:
            return Relation.CONTRADICT  # the file says that they are two
        a, b = sorted((a, b), key=lambda each: each.path)
        key = f"{a.path}\n{a.state}\n{b.path}\n{b.state}"
        if key not in self.used:
            self.used[key] = self._known.get(key) or relation(self._peek(a), self._peek(b)).value
        return Relation(self.used[key])

    def _peek(self, each: Found) -> Peek:
        if each.path not in self._peeks:
            form = ingest.by_name(self._kinds[each.path])
            self._peeks[each.path] = peek(each.opened(), form)
        return self._peeks[each.path]


def _passive(kind: str) -> bool:
    """Formats that are claimed and not read make no run by themselves."""
    return kind.startswith(trackers.NAME)


def _dealt_out(kind: str) -> bool:
    """Formats whose files go to the run in whose folder they lie: they say of no run by themselves."""
    return _passive(kind) or kind in (generations.NAME, sample_tables.NAME, hydra_files.NAME)


def _claims(
    files: Iterable[Found], formats: Mapping[str, str], near: stores.Neighbours
) -> tuple[list[Found], dict[str, str], list[str], list[Problem]]:
    """Files that a format claims, the format of each, the files that none claims, and what is wrong."""
    problems: list[Problem] = []
    claimed: list[Found] = []
    kinds: dict[str, str] = {}
    ignored: list[str] = []
    for each in files:
        if each.name == runtoml.NAME:
            continue
        kind = formats.get(each.path)
        if kind is None:
            kind = _sniffed(each, near, problems)
        if kind is None:
            continue
        kinds[each.path] = kind
        if kind:
            claimed.append(each)
        else:
            ignored.append(each.path)
    return claimed, kinds, ignored, problems


def _sniffed(each: Found, near: stores.Neighbours, problems: list[Problem]) -> str | None:
    """Format of a file, "" when none claims it, None when something is wrong with it (told as a problem)."""
    source = each.opened()
    try:
        form = ingest.sniff(source, near.member)
        if form is None and (problem := unclaimed.why(each, source)):
            problems.append(problem)
            return None
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
        if _dealt_out(kinds[each.path]):
            continue
        place = _under(each.folder, tomls)
        if place is None:
            free.append(each)
        else:
            described[place].append(each)
    single = len(listing.files) == len(free) == 1 and not listing.files[0].folder
    found = (
        [grouping.Group(grouping.root_name([each]), (each,)) for each in free]
        if single
        else grouping.group(free, relating)
    )
    return [*(grouping.Group(place, tuple(described[place])) for place in sorted(tomls)), *found]


def _plans(
    root: Path,
    groups: list[grouping.Group],
    kinds: Mapping[str, str],
    tomls: Mapping[str, Found],
    problems: list[Problem],
    dealt: Sequence[Found],
    written: Sequence[Found],
) -> tuple[RunPlan, ...]:
    paths = [_unsuffixed(group) or printable(root.name) or "run" for group in groups]
    names = ids.assign([(path, _own(path, group)) for path, group in zip(paths, groups, strict=True)])
    owners = _Owners(groups)
    unread = _unread((each for each in dealt if _passive(kinds[each.path])), kinds, owners)
    dumps = _dumps((each for each in dealt if kinds[each.path] == generations.NAME), owners)
    configs = _configs((each for each in dealt if kinds[each.path] == hydra_files.NAME), owners)
    tables = _tables((each for each in dealt if kinds[each.path] == sample_tables.NAME), owners)
    noted = _noted(written, owners)
    problems += [
        *_runless(noted.pop(None, [])),
        *unread.pop(None, []),
        *_unowned(dumps.pop(None, [])),
        *_unowned(tables.pop(None, [])),
        *_logless(configs.pop(None, [])),
    ]
    plans = []
    for place, (path, group) in enumerate(zip(paths, groups, strict=True)):
        toml = tomls.get(group.path) if place < len(tomls) else None
        mine = [*unread.get(place, []), *_empty(path, group)]
        files = (*group.files, *configs.get(place, ()), *dumps.get(place, ()), *tables.get(place, ()))
        inputs = tuple(Input(f.source(), kinds[f.path], f.state) for f in files)
        said = Input(toml.source(), "run-toml", toml.state) if toml else None
        about = tuple(Input(each.source(), notes.KIND, each.state) for each in noted.get(place, ()))
        plans.append(
            RunPlan(names[place], opened(group.path) or path, inputs, said, tuple(mine), notes=about)
        )
    return tuple(sorted(plans, key=lambda plan: plan.id))


def _unsuffixed(group: grouping.Group) -> str:
    """Path that a run's id is made of, without what only says how its file or folder was written."""
    folder, slash, name = group.path.rpartition("/")
    held = next((each for each in group.files if each.path == group.path), None)
    if held is not None and held.part:  # the database says no more than how it was written
        file, _, part = name.partition("#")
        return f"{folder}{slash}{file.rpartition('.')[0] or file}#{part}"
    return opened(f"{folder}{slash}{ids.stem(name)}" if held is not None else group.path)


def _own(path: str, group: grouping.Group) -> str:
    """A path that no other run has: of a folder itself, else of the first file."""
    folder = not group.files or any(each.path.startswith(f"{path}/") for each in group.files)
    return path if folder and path == group.path else group.files[0].path if group.files else path


def _empty(path: str, group: grouping.Group) -> list[Problem]:
    if group.files:
        return []
    hint = "Put the console log or the FileLogger JSONL of the run into this folder."
    return [Problem(path, None, "empty", "there is a run.toml and no log that this version reads", hint)]


class _Owners:
    """Which run a file belongs to that says of none by itself."""

    def __init__(self, groups: Sequence[grouping.Group]) -> None:
        self._groups = groups
        self._places: dict[str, list[int]] = defaultdict(list)
        for number, group in enumerate(groups):
            for folder in {group.path, *(home(f.folder) for f in group.files)}:
                self._places[folder].append(number)

    def __call__(self, each: Found) -> int | None:
        """Number of the run of the nearest folder above, when that folder has exactly one."""
        place = _under(home(each.folder), self._places)
        if place is None or len(self._places[place]) != 1:
            return None
        number = self._places[place][0]
        return None if place == "" and self._groups[number].path else number

    def of_note(self, each: Found) -> int | None:
        """The run of the folder that a note is about: the nearest one above, when it has exactly one."""
        folder = home(notes.home(each.path))
        place = _under(folder, self._places)
        numbers = self._places[place] if place is not None and (place or not folder) else []
        return numbers[0] if len(numbers) == 1 else None

    def of_dump(self, each: Found) -> int | None:
        """As above, else the only run below the folder of the dump: `x` for `x/rollouts/`, or RUNS."""
        number, place = self(each), home(each.folder)
        if number is not None:
            return number
        below = [i for i, group in enumerate(self._groups) if not place or group.path.startswith(f"{place}/")]
        return below[0] if len(below) == 1 else None

    def of_table(self, each: Found) -> int | None:
        """The run that the path of a table names, else the only one of the nearest folder that has any."""
        parts = each.folder.split("/")
        named = {self._named[part] for part in parts if part in self._named}
        if len(named) == 1:
            return named.pop()
        for depth in range(len(parts), 0, -1):
            inside = self._inside.get("/".join(parts[:depth]), set())
            if inside:
                return next(iter(inside)) if len(inside) == 1 else None
        return self.of_dump(each)

    @cached_property
    def _inside(self) -> dict[str, set[int]]:
        """Folder -> the runs that have a file in it or below."""
        found: dict[str, set[int]] = defaultdict(set)
        for number, group in enumerate(self._groups):
            for folder in {each.folder for each in group.files}:
                while folder:
                    found[folder].add(number)
                    folder = folder.rpartition("/")[0]
        return found

    @cached_property
    def _named(self) -> dict[str, int]:
        """Name of a run in its database -> the run."""
        files = ((number, each) for number, group in enumerate(self._groups) for each in group.files)
        return {each.part: number for number, each in files if each.part}

    def of_config(self, each: Found) -> int | None:
        """The one run of the nearest folder that has runs, from where Hydra's folder lies upwards."""
        place = each.folder.rpartition("/")[0]
        while place and place != home(each.folder):
            if len(self._places.get(place, ())) == 1:
                return self._places[place][0]
            place = place.rpartition("/")[0]
        number = self.of_dump(each)
        return self._below(home(each.folder)) if number is None else number

    def _below(self, folder: str) -> int | None:
        """The one run whose files lie somewhere below a folder, such as in a store of a tracker."""
        inside = [
            number
            for number, group in enumerate(self._groups)
            if folder and any(f.folder.startswith(f"{folder}/") for f in group.files)
        ]
        return inside[0] if len(inside) == 1 else None


def _noted(found: Iterable[Found], owners: _Owners) -> dict[int | None, list[Found]]:
    """Notes by the number of their run (None = no run)."""
    result: dict[int | None, list[Found]] = defaultdict(list)
    for each in found:
        result[owners.of_note(each)].append(each)
    return result


def _runless(found: Iterable[Found]) -> list[Problem]:
    """Problems for notes that lie in the folder of no run, or of several."""
    what = "a note in the folder of no run, or of several: which it is about cannot be told"
    hint = "Give each run a folder of its own and put the note there. A log needs another name than this."
    return [Problem(each.path, None, "no-run", what, hint) for each in found]


def _configs(found: Iterable[Found], owners: _Owners) -> dict[int | None, list[Found]]:
    """Hydra's configurations by the number of their run (None = no run), the newest first."""
    result: dict[int | None, list[Found]] = defaultdict(list)
    for each in sorted(found, key=lambda one: one.path, reverse=True):
        result[owners.of_config(each)].append(each)
    return result


def _logless(configs: Iterable[Found]) -> list[Problem]:
    """Problems for configurations that lie in the folder of no run, or of several."""
    what = "a configuration of Hydra in the folder of no run, or of several: whose it is cannot be told"
    hint = "Put it beside the log of its run, each run in a folder of its own."
    return [Problem(each.folder, None, "no-run", what, hint) for each in configs]


def _dumps(found: Iterable[Found], owners: _Owners) -> dict[int | None, list[Found]]:
    """Dumps of generations by the number of their run (None = no run), in the order of their steps."""
    result: dict[int | None, list[Found]] = defaultdict(list)
    for each in sorted(found, key=lambda one: (one.folder, generations.step_of(one.path) or 0, one.path)):
        result[owners.of_dump(each)].append(each)
    return result


def _tables(found: Iterable[Found], owners: _Owners) -> dict[int | None, list[Found]]:
    """Tables of samples by the number of their run (None = no run), in the order of their steps."""
    result: dict[int | None, list[Found]] = defaultdict(list)
    for each in sorted(found, key=lambda one: (one.folder, sample_tables.order(one.path))):
        result[owners.of_table(each)].append(each)
    return result


def _unowned(dumps: Iterable[Found]) -> list[Problem]:
    """Problems for dumps that lie in the folder of no run, or of several; one per folder."""
    folders: dict[str, list[Found]] = defaultdict(list)
    for each in dumps:
        folders[each.folder].append(each)
    hint = "Put the folder into that of its run; beside several logs, give each run a folder of its own."
    what = "generations that belong to no run"
    return [
        Problem(folder or ".", None, "no-run", f"{what} ({len(found)} files)", hint)
        if len(found) > 1
        else Problem(found[0].path, None, "no-run", what, hint)
        for folder, found in folders.items()
    ]


def _unread(
    passive: Iterable[Found], kinds: Mapping[str, str], owners: _Owners
) -> dict[int | None, list[Problem]]:
    """Problems for files that were recognised and not read: number of the run (None = no run) -> problems."""
    counts: Counter[tuple[int | None, str, str]] = Counter()
    first: dict[tuple[int | None, str, str], str] = {}
    for each in passive:
        kind = kinds[each.path].partition(":")[2]
        key = (owners(each), _bundle(each), kind)
        counts[key] += 1
        first.setdefault(key, each.path)
    result: dict[int | None, list[Problem]] = defaultdict(list)
    for key, n in counts.items():
        path = first[key] if n == 1 else key[1]
        result[key[0]].append(trackers.unsupported(path or ".", key[2], n))
    return result


def _bundle(each: Found) -> str:
    """Folder that a problem about an unread file names: a store of many small files is named once."""
    parts = each.folder.split("/") if each.folder else []
    for name in ("mlruns", hydra_files.FOLDER):
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
