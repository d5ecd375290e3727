"""Cards -> boards. Every fault of every card is reported at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sitegen import cards
from sitegen.cards import Card, Fault, nearest
from sitegen.language import spoken
from sitegen.leaderboards.definition import Board
from sitegen.store import Answers, verify

#: Result columns that every board must give.
REQUIRED_COLUMNS = ("run", "value", "step", "left_out")
SECTIONS = ("What counts", "What it does not say")


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[a-z][a-z0-9_]*", value) is not None


def _is_params(value: Any) -> bool:
    plain = int | float | str | bool
    return isinstance(value, dict) and all(isinstance(one, plain) for one in value.values())


KEYS: cards.Keys = {
    "unit": (lambda value: isinstance(value, str), 'a unit such as "h", or ""'),
    "better": (lambda value: value in ("up", "down"), '"up" or "down"'),
    "group_by": (_is_word, "a column of the SELECT"),
    "columns": (
        lambda value: isinstance(value, list) and all(map(_is_word, value)),
        "a list of result columns",
    ),
    "params": (_is_params, "a table of numbers, texts or booleans"),
    "since": (lambda value: isinstance(value, str) and bool(value), 'a version such as "0.1.0"'),
}
REQUIRED = ("unit", "better", "since")


def catalog(folders: Sequence[Path]) -> tuple[Board, ...]:
    """Boards of every card in `folders`, by slug, in the spoken language. Raises CardError."""
    found: list[Board] = []
    faults: list[Fault] = []
    for path, shown in cards.files(folders):
        card, wrong = cards.read(path, "board", shown)
        board, more = define(card, wrong) if card else (None, wrong)
        faults += more
        found += [board] if board else []
    cards.raise_faults(faults)
    return tuple(sorted(found, key=lambda board: board.slug))


def define(card: Card, faults: Iterable[Fault] = ()) -> tuple[Board | None, tuple[Fault, ...]]:
    """Understand a card that was taken apart; `faults` are those found before."""
    wrong = [*faults, *cards.settings_faults(card, KEYS, REQUIRED), *_section_faults(card)]
    params = card.settings.values.get("params", {})
    answers = verify(card.sql, params if _is_params(params) else {})
    wrong += [card.fault(card.sql_line + one.line - 1, one.message) for one in answers.refusals]
    if not wrong:
        wrong += _answer_faults(card, answers)
    return (None if wrong else _board(card, answers)), tuple(wrong)


def _section_faults(card: Card) -> Iterator[Fault]:
    for heading in SECTIONS:
        if not card.sections.get(heading):
            yield card.fault(1, f"no section `## {heading}`, or an empty one")


def _answer_faults(card: Card, answers: Answers) -> Iterator[Fault]:
    values = card.settings.values
    group = [values["group_by"]] if "group_by" in values else []
    for name in (*REQUIRED_COLUMNS, *group, *values.get("columns", ())):
        if name not in answers.columns:
            close = nearest(name, answers.columns)
            yield card.fault(card.sql_line, f"the SELECT gives no column {name}{close}")


def _board(card: Card, answers: Answers) -> Board:
    values = card.settings.values
    told = card.translations.get(spoken(), card)
    return Board(
        slug=card.slug,
        title=told.title,
        summary=told.summary,
        unit=values["unit"],
        better=values["better"],
        group_by=values.get("group_by"),
        columns=tuple(values.get("columns", ())),
        params=dict(values.get("params", {})),
        sql=card.sql,
        sql_line=card.sql_line,
        words=answers.words,
        sections=card.sections,
        path=card.path,
    )
