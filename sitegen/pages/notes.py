"""Notes by people as shown: safe HTML, the run that mended it, and how that one was set up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.pages import advice, prose, words
from sitegen.reports.shapes import Compared, Difference, NoteView, RunReport

_CLIP = 200  # characters of a value
_REMEDY = 320  # of a fix, above the fold
# A paragraph that begins with "Fix:", "**Fix.**" or the like; its first sentence is enough.
_FIXED = re.compile(
    r"(?:\*\*|__)?(?:fix|修复|解决(?:办法|方法)?)(?:\*\*|__)?\s*[.:：。]\s*(?:\*\*|__)?\s*(\S.*)", re.I | re.S
)
_SENTENCE = re.compile(r"(?<=[.!?])\s|(?<=[。！？])")
_FEW = 12  # settings that are not folded
# Settings that say what a run is called and where it writes: they differ between any two.
_NAMING = (
    "experiment_name",
    "project_name",
    "run_name",
    "default_local_dir",
    "default_hdfs_dir",
    "rollout_data_dir",
    "validation_data_dir",
)


@dataclass(frozen=True, slots=True)
class Fix:
    """The run that a note says fixed it, and what was set differently there."""

    title: str
    href: str
    rows: tuple[Difference, ...]
    naming: int  # further settings that differ, which name the runs only
    open: bool  # told here at length, elsewhere folded


@dataclass(frozen=True, slots=True)
class Note:
    """A note as text."""

    about: str  # "" or the incident that the run does not have
    path: str
    html: Markup | None
    fix: Fix | None
    lost: str | None  # the run that it names, where there is none of that name


@dataclass(frozen=True, slots=True)
class Told:
    """What the top of a page says of its notes."""

    anchors: tuple[str, ...]  # "notes" for those on the run, and incidents
    fixes: tuple[Fix, ...]
    mends: tuple[tuple[str, str], ...]  # (title, address) of runs that this one fixed


def of_incident(report: RunReport, anchor: str, root: str) -> tuple[Note, ...]:
    """Notes on one incident; `root` leads from the page to the root of the site."""
    longest = _first(report)
    return tuple(_note(each, root, longest) for each in report.notes if each.anchor == anchor)


def of_run(report: RunReport, root: str) -> tuple[Note, ...]:
    """Notes on the run, and those on incidents that it does not have."""
    there, longest = _anchors(report), _first(report)
    mine = (each for each in report.notes if each.anchor not in there)
    return tuple(_note(each, root, longest, each.anchor) for each in mine)


def told(report: RunReport, root: str) -> Told | None:
    """Who explained what, None where nobody did."""
    there = _anchors(report)
    anchors = dict.fromkeys(each.anchor if each.anchor in there else "notes" for each in report.notes)
    fixes = {each.fixed.run: _fix(each.fixed, root, False) for each in report.notes if each.fixed is not None}
    mends = tuple((title, f"{root}runs/{run}/") for run, title in report.mends)
    return Told(tuple(anchors), tuple(fixes.values()), mends) if anchors or mends else None


def fix_of(report: RunReport) -> tuple[str, Markup] | None:
    """What people wrote down as the fix, and the anchor of the note: the headline's incident first."""
    there = _anchors(report)
    main = report.incidents[0].anchor if report.incidents else ""
    for each in sorted(report.notes, key=lambda one: one.anchor != main):
        for paragraph in re.split(r"\n\s*\n", each.text):
            found = _FIXED.match(paragraph.strip())
            if found:
                said = _SENTENCE.split(" ".join(found[1].split()), maxsplit=1)[0]
                anchor = each.anchor if each.anchor in there else "notes"
                return anchor, advice.line(words.clip(said, _REMEDY), {})
    return None


def _anchors(report: RunReport) -> set[str]:
    return {one.anchor for one in (*report.incidents, *(muted.incident for muted in report.muted))}


def _first(report: RunReport) -> dict[str, NoteView]:
    """Successor -> the first note that names it: the one on the run where there is one."""
    found: dict[str, NoteView] = {}
    for each in report.notes:
        if each.fixed is not None:
            found.setdefault(each.fixed.run, each)
    return found


def _note(each: NoteView, root: str, longest: Mapping[str, NoteView], about: str = "") -> Note:
    fix = None if each.fixed is None else _fix(each.fixed, root, longest[each.fixed.run] is each)
    html = prose.note(each.text) if each.text else None
    return Note(about, each.path, html, fix, each.named if fix is None else None)


def _fix(each: Compared, root: str, first: bool) -> Fix:
    rows = tuple(changed(each))
    naming = len(each.differing) - len(rows)
    return Fix(each.title, f"{root}runs/{each.run}/", rows, naming, first and len(rows) <= _FEW)


def changed(each: Compared) -> Iterator[Difference]:
    """Settings that differ, without those that only name a run and its folders."""
    for row in each.differing:
        if row.key.rpartition(".")[2] not in _NAMING:
            yield Difference(row.key, words.clip(row.here or "", _CLIP), words.clip(row.there or "", _CLIP))
