"""Every statement of the three articles is judged by a card, or the table says why not."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sitegen import rules

CATALOG = {rule.code: rule for rule in rules.catalog()}
TABLE = tomllib.loads((Path(__file__).parent / "seed_checklist.toml").read_text(encoding="utf-8"))[
    "statement"
]
#: Where a number of an article is also a sound one for every run, a card without a preset may carry it.
PRESETS = {"000": "seed000", "001": "seed001", "004": "seed004"}


def name(statement: dict[str, Any]) -> str:
    return f"{statement['seed']}-{statement['row']}"


@pytest.mark.parametrize("statement", TABLE, ids=name)
def test_a_statement_names_cards_that_exist_or_says_why_there_is_none(statement: dict[str, Any]) -> None:
    assert [code for code in statement["cards"] if code not in CATALOG] == []
    assert statement["cards"] or statement.get("why")


@pytest.mark.parametrize("statement", TABLE, ids=name)
def test_its_number_is_a_parameter_or_the_table_says_why_it_is_not(statement: dict[str, Any]) -> None:
    carried = statement.get("carries", {})
    assert carried or statement.get("why")
    for place, number in carried.items():
        code, _, param = place.partition(".")
        assert code in statement["cards"]
        assert CATALOG[code].params[param] == number, place


def test_every_statement_is_there_once() -> None:
    assert Counter(one["seed"] for one in TABLE) == {"000": 39, "001": 38, "004": 15}
    assert len({name(one) for one in TABLE}) == len(TABLE)


def test_a_preset_only_holds_numbers_of_its_own_article() -> None:
    for statement in TABLE:
        for code in {place.partition(".")[0] for place in statement.get("carries", {})}:
            presets = CATALOG[code].presets
            assert not presets or PRESETS[statement["seed"]] in presets, (name(statement), code)


def test_every_preset_card_carries_a_number_or_a_statement_of_the_table() -> None:
    named = {code for statement in TABLE for code in statement["cards"]}
    assert {code for code, rule in CATALOG.items() if rule.presets} <= named
