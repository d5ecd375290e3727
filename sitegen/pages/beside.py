"""Runs that a run is read beside: its seeds, its baseline, the one before it."""

from __future__ import annotations

from dataclasses import dataclass

from sitegen.language import t
from sitegen.pages import compare, render, words
from sitegen.reports.shapes import RunReport


@dataclass(frozen=True, slots=True)
class Seeds:
    """What a run page says of its seed group."""

    text: str  # "One of 3 seeds"
    keys: str
    others: tuple[tuple[str, str, str], ...]  # (address, title, seed)
    here: str  # seed of this run
    curves: str  # address of all of them over each other, as mean with band


@dataclass(frozen=True, slots=True)
class Beside:
    """Links at the top of a run page."""

    seeds: Seeds | None
    links: tuple[tuple[str, str, str], ...]  # (address, words, title of the other run)

    def __bool__(self) -> bool:
        return self.seeds is not None or bool(self.links)


def beside(report: RunReport) -> Beside:
    """Links to comparisons with the runs that `report` knows of."""
    root = render.root(f"runs/{report.run.id}/")
    links = tuple(
        (compare.link(root, (report.run.id, run)), t("compare with {relation}", relation=t(relation)), title)
        for relation, run, title in report.peers
    )
    return Beside(_seeds(report, root), links)


def _seeds(report: RunReport, root: str) -> Seeds | None:
    group = report.seeds
    if group is None:
        return None
    members = [one.run for one in group.members]
    counted = words.plural(group.seeds, "seed")
    again = "" if group.seeds == len(members) else f" in {words.plural(len(members), 'run')}"
    first = [report.run.id, *(run for run in members if run != report.run.id)][: compare.MOST]
    return Seeds(
        text=f"One of {counted}{again}",
        keys=", ".join(group.keys),
        others=tuple((f"{root}runs/{one.run}/", one.title, one.seed) for one in group.members
                     if one.run != report.run.id),
        here=group.seed_of(report.run.id),
        curves=compare.link(root, first, seeds="mean"),
    )  # fmt: skip
