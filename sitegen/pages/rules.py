"""Rule catalog: an index by group, and a page for each card."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from markupsafe import Markup

from sitegen.language import t
from sitegen.model import Outcome, Page, Rule
from sitegen.pages import cases, prose, scorecard, words
from sitegen.pages import render as rendering
from sitegen.reports.shapes import ArchiveReport, RuleView, Scorecard

PATH = "rules/"
PHASE = "phase"
GROUPS = {
    "PHASE": "Phases",
    "REW": "Reward",
    "GRP": "Group signal",
    "KL": "Divergence",
    "ENT": "Entropy",
    "ACT": "Policy loss and clipping",
    "CRI": "Critic",
    "GRD": "Gradients",
    "LEN": "Lengths",
    "THR": "Throughput",
    "TIM": "Timing",
    "MEM": "Memory",
    "ROL": "Rollout against training",
    "VAL": "Validation",
    "LOG": "Log integrity",
    "RUN": "Process failures",
    "TRC": "Tool traces",
    "META": "Reproducibility",
}
_ROWS = {
    "steps": "every logged step",
    "evals": "every validation",
    "events": "log lines that matter, such as tracebacks and out-of-memory errors",
}
_SECTIONS = ("Condition", "Why it matters", "Likely causes", "What to do", "What else looks like this")
_HIDDEN = ("Cases", "Sources")


def pages(archive: ArchiveReport, render: rendering.Render) -> Iterable[Page]:
    """The index and one page per card."""
    yield index(archive, render)
    for view in archive.rules:
        yield page(view, render, archive.scorecard)


def index(archive: ArchiveReport, render: rendering.Render) -> Page:
    """`/rules/`: all cards by group with their verdict counts."""
    groups: dict[str, list[RuleView]] = {}
    for view in archive.rules:
        groups.setdefault(_group(view.rule), []).append(view)
    places = {t(name): place for place, name in enumerate(GROUPS.values())}
    card = archive.scorecard
    return rendering.page(
        render,
        "rules.html",
        PATH,
        title=t("Rules"),
        description=t(
            "{rules} that annotate the runs of this archive.", rules=words.plural(len(archive.rules), "rule")
        ),
        kind="rules",
        search=False,
        groups=sorted(groups.items(), key=lambda item: (places.get(item[0], len(places)), item[0])),
        outcomes=Outcome,
        phase=PHASE,
        summaries={view.rule.code: prose.inline(view.rule.summary) for view in archive.rules},
        runs=len(archive.runs),
        percent=scorecard.percent,
        rate=scorecard.rate,
        measured=scorecard.measured_on(card) if card else "",
        overall=scorecard.summary(card.overall) if card else "",
        figures=scorecard.figures(card) if card else (),
        make=scorecard.MAKE,
    )


def page(view: RuleView, render: rendering.Render, card: Scorecard | None = None) -> Page:
    """`/rules/<code>/`: the card, its cases, and every run it fired on."""
    rule = view.rule
    also = tuple(name for name in rule.also if name != rule.title)
    made = rendering.page(
        render,
        "rule.html",
        f"{PATH}{rule.code}/",
        title=f"{rule.code} {rule.title}",
        description=words.clip(rule.summary, 200),
        kind="rule",
        filters=(("rule", rule.code), ("severity", rule.severity.word)),
        view=view,
        rule=rule,
        also=also,
        group=_group(rule),
        summary=prose.inline(rule.summary),
        sections=_sections(rule.sections),
        sources=_sources(rule.sections),
        condition=condition(rule),
        cases=tuple(cases.draw(case, rule.kind == PHASE) for case in view.cases),
        outcomes=Outcome,
        measures=scorecard.measures(view.score),
        measured=scorecard.measured_on(card) if card else "",
        make=scorecard.MAKE,
    )
    return replace(made, also=also)


def condition(rule: Rule) -> list[str]:
    """When the rule opens and closes, in sentences; what is compared is in its summary and query."""
    opens, of = rule.persist
    said = [t("Looks at {rows}.", rows=t(_ROWS.get(rule.relation, rule.relation)))]
    if rule.kind != "incident":
        return said
    if of > 1:
        every = "Opens when the condition holds in all {of} rows in a row, at the first of them."
        some = "Opens when the condition holds in {opens} of {of} rows in a row, at the first of them."
        said.append(t(every if opens == of else some, opens=opens, of=of))
    else:
        said.append(t("Opens in the first row in which the condition holds."))
    if rule.exit:
        calm = words.plural(rule.exit, "row")
        said.append(t("Closes after {rows} of calm; shorter gaps are bridged.", rows=calm))
    if rule.mute:
        said.append(t("Silent during warm-up."))
    return said


def _group(rule: Rule) -> str:
    prefix = rule.code.split("-")[0]
    return t(GROUPS.get(prefix, prefix))


def _sections(sections: Mapping[str, str]) -> list[tuple[str, Markup]]:
    ordered = [name for name in _SECTIONS if name in sections]
    ordered += [name for name in sections if name not in (*_SECTIONS, *_HIDDEN)]
    return [(t(name), prose.html(sections[name])) for name in ordered if sections[name].strip()]


def _sources(sections: Mapping[str, str]) -> Markup:
    return prose.html(sections.get("Sources", ""))
