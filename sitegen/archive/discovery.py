"""RUNS -> what to build: which files are logs, which of them make one run, what was not read."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sitegen import ingest
from sitegen.archive import grouping, ids, notes, runtoml, stores, unclaimed
from sitegen.archive.layout import above_store
from sitegen.archive.owners import Owners, by_run, logless, runless, under, unowned
from sitegen.archive.peek import Peek, Relation, peek, relation
from sitegen.archive.planned import Input, RunPlan
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
        outer = under(each.folder, tomls)
        if outer is None:
            tomls[each.folder] = each
        else:
            what = f"run.toml inside the run that {outer or '.'}/run.toml describes; it is not used"
            problems.append(Problem(each.path, None, "run-toml", what, "Keep one run.toml per run."))
    return tomls


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
        place = under(each.folder, tomls)
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
    names = ids.assign([_wanted(path, group) for path, group in zip(paths, groups, strict=True)])
    owners = Owners(groups)
    of_kind = defaultdict(list)
    for each in dealt:
        of_kind[kinds[each.path]].append(each)
    unread = _unread((each for each in dealt if _passive(kinds[each.path])), kinds, owners)
    dumps = by_run(sorted(of_kind[generations.NAME], key=_dumped), owners.of_dump)
    newest_first = sorted(of_kind[hydra_files.NAME], key=lambda one: one.path, reverse=True)
    configs = by_run(newest_first, owners.of_config)
    tables = by_run(sorted(of_kind[sample_tables.NAME], key=_logged), owners.of_table)
    noted = by_run(written, owners.of_note)
    problems += [
        *runless(noted.pop(None, [])),
        *unread.pop(None, []),
        *unowned(dumps.pop(None, [])),
        *unowned(tables.pop(None, [])),
        *logless(configs.pop(None, [])),
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
            RunPlan(
                names[place],
                opened(group.path) or path,
                inputs,
                said,
                tuple(mine),
                notes=about,
                numbers=_numbers(group),
            )
        )
    return tuple(sorted(plans, key=lambda plan: plan.id))


def _unsuffixed(group: grouping.Group) -> str:
    """Path that a run's id is made of, without what only says how its file or folder was written."""
    folder, slash, name = group.path.rpartition("/")
    held = next((each for each in group.files if each.path == group.path), None)
    if held is not None and held.part:
        return opened(f"{folder}{slash}{held.called}") if held.called else _numbered(group.path)
    return opened(f"{folder}{slash}{ids.stem(name)}" if held is not None else _stored(group) or group.path)


def _numbered(path: str) -> str:
    """Path of a part that has no name. The database says no more than how it was written."""
    folder, slash, name = path.rpartition("/")
    file, _, part = name.partition("#")
    return f"{folder}{slash}{file.rpartition('.')[0] or file}#{part}"


def _stored(group: grouping.Group) -> str:
    """Path of a run that its tracker keeps in a folder called by a number; "" for one that people called."""
    called = next((each.called for each in group.files if each.called and each.folder == group.path), "")
    above = above_store(group.path) if called else None
    return "" if above is None else f"{above}/{called}".removeprefix("/")


def _lead(group: grouping.Group) -> Found | None:
    """The run of a tracker's store that the group is called like."""
    if _stored(group):
        return next(each for each in group.files if each.called and each.folder == group.path)
    return next((each for each in group.files if each.called and each.part and each.path == group.path), None)


def _wanted(path: str, group: grouping.Group) -> ids.Wanted:
    lead = _lead(group)
    if lead is None:
        return ids.Wanted(path, _own(path, group))
    return ids.Wanted(path, lead.path, lead.part or lead.folder.rpartition("/")[2], lead.age)


def _numbers(group: grouping.Group) -> tuple[str, ...]:
    """Ids that a run of a tracker's store has besides: made of the numbers that the tracker gave it."""
    called = [each for each in group.files if each.called] if _lead(group) else []
    return tuple(sorted(ids.slug(_numbered(each.path) if each.part else each.folder) for each in called))


def _dumped(each: Found) -> tuple[str, int, str]:
    return each.folder, generations.step_of(each.path) or 0, each.path


def _logged(each: Found) -> tuple[str, object]:
    return each.folder, sample_tables.order(each.path)


def _own(path: str, group: grouping.Group) -> str:
    """A path that no other run has: of a folder itself, else of the first file."""
    folder = not group.files or any(each.path.startswith(f"{path}/") for each in group.files)
    return path if folder and path == group.path else group.files[0].path if group.files else path


def _empty(path: str, group: grouping.Group) -> list[Problem]:
    if group.files:
        return []
    hint = "Put the console log or the FileLogger JSONL of the run into this folder."
    return [Problem(path, None, "empty", "there is a run.toml and no log that this version reads", hint)]


def _unread(
    passive: Iterable[Found], kinds: Mapping[str, str], owners: Owners
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
