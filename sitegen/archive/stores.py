"""Files that are more, or less, than one source.

A database holds several runs: each becomes a source `mlruns.db#<run>`. A folder store is one run spread over
many files: one of them is claimed by its format, the others are its members, not looked at for themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sitegen import ingest
from sitegen.archive.ids import short_hash
from sitegen.archive.walk import Found, printable
from sitegen.ingest.source import Member, Part, SourceRefused
from sitegen.redact import redact_name

Parts = Mapping[
    str, Sequence[Sequence[object]]
]  # path -> [state, (name, called, age) …] as an update left it


class Neighbours:
    """Looks up what lies beside a file."""

    def __init__(self, files: Iterable[Found]) -> None:
        self._files = {each.path: each for each in files}
        self._below: dict[str, list[Found]] | None = None

    def member(self, path: str) -> Member | None:
        """The file with that path under RUNS."""
        found = self._files.get(path)
        return Member(found.path, found.file, found.size) if found else None

    def all(self, paths: Iterable[str]) -> tuple[Found, ...]:
        """Files among `paths`, and everything below those that end in `/`; by path.

        One name within the path of a folder may be `*`, any name.
        """
        found: dict[str, Found] = {}
        for path in paths:
            for each in self._in(path) if path.endswith("/") else (self._files.get(path),):
                if each is not None:
                    found[each.path] = each
        return tuple(found[path] for path in sorted(found))

    def _in(self, folder: str) -> list[Found]:
        above, star, below = folder.partition("*/")
        if star:
            inner = {each.path[len(above) :].partition("/")[0] for each in self._in(above)}
            return [each for name in sorted(inner) for each in self._in(f"{above}{name}/{below}")]
        if self._below is None:
            self._below = {}
            for each in self._files.values():
                above = each.folder
                while above:
                    self._below.setdefault(above + "/", []).append(each)
                    above = above.rpartition("/")[0]
        return self._below.get(folder, [])


def with_members(
    claimed: Iterable[Found], kinds: Mapping[str, str], near: Neighbours
) -> tuple[list[Found], frozenset[str]]:
    """The claimed files with what is read together with them, and the paths of all such files.

    Of files that would each have the others, the first is the one that is claimed.
    """
    found: list[Found] = []
    members: set[str] = set()
    for each in claimed:
        form = _form(kinds[each.path])
        if isinstance(form, ingest.Spread) and each.path not in members:
            beside = tuple(one for one in near.all(form.beside(each.path)) if one.path != each.path)
            members.update(one.path for one in beside)
            each = replace(each, members=beside)
        found.append(each)
    return [each for each in found if each.path not in members], frozenset(members)


def in_parts(
    claimed: Iterable[Found], kinds: dict[str, str], known: Parts
) -> tuple[list[Found], dict[str, list[list[object]]]]:
    """The claimed files, those with several runs replaced by one entry per run, and what to remember of them.

    The kind of each entry is added to `kinds`. A file in which no run is found stays itself.
    """
    found: list[Found] = []
    noted: dict[str, list[list[object]]] = {}
    for each in claimed:
        form = _form(kinds[each.path])
        if not isinstance(form, ingest.Store | ingest.Named):
            found.append(each)
            continue
        state, *listed = known.get(each.path, ([],))
        if list(state) == list(each.state):
            parts = [(Part(str(name), str(called)), int(str(age))) for name, called, age in listed]
        else:
            parts = _listed(each, form)
        parts = [(replace(part, called=_quiet(part.called)), age) for part, age in parts]
        if all(_quiet(part.name) == part.name for part, _ in parts):  # else it is looked at again next time
            noted[each.path] = [list(each.state), *([part.name, part.called, age] for part, age in parts)]
        found += (split := _split(each, parts)) or [each]
        kinds.update({one.path: kinds[each.path] for one in split})
    return found, noted


def _listed(each: Found, form: ingest.Store | ingest.Named) -> list[tuple[Part, int]]:
    """Runs of a file with what tells their age; one without a name where the file is one run."""
    if isinstance(form, ingest.Store):
        return [(part, age) for age, part in enumerate(form.parts(each.opened()))]
    try:
        called, age = form.named(each.opened())
    except (SourceRefused, OSError):
        return []
    return [(Part("", called), age)]


def _form(kind: str) -> ingest.Format | None:
    try:
        return ingest.by_name(kind)
    except KeyError:  # "tracker:…", which is not read
        return None


def _split(each: Found, parts: Sequence[tuple[Part, int]]) -> list[Found]:
    return [
        replace(
            each,
            path=f"{each.path}#{_shown(part.name)}" if part.name else each.path,
            part=part.name,
            called=part.called,
            age=age,
        )
        for part, age in parts
    ]


def _quiet(name: str) -> str:
    """A name that may be remembered: one that holds a secret is known by its hash."""
    parts = name.split("/")  # an e-mail address behind a slash may be a user and a host
    return name if all(redact_name(part)[0] == part for part in parts) else short_hash(name)


def _shown(name: str) -> str:
    """A part's name as the end of a path; one that had to change stays unique by its hash."""
    text = printable(name).replace("/", "_").replace("#", "_")
    return text if text == name and text else f"{text[:80]}-{short_hash(name)}"
