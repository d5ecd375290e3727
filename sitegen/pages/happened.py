"""What happened in a run: a card per incident, the remarks, and what could not be checked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from sitegen import charts
from sitegen.language import t
from sitegen.metrics import glossary
from sitegen.model import Fact, Incident, LogLine, Outcome, Severity
from sitegen.pages import advice, evidence, figures, notes, samples, traces, words
from sitegen.pages import render as rendering
from sitegen.reports.shapes import RunReport

_TOGETHER = 10  # steps within which incidents of a rule are one event; more in a long run
_SHARE = 0.03  # of the steps of a run


@dataclass(frozen=True, slots=True)
class Change:
    """A number before and after the onset, as text; None = the run did not log it."""

    label: str
    before: str | None
    after: str | None
    unit: str


@dataclass(frozen=True, slots=True)
class Brief:
    """An incident that is told in a line of another one's card."""

    anchor: str
    when: str
    message: str
    first: int | None


@dataclass(frozen=True, slots=True)
class Card:
    """An incident as shown."""

    anchor: str
    rule: str
    title: str
    severity: str
    when: str
    message: str
    changes: tuple[Change, ...]
    causes: tuple[Markup, ...]
    advice: tuple[Markup, ...]
    lines: tuple[LogLine, ...]
    figure: figures.Figure | None
    same: str = ""  # anchor of an earlier card of this rule, which says the causes and the advice
    muted: str = ""  # why it does not count, in the words of the run.toml
    samples: str = ""  # where to read what was generated around the onset
    traces: traces.Link | None = None  # where to read what an agent did then
    first: int | None = None  # step of the onset
    notes: tuple[notes.Note, ...] = ()  # by people
    also: tuple[Brief, ...] = ()  # incidents alike: of the same event, or remarks of the same rule
    compared: bool = False  # whether a metric stands here as it was before and after the onset


@dataclass(frozen=True, slots=True)
class Idle:
    """A mute that hides nothing so far."""

    rule: str
    title: str
    reason: str


@dataclass(frozen=True, slots=True)
class Unchecked:
    """A rule that could not run, and why."""

    rule: str
    title: str
    missing: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Checks:
    """What the rules came to, counted."""

    rules: int
    fired: int
    clear: int
    muted: int
    unchecked: tuple[Unchecked, ...]
    missing: tuple[str, ...]  # what rules lacked, as people call it, most wanted first
    stride: int  # they looked at every so many steps

    @property
    def sentence(self) -> str:
        """`34 rules checked: 2 fired, 21 clear, 11 could not be checked`."""
        if not self.rules:
            return t("No rule was run on this run")
        counts = ((self.fired, "{n} fired"), (self.clear, "{n} clear"))
        rest = ((self.muted, "{n} muted"), (len(self.unchecked), "{n} could not be checked"))
        shown = (*counts, *(one for one in rest if one[0]))
        said = t(", ").join(t(pattern, n=n) for n, pattern in shown)
        told = t("{rules}: {counts}", rules=words.plural(self.rules, "rule"), counts=said)
        if self.stride > 1:
            return t("{told}; they looked at one step in {n}", told=told, n=self.stride)
        return told


@dataclass(frozen=True, slots=True)
class Happened:
    """Everything the section "What happened" shows."""

    counts: tuple[tuple[str, str], ...]  # (severity word, "2 errors"), worst first
    cards: tuple[Card, ...]
    remarks: tuple[Card, ...]
    n_remarks: int  # with those that share a card
    remarked: str  # "GRD-01 Gradient spike (4), LOG-03 Step gap"
    muted: tuple[Card, ...]
    hushed: str  # the rules of `muted`, as in `remarked`
    idle: tuple[Idle, ...]  # mutes of rules that found nothing here
    checks: Checks


def happened(report: RunReport, within: charts.Frame | None) -> Happened:
    """Cards worst first, remarks apart, verdicts counted."""
    found = Counter(incident.severity.word for incident in report.incidents)
    serious = [one for one in report.incidents if one.severity > Severity.INFO]
    remarks = [one for one in report.incidents if one.severity == Severity.INFO]
    noted = frozenset(one.anchor for one in report.notes)
    return Happened(
        counts=tuple((word, words.severity(word, n)) for word, n in words.worst(found)),
        cards=_told_once(
            _with(card(group[0], report, within), group[1:]) for group in _events(serious, noted)
        ),
        remarks=_told_once(
            _with(card(group[0], report, within, drawn=False), group[1:])
            for group in _by_rule(remarks, noted)
        ),
        n_remarks=len(remarks),
        remarked=_list(remarks),
        muted=_told_once(
            replace(card(one.incident, report, within, drawn=False), muted=one.reason) for one in report.muted
        ),
        hushed=_list(one.incident for one in report.muted),
        idle=_idle(report),
        checks=checks(report),
    )


