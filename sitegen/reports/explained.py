"""What people wrote about a run and its incidents, the run that mended it, and notes that fit nothing."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from sitegen.archive.notes import KIND
from sitegen.errors import Problem
from sitegen.model import Findings, Note, Run
from sitegen.reports import compare
from sitegen.reports.shapes import Compared, NoteView
from sitegen.reports.visible import visible

SUCCESSOR = "successor"  # kind of the problem that a run is not there, which another archive may hold


@dataclass(frozen=True, slots=True)
class Successors:
    """Runs that the notes on one run name, and runs whose notes name it.

    Args:
        found: name as written -> id.
        near: names of no run -> what may have been meant.
        mends: ids of the runs that name this one.
    """

    found: Mapping[str, str] = field(default_factory=dict)
    near: Mapping[str, str] = field(default_factory=dict)
    mends: tuple[str, ...] = ()

    @property
    def others(self) -> tuple[str, ...]:
        """All runs that the page of this run speaks of."""
        return (*self.found.values(), *self.mends)


def successors(runs: Iterable[Run]) -> dict[str, Successors]:
    """Successors of the runs that have any, by run. A run may be named by its id or an alias."""
    known = tuple(runs)
    ids = [run.id for run in known]
    names = {alias: run.id for run in known for alias in run.aliases} | {name: name for name in ids}
    asked = {run.id: tuple(_named(run)) for run in known if run.written}
    mends: dict[str, list[str]] = defaultdict(list)
    for run, wanted in asked.items():
        for name in wanted:
            if names.get(name, run) != run and run not in mends[names[name]]:
                mends[names[name]].append(run)
    found = {}
    for run in ids:
        wanted = asked.get(run, ())
        if wanted or mends.get(run):
            there = {name: names[name] for name in wanted if names.get(name, run) != run}
            lost = {name: _near(name, names, run) for name in wanted if name not in there}
            found[run] = Successors(there, lost, tuple(sorted(mends.get(run, ()))))
    return found


def checked(run: Run, findings: Findings | None, found: Successors) -> Run:
    """`run` with a problem for each note on an incident it has not, and each successor that is not there.

    Where its `findings` are not known, no note is said to be wrong about them.
    """
    problems = [*(_lost_incidents(run, findings) if findings else ()), *_lost_runs(run, found)]
    return replace(run, problems=(*run.problems, *problems)) if problems else run


def views(run: Run, found: Successors, other: Callable[[str], Run]) -> tuple[NoteView, ...]:
    """The notes as pages show them; `other` gives a run by its id."""
    return tuple(_view(run, note, found, other) for note in run.written)


def fix(run: Run, successor: Run) -> Compared:
    """How `successor` was set up differently from `run`: here is the run, there its successor."""
    made = compare.compared(run, {SUCCESSOR: successor})
    return made[0] if made else Compared(SUCCESSOR, successor.id, successor.title, (), ())


def _view(run: Run, note: Note, found: Successors, other: Callable[[str], Run]) -> NoteView:
    successor = found.found.get(note.fixed_by or "")
    return NoteView(
        anchor=note.anchor,
        path=note.path,
        text=visible(note.text),
        named=note.fixed_by,
        fixed=fix(run, other(successor)) if successor is not None else None,
    )


def _named(run: Run) -> Iterator[str]:
    for note in run.written:
        if note.fixed_by:
            yield note.fixed_by


def _near(name: str, names: Mapping[str, str], run: str) -> str:
    if names.get(name) == run:
        return "It names the run itself: name the one that went better."
    close = difflib.get_close_matches(name, sorted(names), 1, 0.5)
    return f"Did you mean {close[0]}?" if close else "Write the id of the run, as it stands in its address."


def _lost_runs(run: Run, found: Successors) -> Iterator[Problem]:
    for note in run.written:
        name = note.fixed_by or ""
        if name in found.near:
            told = f"fixed by: there is no other run {name} in this archive; nothing is linked"
            yield Problem(note.path, note.line, SUCCESSOR, told, found.near[name])


def _lost_incidents(run: Run, findings: Findings) -> Iterator[Problem]:
    there = {one.anchor for one in (*findings.incidents, *(muted.incident for muted in findings.muted))}
    for note in run.written:
        if note.anchor and note.anchor not in there:
            close = difflib.get_close_matches(note.anchor, sorted(there), 1, 0.5)
            near = (
                f"Did you mean {close[0]}.md?"
                if close
                else f"Known are: {', '.join(sorted(there)) or 'none'}."
            )
            told = f"this run has no incident {note.anchor}; the note is shown with those on the run"
            yield Problem(note.path, 1, KIND, told, near)
