"""What a run.toml asks for that is not there: told as problems of the run, never passed over."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sitegen.errors import Problem
from sitegen.model import Mute, Rule, Run
from sitegen.reports.compare import Peers, peers

KIND = "run-toml"
BASELINE = "baseline"  # kind of the problem that a run is not there, which another archive may hold


def checked(run: Run, rules: Sequence[Rule], beside: Peers | None = None) -> Run:
    """`run` with the problems of its run.toml that `told` finds."""
    found = tuple(told(run, rules, beside or Peers()))
    return replace(run, problems=(*run.problems, *found)) if found else run


def told(run: Run, rules: Sequence[Rule], beside: Peers) -> Iterator[Problem]:
    """A problem for each preset and muted code that none of `rules` knows, and a baseline that is no run."""
    path = run.toml or run.path
    yield from _presets(path, run.presets or (), rules)
    yield from _mutes(path, run.mutes, rules)
    if beside.lost is not None:
        here = "itself" if beside.lost in (run.id, *run.aliases) else "no run of this archive"
        said = f"baseline: {beside.lost} is {here}; the run is compared with none"
        yield Problem(path, None, BASELINE, said, "Name another run by its id or one of its aliases.")


def of_runs(runs: Sequence[Run], rules: Sequence[Rule]) -> dict[str, tuple[Problem, ...]]:
    """Run -> what its run.toml asks for in vain; runs that ask for nothing such are left out."""
    known = peers(runs)
    found = {run.id: tuple(told(run, rules, known[run.id])) for run in runs}
    return {run: problems for run, problems in found.items() if problems}


def anything(run: Run) -> bool:
    """Whether a run asks for something that may not be there."""
    return bool(run.presets or run.mutes or run.baseline)


def _presets(path: str, asked: Iterable[str], rules: Sequence[Rule]) -> Iterator[Problem]:
    known = sorted({name for rule in rules for name in rule.presets})
    for name in asked:
        if name not in known:
            near = _near(name, known) or f"Known presets: {', '.join(known) or 'none'}."
            yield Problem(path, None, KIND, f"presets: no card knows {name}; it changes nothing", near)


def _mutes(path: str, mutes: Iterable[Mute], rules: Sequence[Rule]) -> Iterator[Problem]:
    kinds = {rule.code: rule.kind for rule in rules}
    for one in mutes:
        if one.rule not in kinds:
            near = _near(one.rule, kinds)
            near = near or "Codes look like KL-05. Keys about the run itself stand above [mute]."
            yield Problem(path, one.line, KIND, f"mute: there is no rule {one.rule}; nothing is muted", near)
        elif kinds[one.rule] == "phase":
            told = f"mute: {one.rule} draws phases and raises nothing; nothing is muted"
            yield Problem(path, one.line, KIND, told, "Mute the codes of incidents.")


def _near(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word.upper() if "-" in word else word, sorted(known), 1, 0.5)
    return f"Did you mean {close[0]}?" if close else ""
