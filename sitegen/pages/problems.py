"""Data problems: what could not be read, what was changed while reading, what no reader claimed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby

from sitegen.errors import Problem
from sitegen.language import t
from sitegen.language.retold import retold
from sitegen.model import Page
from sitegen.pages import render as rendering
from sitegen.pages import words
from sitegen.reports.shapes import ArchiveReport

PATH = "problems/"

FEW = 10  # a run with more is folded


@dataclass(frozen=True, slots=True)
class Group:
    """The problems of one run, or of the archive itself where `run` is ""."""

    run: str
    kinds: tuple[tuple[str, tuple[Problem, ...]], ...]

    @property
    def total(self) -> int:
        """Problems of all kinds."""
        return sum(len(found) for _, found in self.kinds)


def page(archive: ArchiveReport, render: rendering.Render) -> Page:
    """`/problems/`, grouped by run and kind; the archive's own come first."""
    return rendering.page(
        render,
        "problems.html",
        PATH,
        title=t("Data problems"),
        description=t(
            "{problems} while reading the archive.", problems=words.plural(len(archive.problems), "problem")
        ),
        kind="problems",
        search=False,
        groups=groups(archive.problems),
        kinds=Counter(problem.kind for _, problem in archive.problems),
        few=FEW,
        total=len(archive.problems),
        ignored=archive.ignored,
        titles={row.id: row.title for row in archive.runs},
    )


def groups(problems: tuple[tuple[str, Problem], ...]) -> tuple[Group, ...]:
    """Problems by run, and within it by kind."""
    by_run: dict[str, list[Problem]] = {}
    for run, problem in problems:
        by_run.setdefault(run, []).append(problem)
    return tuple(Group(run, _kinds(found)) for run, found in sorted(by_run.items()))


def _kinds(problems: list[Problem]) -> tuple[tuple[str, tuple[Problem, ...]], ...]:
    ordered = sorted(problems, key=lambda p: (p.kind, p.path, p.line or 0))
    return tuple((kind, tuple(found)) for kind, found in groupby(ordered, key=lambda p: p.kind))


def told(problem: Problem) -> str:
    """What was found and what to do, in the spoken language."""
    return t("{found} {hint}", found=retold(problem.message), hint=retold(problem.hint))
