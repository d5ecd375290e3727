"""Which files make one run.

1. A `run.toml` makes everything below its folder one run (the outermost one counts).
2. A folder that holds logs is a run. Folders that trainers and trackers make inside a run (`logs/metrics/`,
   `wandb/run-…/files/`, `outputs/…`, `rollouts/` …, see `layout`) belong to the folder above them; so does a
   folder below a run whose values agree with that run's (`<project>/<experiment>.jsonl` of the FileLogger),
   unless several such folders hold files of one kind: those are runs that a file above is a copy of.
   A name alone folds nothing: `console/train.log` beside `baseline/train.log` is a run like its sibling.
3. A folder is a collection instead, each file a run of its own, when two of its sources contradict each
   other: both begin at step 0 or 1 (or at the same step) and log different values under one name, or nothing
   in common although they are of one format, or they name different projects or experiments. Files with the
   same stem (`a.log`, `a.jsonl`, `a.log.1.gz`) stay together, and those of the processes of one job.
4. Files directly in RUNS are runs of their own, unless they agree with each other and nothing contradicts.
   When RUNS holds nothing but structure and such files, RUNS itself may be the run's folder.

5. Each run of a database is a run of its own, unless another file logs the same values, or an earlier run of
   that database has the same name and does not contradict: then it is one more source, or attempt, of that.

Everything else that lies in one folder is one run: sources that agree are merged by step, those that start
later are further attempts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from sitegen.archive import ranks
from sitegen.archive.ids import EVENTS, stem
from sitegen.archive.layout import ATTEMPT, home, is_inside, within
from sitegen.archive.peek import Relation
from sitegen.archive.walk import Found

Relate = Callable[[Found, Found], Relation]


@dataclass(frozen=True, slots=True)
class Group:
    """Files of one run. `path` is the folder or file under RUNS that names it; "" is RUNS itself."""

    path: str
    files: tuple[Found, ...]


def group(files: Sequence[Found], relate: Relate) -> list[Group]:
    """Group readable files that no run.toml claims."""
    homes = _homes(files, relate)
    groups: dict[str, list[Group]] = {}
    for where in sorted(homes):
        groups[where] = _folder(where, homes[where], relate)
    return _folded(groups, relate)


def _homes(files: Sequence[Found], relate: Relate) -> dict[str, list[Found]]:
    """Files by the folder whose run they belong to."""
    homes = defaultdict(list)
    alone = _alone(files)
    for each in files:
        homes[home(each.folder, alone)].append(each)
    structure = [each for each in homes.get("", []) if each.folder]
    others = [found for where, found in homes.items() if where]
    if structure and not all(_agree(structure, found, relate) for found in others):
        # RUNS holds runs: a folder called `logs` beside them is one more place with runs, not part of one.
        homes[""] = [each for each in homes[""] if not each.folder]
        for each in structure:
            homes[each.folder.split("/")[0]].append(each)
    return {where: found for where, found in homes.items() if found}


def _alone(files: Sequence[Found]) -> set[str]:
    """Folders with a name of structure that are runs all the same.

    `console/train.log` beside `baseline/train.log`, in a folder without a log of its own: these are siblings.
    """
    holders = {each.folder for each in files}
    shapes: dict[str, set[tuple[int, str]]] = defaultdict(
        set
    )  # folder -> (depth below it, kind of file) of what it holds
    for each in files:
        parts = each.path.split("/")
        for i in range(1, len(parts)):
            shapes["/".join(parts[:i])].add((len(parts) - i, _suffix(each.name)))
    siblings: dict[str, set[tuple[int, str]]] = defaultdict(
        set
    )  # folder -> what its folders hold that are no structure
    for folder, held in shapes.items():
        if not within(folder.split("/")):
            siblings[folder.rpartition("/")[0]] |= held
    return _rankless(shapes) | {
        folder
        for folder, held in shapes.items()
        if (above := folder.rpartition("/")[0]) not in holders and held & siblings[above]
    }


def _rankless(folders: Iterable[str]) -> set[str]:
    """Folders such as `rank8` beside `rank16`, where none is that of a process 0."""
    ranked = [folder for folder in folders if ranks.is_folder(folder.rpartition("/")[2])]
    jobs = ranks.siblings(ranked)
    return {folder for folder in ranked if folder not in jobs}


def _suffix(name: str) -> str:
    """`.log` of `train.log.1.gz`: what is left of a name without what differs from run to run."""
    kept = name.lower().removesuffix(".gz").removesuffix(".zst").rstrip("0123456789").rstrip(".")
    return kept[kept.rfind(".") :] if "." in kept else ""


def _agree(some: Iterable[Found], others: Sequence[Found], relate: Relate) -> bool:
    return any(relate(a, b) is Relation.AGREE for a in some for b in others)


def _folder(where: str, files: list[Found], relate: Relate) -> list[Group]:
    """Runs of one folder."""
    if where == "":
        direct = [each for each in files if not each.folder]
        inside = [each for each in files if each.folder]
        if len(direct) != 1 or inside:
            return _runs_itself(direct, inside, relate)
        return [Group(root_name(direct), tuple(direct))]
    if len(files) == 1 or not _contradiction(files, relate):
        return [Group(_name(where, files), tuple(files))]
    return _collection(where, files, relate)


def _runs_itself(direct: list[Found], inside: list[Found], relate: Relate) -> list[Group]:
    """Files directly in RUNS, and those in structure such as RUNS/logs/metrics/."""
    bundles = _by_stem(direct)
    everything = [*direct, *inside]
    if len(bundles) + len(inside) > 1 and _contradiction(everything, relate):
        return _collection("", everything, relate)
    parts = [*bundles.values()]
    if inside:
        parts = [inside, *parts]
    joined: list[list[Found]] = []
    for part in parts:
        friend = next((each for each in joined if _belongs(part, each, relate)), None)
        if friend is None:
            joined.append(list(part))
        else:
            friend.extend(part)
    return [Group(root_name(part), tuple(sorted(part, key=lambda f: f.path))) for part in joined]


def _belongs(part: Sequence[Found], other: Sequence[Found], relate: Relate) -> bool:
    if any(_goes_on(a, b, relate) for a in part for b in other):
        return True
    wanted = (
        {Relation.AGREE, Relation.COMPLETE} if any(f.folder for f in (*part, *other)) else {Relation.AGREE}
    )
    return any(relate(a, b) in wanted for a in part for b in other)


def root_name(files: Sequence[Found]) -> str:
    """Path that names a run of files directly in RUNS; "" where none of them says more than RUNS does."""
    if all(each.part for each in files):  # attempts of one run of a database, which may hold others one day
        return files[0].path
    attempts = {_attempt(each) for each in files}
    if len(attempts) == 1 and (only := attempts.pop()):  # other runs of its tracker will lie beside it
        return only
    stems = {stem(each.name) for each in files}
    if stems == {EVENTS}:
        return ""
    return files[0].path if len(stems) == 1 and not any(each.folder for each in files) else ""


def _contradiction(files: Sequence[Found], relate: Relate) -> bool:
    names = _bundles(files)
    return any(
        relate(a, b) is Relation.CONTRADICT
        for a, b in combinations(files, 2)
        if names[a.path] != names[b.path]
    )


def _bundles(files: Iterable[Found]) -> dict[str, tuple[str, str]]:
    """Path -> (folder, stem) of files that stay together; those of several processes share them."""
    paths = [each.path for each in files]
    jobs = ranks.siblings(paths)
    found = {}
    for path in paths:
        folder, _, name = jobs.get(path, path).rpartition("/")
        found[path] = (folder, stem(name) or "ranks")
    return found


def _collection(where: str, files: Sequence[Found], relate: Relate) -> list[Group]:
    """Each W&B or Hydra run and each stem a run; a stem that contradicts itself is split by folder."""
    bundles = defaultdict(list)
    names = _bundles(files)
    for each in files:
        bundles[_attempt(each) or _joined(where, names[each.path][1])].append(each)
    groups: list[Group] = []
    for path, bundle in sorted(bundles.items()):
        if _contradiction(bundle, relate):
            parts = _by_stem(bundle).items()
            groups += [Group(_joined(folder, name), tuple(part)) for (folder, name), part in parts]
        elif len(bundle) == 1 and bundle[0].folder == where:
            groups.append(Group(bundle[0].path, tuple(bundle)))
        else:
            groups.append(Group(path, tuple(bundle)))
    age = {each.path: place for place, each in enumerate(files)}
    return _reunited(sorted(groups, key=lambda each: age[each.files[0].path]), relate)


def _reunited(groups: Sequence[Group], relate: Relate) -> list[Group]:
    """Runs of databases put to the files that log the same training, or to the attempt before them."""
    kept = [each for each in groups if not all(file.part for file in each.files)]
    for each in (one for one in groups if all(file.part for file in one.files)):
        friend = next((one for one in reversed(kept) if _is_of(each, one, relate)), None)
        if friend is None:
            kept.append(each)
        else:
            kept[kept.index(friend)] = Group(friend.path, (*friend.files, *each.files))
    return sorted(kept, key=lambda each: each.path)


def _is_of(part: Group, other: Group, relate: Relate) -> bool:
    pairs = [(a, b) for a in part.files for b in other.files]
    return any(_goes_on(a, b, relate) for a, b in pairs) or any(
        relate(a, b) is Relation.AGREE for a, b in pairs if a.file != b.file
    )


def _goes_on(a: Found, b: Found, relate: Relate) -> bool:
    """Whether two runs of one database are attempts of one training."""
    one = a.part and b.part and a.file == b.file and a.called and a.called == b.called
    return bool(one) and relate(a, b) is not Relation.CONTRADICT


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _attempt(each: Found) -> str | None:
    """Path down to the folder of one W&B or Hydra run, when the file lies in one."""
    parts = each.folder.split("/") if each.folder else []
    for i in range(len(parts) - 1, -1, -1):
        if ATTEMPT.fullmatch(parts[i]):
            return "/".join(parts[: i + 1])
    return None


def _by_stem(files: Iterable[Found]) -> dict[tuple[str, str], list[Found]]:
    bundles = defaultdict(list)
    found = list(files)
    names = _bundles(found)
    for each in found:
        bundles[names[each.path]].append(each)
    return dict(sorted(bundles.items()))


def _name(where: str, files: Sequence[Found]) -> str:
    """Path that names the run of a whole folder. A folder that is itself structure says too little."""
    if not is_inside(where.rpartition("/")[2]):
        return where
    attempts = {_attempt(each) for each in files}
    only = attempts.pop() if len(attempts) == 1 else None
    return only or where


def _folded(groups: dict[str, list[Group]], relate: Relate) -> list[Group]:
    """Runs below a run whose values agree become part of it, not of a file that several begin with."""
    below = defaultdict(list)
    for folder in groups:
        below[_above(folder, groups)].append(folder)
    for where in sorted(groups, key=lambda each: -each.count("/")):
        for run in tuple(groups[where]) if where in below else ():
            alike = [
                (folder, one)
                for folder in below[where]
                for one in groups[folder]
                if _agree(one.files, run.files, relate)
            ]
            if not alike or (len(run.files) == 1 and _copies(alike)):
                continue
            files = (*run.files, *(file for _, one in alike for file in one.files))
            groups[where][groups[where].index(run)] = Group(
                run.path, tuple(sorted(files, key=lambda f: f.path))
            )
            for folder, one in alike:
                groups[folder].remove(one)
    return sorted((g for found in groups.values() for g in found), key=lambda g: g.path)


def _copies(alike: Sequence[tuple[str, Group]]) -> bool:
    """Whether several folders hold files of one kind: then the file above is a copy of how they begin.

    One run that several trackers wrote down is of another kind in each.
    """
    kinds: dict[str, set[str]] = defaultdict(set)
    for folder, one in alike:
        kinds[folder] |= {_suffix(file.name) for file in one.files}
    return sum(map(len, kinds.values())) > len(frozenset().union(*kinds.values()))


def _above(where: str, groups: dict[str, list[Group]]) -> str | None:
    """Nearest folder above `where` that has runs."""
    parts = where.split("/") if where else []
    while parts:
        parts.pop()
        if groups.get("/".join(parts)):
            return "/".join(parts)
    return None