def card(incident: Incident, report: RunReport, within: charts.Frame | None, drawn: bool = True) -> Card:
    """An incident with its evidence. Remarks are told without a chart."""
    return Card(
        anchor=incident.anchor,
        rule=incident.rule,
        title=incident.title,
        severity=incident.severity.word,
        when=_when(incident),
        message=_closed(incident.message),
        changes=_changes(incident),
        compared=any(
            glossary().by_key(one.metric) and one.before is not None for one in incident.evidence.facts
        ),
        causes=advice.lines(incident.causes, report.run.config),
        advice=advice.lines(incident.advice, report.run.config),
        lines=incident.evidence.lines,
        figure=evidence.figure(incident, report, within) if drawn else None,
        samples=samples.link(report, incident.anchor),
        traces=traces.link(report, incident.anchor),
        first=incident.first,
        notes=notes.of_incident(report, incident.anchor, rendering.root(f"runs/{report.run.id}/")),
    )


def _with(one: Card, rest: Sequence[Incident]) -> Card:
    briefs = (Brief(each.anchor, _when(each), _closed(each.message), each.first) for each in rest)
    return replace(one, also=tuple(briefs))


def _events(incidents: Sequence[Incident], noted: frozenset[str]) -> list[list[Incident]]:
    """Incidents of one rule and severity that began together, such as one per data set, from three on.

    One that somebody has written a note on (`noted`, anchors) keeps a card of its own.
    """
    reach = max(_TOGETHER, _SHARE * max((one.last or 0 for one in incidents), default=0))
    groups: list[list[Incident]] = []
    for one in incidents:
        for group in groups:
            if _same_event(group[0], one, reach) and noted.isdisjoint((group[0].anchor, one.anchor)):
                group.append(one)
                break
        else:
            groups.append([one])
    return [part for group in groups for part in ([group] if len(group) > 2 else [[one] for one in group])]


def _same_event(one: Incident, other: Incident, reach: float) -> bool:
    if (one.rule, one.severity, one.segment) != (other.rule, other.severity, other.segment):
        return False
    if one.first is None or other.first is None:
        return one.first is other.first
    return abs(one.first - other.first) <= reach


def _by_rule(remarks: Sequence[Incident], noted: frozenset[str]) -> list[list[Incident]]:
    """Remarks of one rule together, in the order of the first; those with a note apart."""
    groups: dict[str, list[Incident]] = {}
    for one in remarks:
        groups.setdefault(one.anchor if one.anchor in noted else one.rule, []).append(one)
    return list(groups.values())


def _told_once(cards: Iterable[Card]) -> tuple[Card, ...]:
    """Cards whose rule has a card already point to it instead of saying causes and advice again."""
    first: dict[str, Card] = {}
    out = []
    for one in cards:
        before = first.setdefault(one.rule, one)
        again = before is not one and (before.causes, before.advice) == (one.causes, one.advice)
        out.append(replace(one, causes=(), advice=(), same=before.anchor) if again else one)
    return tuple(out)


def checks(report: RunReport) -> Checks:
    """Verdicts counted, three-valued: what could not run is never clear."""
    outcomes = Counter(verdict.outcome for verdict in report.verdicts)
    skipped = [verdict for verdict in report.verdicts if verdict.outcome == Outcome.NOT_APPLICABLE]
    wanted = Counter(_called(name) for verdict in skipped for name in verdict.missing)
    return Checks(
        rules=len(report.verdicts),
        fired=outcomes[Outcome.FIRED],
        clear=outcomes[Outcome.CLEAR],
        muted=outcomes[Outcome.MUTED],
        unchecked=tuple(
            Unchecked(one.rule, _title(one.rule, report), one.missing, one.reason) for one in skipped
        ),
        missing=tuple(sorted(wanted, key=lambda name: (-wanted[name], name))),
        stride=report.stride,
    )


def _idle(report: RunReport) -> tuple[Idle, ...]:
    """Mutes of rules that judged the run and found nothing; unknown codes are problems of the run."""
    silent = {one.rule for one in report.verdicts if one.outcome is not Outcome.MUTED}
    mutes = (one for one in report.run.mutes if one.rule in silent)
    return tuple(Idle(one.rule, _title(one.rule, report), one.reason) for one in mutes)


def _called(key: str) -> str:
    """`vf_explained_var` is "explained variance"; what is no metric keeps its own words."""
    metric = glossary().by_key(key)
    if metric is None:
        return t(key.replace("_", " "))
    first, rest = metric.title[:1], metric.title[1:]
    return metric.title if rest[:1].isupper() else first.lower() + rest


def _title(code: str, report: RunReport) -> str:
    rule = report.rules.get(code)
    return rule.title if rule else ""


def _list(incidents: Iterable[Incident]) -> str:
    """Rules with how often they fired."""
    often = Counter(f"{one.rule} {one.title}" for one in incidents)
    return t(", ").join(name if n == 1 else f"{name} ({n})" for name, n in often.items())


def _when(incident: Incident) -> str:
    when = words.span(incident.first, incident.last)
    lasts = incident.open and incident.first is not None
    return t("{steps}, still so at the end", steps=when) if lasts else when


def _changes(incident: Incident) -> tuple[Change, ...]:
    facts: Sequence[Fact] = incident.evidence.facts
    return tuple(Change(one.label, _text(one.before), _text(one.after), one.unit) for one in facts)


def _closed(sentence: str) -> str:
    closed = not sentence or sentence[-1] in ".!?…。"
    return sentence if closed else t("{sentence}.", sentence=sentence)


def _text(value: float | None) -> str | None:
    """None where nothing was logged, which is not the same as a value that is not finite."""
    if value is None:
        return None
    return charts.human(value) if math.isfinite(value) else t("not finite")
