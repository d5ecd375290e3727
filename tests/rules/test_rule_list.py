"""Every rule of the domain notes has a card, or the list says which card says it and why."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from sitegen import rules

CATALOG = {rule.code for rule in rules.catalog()}
LIST = tomllib.loads((Path(__file__).parent / "rule_list.toml").read_text(encoding="utf-8"))


def listed() -> set[str]:
    groups = LIST["codes"].items()
    return {
        f"{group}-{number:02}"
        for group, numbers in groups
        for number in (range(1, numbers + 1) if isinstance(numbers, int) else numbers)
    }


def test_every_rule_has_a_card_or_a_row_that_says_why_not() -> None:
    assert listed() - CATALOG == set(LIST["elsewhere"]) - CATALOG
    assert len(listed()) == 134


def test_a_row_names_a_card_that_exists_and_a_reason() -> None:
    for code, row in LIST["elsewhere"].items():
        assert code not in CATALOG
        assert row["card"] in CATALOG and row["why"]


def test_the_list_is_that_of_the_notes(corpus: Path) -> None:
    notes = (corpus.parent / "domain" / "rules.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| ([A-Z]+-\d\d) \|", notes, re.MULTILINE)) == listed()
