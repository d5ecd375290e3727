"""What a run.toml asks of the rules that no rule can give: told as problems of the run, never passed over."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sitegen.errors import Problem
from sitegen.model import Mute, Rule, Run

KIND = "run-toml"


def checked(run: Run, rules: Sequence[Rule]) -> Run:
    """`run` with a problem for each preset and each muted code that none of `rules` knows."""
    path = run.toml or run.path
    found = (*_presets(path, run.presets or (), rules), *_mutes(path, run.mutes, rules))
    return replace(run, problems=(*run.problems, *found)) if found else run


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
