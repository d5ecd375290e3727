"""What to do first and what to change then: the lines of advice that stand beside the verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.model import Incident, Severity
from sitegen.pages import advice, notes, words
from sitegen.reports.shapes import RunReport

_FIRST = 200  # characters of a first piece of advice above the fold
_CHANGE = 320  # of a change: it names several settings with their values
_CODE = re.compile(r"`([^`]+)`")
# What a trainer saves, resumes and writes down changes nothing in how it learns.
_ASIDE = "trainer."
# Advice that asks to look somewhere names settings, too, and changes none.
_LOOKS = re.compile(
    r"(?:(?:check|look|compare|read|find|test|see)\b|检查|查看|看|对比|比较|阅读|找|确认|先看)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Next:
    """A line of advice, and the card that says more."""

    text: Markup
    anchor: str
    people: bool = False  # written by people about this very run


def first(report: RunReport) -> Next | None:
    """First advice of the headline's incident, or of the worst that has any."""
    for incident in _serious(report):
        if incident.advice:
            return _next(incident.advice[0], incident.anchor, report, _FIRST)
    return None


def change(report: RunReport) -> Next | None:
    """What to set differently: the fix that people wrote down, else advice that names a setting of this run.

    The suspected root is asked before the headline's incident, and settings that differ from those of the
    baseline or the previous run before others. None where it would only repeat `first`.
    """
    written = notes.fix_of(report)
    if written is not None:
        return Next(written[1], written[0], people=True)
    lines = [(line, anchor) for line, anchor in _lines(report) if _levers(line, report.run.config)]
    if not lines:
        return None
    differing = {row.key for one in report.compared for row in one.differing}
    line, anchor = next((one for one in lines if _levers(one[0], report.run.config) & differing), lines[0])
    told = next((one.advice[0] for one in _serious(report) if one.advice), "")
    return None if line == told else _next(line, anchor, report, _CHANGE)


def _next(line: str, anchor: str, report: RunReport, limit: int) -> Next:
    return Next(advice.line(words.clip(line, limit), report.run.config), anchor)


def _serious(report: RunReport) -> Iterator[Incident]:
    return (one for one in report.incidents if one.severity > Severity.INFO)


def _lines(report: RunReport) -> Iterator[tuple[str, str]]:
    """Advice of the suspected root, then of the headline's incident, with their anchors."""
    root = (one for one in report.incidents if report.root and one.anchor == report.root)
    for incident in (*root, *list(_serious(report))[:1]):
        yield from ((line, incident.anchor) for line in incident.advice if not _LOOKS.match(line))


def _levers(line: str, config: Mapping[str, str]) -> frozenset[str]:
    """Settings of training that `line` names and the run states."""
    named = (advice.named(code, config) for code in _CODE.findall(line))
    return frozenset(key for key in named if key is not None and not key.startswith(_ASIDE))
