"""The incidents of `report.md`: numbers, causes, advice with the run's own settings, log lines."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from sitegen.language import t
from sitegen.model import Fact, Incident, Severity
from sitegen.pages import advice, words
from sitegen.pages.gfm import code, escape, log, quoted, table
from sitegen.pages.notes import changed
from sitegen.reports.shapes import NoteView, RunReport

_CODE = re.compile(r"`([^`]+)`")


def incidents(report: RunReport) -> str:
    """A section for each incident that is more than a remark."""
    serious = [one for one in report.incidents if one.severity > Severity.INFO]
    return "\n\n".join(_incident(one, report) for one in serious)


def explained(report: RunReport) -> str:
    """What people wrote about the run, and about incidents that have no section of their own."""
    told = {one.anchor for one in report.incidents if one.severity > Severity.INFO}
    found = [_note(note) for note in report.notes if note.anchor not in told]
    mends = [
        t("This run fixed {title} ({run}).", title=escape(title), run=code(run))
        for run, title in report.mends
    ]
    return "\n\n".join([f"## {t('Explained by people')}", *found, *mends]) if found or mends else ""


def _note(note: NoteView) -> str:
    about = t("On {anchor}", anchor=escape(note.anchor)) if note.anchor else t("Explained")
    parts = [
        t("{about} ({path}):", about=about, path=code(note.path)),
        quoted(note.text) if note.text else "",
    ]
    if note.fixed is not None:
        fixed = t("Fixed by {title} ({run}).", title=escape(note.fixed.title), run=code(note.fixed.run))
        parts.append(fixed)
        rows = [(code(row.key), code(row.here or ""), code(row.there or "")) for row in changed(note.fixed)]
        parts.append(table((t("set differently there"), t("this run"), t("the other")), rows) if rows else "")
    elif note.named:
        lost = t("Fixed by {run}, which is no other run of this archive.", run=code(note.named))
        parts.append(lost)
    return "\n\n".join(part for part in parts if part)


def _incident(incident: Incident, report: RunReport) -> str:
    config = report.run.config
    # GitHub makes an anchor of a heading's words: the heading is the anchor, the title follows.
    what = t(
        "{title} ({severity}, {where}).",
        title=f"**{escape(incident.title)}**",
        severity=t(incident.severity.word),
        where=words.span(incident.first, incident.last),
    )
    parts = [
        f"### {incident.anchor}",
        f"{what}{t(' ')}{_closed(incident.message)}",
        _numbers(incident.evidence.facts),
        *(_note(note) for note in report.notes if note.anchor == incident.anchor),
        _bullets(t("Likely causes"), incident.causes, config),
        _bullets(t("What to do"), incident.advice, config),
        log(incident.evidence.lines),
    ]
    return "\n\n".join(part for part in parts if part)


def _closed(text: str) -> str:
    return escape(text if text.endswith((".", "…", "?", "。", "？")) else t("{sentence}.", sentence=text))


def _numbers(facts: Sequence[Fact]) -> str:
    rows = [
        (
            escape(t("{label} ({unit})", label=fact.label, unit=fact.unit) if fact.unit else fact.label),
            _number(fact.before),
            _number(fact.after),
        )
        for fact in facts
    ]
    return table(("", t("before"), t("after")), rows, numbers=(1, 2)) if rows else ""


def _number(value: float | None) -> str:
    return words.number(value) if value is None or math.isfinite(value) else t("not finite")


def _bullets(title: str, lines: Sequence[str], config: Mapping[str, str]) -> str:
    return (
        t("{title}:", title=title) + "\n\n" + "\n".join(f"- {advised(line, config)}" for line in lines)
        if lines
        else ""
    )


def advised(line: str, config: Mapping[str, str]) -> str:
    """A line of a card, which is Markdown: code stays code, with the run's own value behind it."""
    found, place = [], 0
    for match in _CODE.finditer(line):
        found += [_prose(line[place : match.start()]), _with_value(match.group(1), config)]
        place = match.end()
    return "".join([*found, _prose(line[place:])])


def _prose(text: str) -> str:
    return text.replace("<", "&lt;").replace("|", "\\|").replace("\n", " ")


def _with_value(key: str, config: Mapping[str, str]) -> str:
    value = advice.current(key, config)
    return (
        code(key)
        if value is None
        else f"{code(key)}{t(' ')}{t('(now {value})', value=code(words.clip(value, 60)))}"
    )
