"""Files that are no run by themselves (notes, configurations, dumps, tables), and whose they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from sitegen.archive import grouping, notes
from sitegen.archive.layout import home
from sitegen.archive.walk import Found
from sitegen.errors import Problem


def under(folder: str, places: Mapping[str, object]) -> str | None:
    """The place that `folder` is or lies below."""
    parts = folder.split("/") if folder else []
    for i in range(len(parts), -1, -1):
        if (place := "/".join(parts[:i])) in places:
            return place
    return None


class Owners:
    """Which run a file belongs to that says of none by itself."""

    def __init__(self, groups: Sequence[grouping.Group]) -> None:
        self._groups = groups
        self._places: dict[str, list[int]] = defaultdict(list)
        for number, group in enumerate(groups):
            for folder in {group.path, *(home(f.folder) for f in group.files)}:
                self._places[folder].append(number)

    def __call__(self, each: Found) -> int | None:
        """Number of the run of the nearest folder above, when that folder has exactly one."""
        place = under(home(each.folder), self._places)
        if place is None or len(self._places[place]) != 1:
            return None
        number = self._places[place][0]
        return None if place == "" and self._groups[number].path else number

    def of_note(self, each: Found) -> int | None:
        """The run of the folder that a note is about: the nearest one above, when it has exactly one."""
        folder = home(notes.home(each.path))
        place = under(folder, self._places)
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


def by_run(found: Iterable[Found], owner: Callable[[Found], int | None]) -> dict[int | None, list[Found]]:
    """Files by the number of the run that `owner` names (None = no run), in the order given."""
    result: dict[int | None, list[Found]] = defaultdict(list)
    for each in found:
        result[owner(each)].append(each)
    return result


def runless(found: Iterable[Found]) -> list[Problem]:
    """Problems for notes that lie in the folder of no run, or of several."""
    what = "a note in the folder of no run, or of several: which it is about cannot be told"
    hint = "Give each run a folder of its own and put the note there. A log needs another name than this."
    return [Problem(each.path, None, "no-run", what, hint) for each in found]


def logless(configs: Iterable[Found]) -> list[Problem]:
    """Problems for configurations that lie in the folder of no run, or of several."""
    what = "a configuration of Hydra in the folder of no run, or of several: whose it is cannot be told"
    hint = "Put it beside the log of its run, each run in a folder of its own."
    return [Problem(each.folder, None, "no-run", what, hint) for each in configs]


def unowned(dumps: Iterable[Found]) -> list[Problem]:
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
