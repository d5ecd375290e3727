"""Cards -> definitions. Every fault of every card is reported at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sitegen import cards
from sitegen.cards import Card, Fault, Table, nearest
from sitegen.language import spoken
from sitegen.metrics import glossary
from sitegen.model import Severity
from sitegen.rules import casetext, message
from sitegen.rules.definition import KNOWN, Definition
from sitegen.store import Answers, verify

#: Things a rule may need that are not metrics.
PSEUDO = frozenset({"log_lines", "events", "evals", "best@N", "config", "planned", "verl_version"})
SECTIONS = ("Why it matters", "Likely causes", "What to do", "What else looks like this", "Sources")
RELATIONS = ("steps", "evals", "events")

CODE = re.compile(r"[A-Z]{2,5}-\d{2}")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_presets(value: Any) -> bool:
    names = [value] if isinstance(value, str) else value
    return _is_texts(names) and bool(names) and all(re.fullmatch(r"[a-z][a-z0-9_]*", one) for one in names)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_persist(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_count, value)) and value[0] <= value[1]


def _is_params(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(one, int | float | str | bool) for one in value.values()
    )


KEYS: cards.Keys = {
    "code": (lambda value: bool(CODE.fullmatch(str(value))), 'a code such as "KL-05"'),
    "also": (_is_texts, "a list of what people call it"),
    "kind": (lambda value: value in ("incident", "phase"), '"incident" or "phase"'),
    "severity": (
        lambda value: value in [grade.word for grade in Severity],
        '"info", "warning", "error" or "critical"',
    ),
    "needs": (_is_texts, 'a list of canonical metrics; "a|b" is one of the two'),
    "persist": (_is_persist, "[k, m] with 1 <= k <= m"),
    "exit": (_is_count, "a number of rows, at least 1"),
    "mute": (lambda value: value in ("warmup", False), '"warmup" or false'),
    "since": (_is_text, 'a version such as "0.1.0"'),
    "params": (_is_params, "a table of numbers, texts or booleans"),
    "scope": (lambda value: value in ("row", "run"), '"row" or "run"'),
    "relation": (lambda value: value in RELATIONS, '"steps", "evals" or "events"'),
    "metric": (_is_text, "a canonical metric"),
    "message": (_is_text, "a template over the result columns"),
    "facts": (_is_texts, "a list of canonical metrics"),
    "after": (_is_texts, "a list of rule codes"),
    "preset": (_is_presets, 'a name such as "seed000", or a list of them'),
}
REQUIRED = ("code", "severity", "needs", "since")


def catalog(folders: Sequence[Path]) -> tuple[Definition, ...]:
    """Definitions of every card in `folders`, by code, in the spoken language.

    Raises CardError with every fault, of any language.
    """
    found: list[Definition] = []
    faults: list[Fault] = []
    for path, shown in cards.files(folders):
        definition, wrong = read(path, shown)
        faults += wrong
        found += [definition] if definition else []
    faults += _across(found)
    cards.raise_faults(faults)
    told = (one.in_language(spoken()) for one in found)
    return tuple(sorted(told, key=lambda one: one.code))


def read(path: Path, shown: str) -> tuple[Definition | None, tuple[Fault, ...]]:
    """One card, and what is wrong with it."""
    card, faults = cards.read(path, "rule", shown)
    if card is None:
        return None, faults
    return define(card, faults)


def define(card: Card, faults: Iterable[Fault] = ()) -> tuple[Definition | None, tuple[Fault, ...]]:
    """Understand a card that was taken apart; `faults` are those found before."""
    wrong = [*faults, *_settings_faults(card), *_section_faults(card)]
    usable = not any(fault.line in _lines_of(card.settings) for fault in wrong) and bool(card.settings.values)
    if not usable:
        return None, tuple(wrong)
    answers = verify(card.sql, card.settings.values.get("params", {}))
    wrong += [card.fault(card.sql_line + one.line - 1, one.message) for one in answers.refusals]
    definition = _definition(card, answers)
    wrong += _answer_faults(definition) if not answers.refusals else _named_nowhere(definition)
    if "spans" in answers.tables and definition.kind == "incident" and not definition.after:
        wrong.append(card.fault(card.sql_line, 'reads spans but has no after = ["CODE", …] in its settings'))
    wrong += casetext.faults(definition)
    return definition, tuple(wrong)


def _lines_of(table: Table) -> set[int]:
    return {table.line, *table.lines.values()}


def _settings_faults(card: Card) -> Iterator[Fault]:
    settings = card.settings
    yield from cards.settings_faults(card, KEYS, REQUIRED)
    code = str(settings.values.get("code", ""))
    if code and not card.slug.startswith(code):
        yield card.fault(settings.line_of("code"), f"file name must begin with {code}")
    if "preset" in settings.values and settings.values.get("severity", "info") != "info":
        yield card.fault(settings.line_of("severity"), 'a card with a preset has severity = "info"')
    yield from _metric_faults(card)


def _metric_faults(card: Card) -> Iterator[Fault]:
    keys = {metric.key for metric in glossary().metrics}
    for setting, known in (("needs", keys | PSEUDO), ("facts", keys), ("metric", keys)):
        named = card.settings.values.get(setting, [])
        for given in [named] if isinstance(named, str) else named if isinstance(named, list) else []:
            for name in str(given).split("|") if setting == "needs" else [given]:
                if name not in known:
                    line = card.settings.line_of(setting)
                    yield card.fault(line, f'{setting}: unknown metric "{name}"{nearest(str(name), known)}')


def _section_faults(card: Card) -> Iterator[Fault]:
    for heading in SECTIONS:
        if heading not in card.sections:
            yield card.fault(1, f"no section `## {heading}`")
        elif not card.sections[heading]:
            yield card.fault(1, f"section `## {heading}` is empty")
    for told in card.translations.values():
        if bool(told.message) != bool(card.settings.values.get("message")):
            yield card.fault(told.line, "`> message` must be there if and only if the card has a message")


def _definition(card: Card, answers: Answers) -> Definition:
    values = card.settings.values
    needs = tuple(values["needs"])
    keys = {metric.key for metric in glossary().metrics}
    relation = values.get("relation", "steps")
    metric = values.get("metric") or next((name for name in needs if name in keys), None)
    persist = values.get("persist", [1, 1])
    params = dict(values.get("params", {}))
    return Definition(
        code=values["code"],
        slug=card.slug,
        title=card.title,
        summary=card.summary,
        kind=values.get("kind", "incident"),
        severity=Severity.of(values["severity"]),
        needs=needs,
        since=values["since"],
        params=params,
        sql=card.sql,
        sections=card.sections,
        path=card.path,
        relation=relation,
        scope=values.get("scope", "row"),
        persist=(persist[0], persist[1]),
        exit=values.get("exit", 1 if relation == "evals" else 10),
        mute=values.get("mute", False) == "warmup",
        metric=metric,
        facts=tuple(values.get("facts", ())),
        message=values.get("message", ""),
        after=tuple(values.get("after", ())),
        also=_also(card),
        presets=_presets(values.get("preset", [])),
        severities=_severities(card, answers.columns),
        meanings={name: text for name, text in card.settings.remarks.items() if name in params},
        columns=answers.columns,
        extra=tuple(name for name in answers.columns if name not in KNOWN),
        words=answers.words,
        sql_line=card.sql_line,
        cases=card.cases,
        card=card,
    )


def _severities(card: Card, columns: Mapping[str, str]) -> tuple[Severity, ...]:
    """What findings of a card may be: words of its query, where that answers one; else its own."""
    own = Severity.of(card.settings.values["severity"])
    if "severity" not in columns or "preset" in card.settings.values:
        return (own,)
    return tuple(one for one in Severity if f"'{one.word}'" in card.sql) or (own,)


def _also(card: Card) -> tuple[str, ...]:
    """What its settings say, and its titles in all languages."""
    titles = (card.title, *(told.title for told in card.translations.values()))
    return tuple(dict.fromkeys((*card.settings.values.get("also", ()), *titles)))


def _presets(given: str | list[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _required(rule: Definition) -> tuple[str, ...]:
    if rule.kind == "phase":
        return ("run", "row", "step", "phase")
    if rule.scope == "run":
        return ("run", "value", "threshold", "hit")
    index = {"steps": ("row",), "evals": ("row", "idx", "name"), "events": ("row", "idx")}[rule.relation]
    return ("run", *index, "step", "value", "threshold", "hit")


def _answer_faults(rule: Definition) -> Iterator[Fault]:
    """Columns of the answer, their types, and the message over them."""
    card = rule.card
    for name in _required(rule):
        if name not in rule.columns:
            yield card.fault(rule.sql_line, f"the SELECT gives no column {name}")
    for name, kind in rule.columns.items():
        if name in ("hit", "hold") and kind not in ("BOOLEAN", '"NULL"'):
            yield card.fault(rule.sql_line, f"column {name} must be a condition (BOOLEAN), not {kind}")
    texts = [name for name, kind in rule.columns.items() if kind == "VARCHAR"]
    if rule.kind == "incident" and not rule.message:
        yield card.fault(card.settings.line, f'no "message": {KEYS["message"][1]}')
    usable = [name for name in rule.columns if name not in ("hit", "hold", "severity")]
    names = (*usable, *_before_after(rule))
    for wrong in message.faults(rule.message, names, texts):
        yield card.fault(card.settings.line_of("message"), wrong)
    for told in card.translations.values():
        for wrong in message.faults(told.message, names, texts):
            yield card.fault(told.line, wrong)


def _named_nowhere(rule: Definition) -> Iterator[Fault]:
    """Of a card whose SQL is wrong: places of the message that no word of the SQL could fill."""
    names = {*rule.words, *_before_after(rule)}
    told = [(rule.message, rule.card.settings.line_of("message"))]
    told += [(one.message, one.line) for one in rule.card.translations.values()]
    for text, line in told:
        for name in message.unknown(text, names):
            yield rule.card.fault(line, f"message names {{{name}}}, and so does nothing in the SQL")


def _before_after(rule: Definition) -> Iterator[str]:
    for metric in rule.facts:
        yield f"{metric}_before"
        yield f"{metric}_after"


def _rivals(one: Definition, other: Definition) -> bool:
    """Whether two phase cards could speak about the same run."""
    return not set(one.presets).isdisjoint(other.presets) or (not one.presets and not other.presets)


def _across(found: Sequence[Definition]) -> Iterator[Fault]:
    """Faults that only show when cards lie side by side."""
    by_code: dict[str, Definition] = {}
    for rule in found:
        line = rule.card.settings.line_of("code")
        if rule.code in by_code:
            yield rule.card.fault(line, f"code {rule.code} is taken by {by_code[rule.code].path}")
        by_code.setdefault(rule.code, rule)
    phases = [rule for rule in found if rule.kind == "phase"]
    for at, rule in enumerate(phases):
        twin = next((one for one in phases[:at] if _rivals(one, rule)), None)
        if twin is not None:
            yield rule.card.fault(
                rule.card.settings.line_of("kind"), f"a second phase card beside {twin.path}"
            )
    for rule in found:
        for code in rule.after:
            other = by_code.get(code)
            line = rule.card.settings.line_of("after")
            if other is None:
                yield rule.card.fault(line, f"after: no rule {code}{nearest(code, by_code)}")
            elif other.after:
                yield rule.card.fault(
                    line, f"after: {code} itself waits for others; one second pass is all there is"
                )
