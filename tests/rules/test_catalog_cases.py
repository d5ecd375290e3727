"""The cases of every card that comes with sitegen, all in one execution."""

from __future__ import annotations

from sitegen import rules


def test_every_case_of_every_card_holds() -> None:
    found = rules.test(rules.catalog())
    assert len(found) > 100
    assert not [one.message for one in found if not one.passed]


def test_no_two_cases_of_a_card_have_one_name() -> None:
    for rule in rules.catalog():
        names = [case.values["name"] for case in rule.cases]
        assert len(names) == len(set(names)), rule.code
