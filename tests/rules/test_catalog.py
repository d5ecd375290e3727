"""The bundled cards: their cases, what they cover, and what they tell people to change."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sitegen import rules
from sitegen.model import Severity
from sitegen.rules import Definition

CATALOG = rules.catalog()
GROUPS = frozenset(
    {"PHASE", "REW", "GRP", "KL", "ENT", "ACT", "CRI", "GRD", "LEN", "THR", "TIM", "MEM", "ROL", "VAL"}
    | {"LOG", "RUN", "META", "TRC"}
)
ROOTS = frozenset(
    {"actor_rollout_ref", "algorithm", "critic", "data", "trainer", "reward", "reward_model"}
    | {"custom_reward_function"}
)


def known_keys() -> set[str]:
    lines = (Path(__file__).parent / "verl_keys.txt").read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def named_keys(rule: Definition) -> set[str]:
    """Configuration keys in backticks; `key=value` names the key."""
    prose = "\n".join(rule.sections.values())
    words = re.findall(r"`(\+?[a-z_]+(?:\.[A-Za-z0-9_]+)+)(?:=[^`]*)?`", prose)
    return {word for word in words if word.lstrip("+").split(".")[0] in ROOTS}


@pytest.mark.parametrize("rule", CATALOG, ids=lambda rule: rule.code)
def test_the_cases_of_the_card_hold(rule: Definition) -> None:
    results = rules.test(CATALOG, [rule.code])
    assert results, "a card without cases proves nothing"
    assert [result.message for result in results if not result.passed] == []


def test_every_group_has_a_card() -> None:
    covered = {rule.code.split("-")[0] for rule in CATALOG}
    assert covered == GROUPS


def test_there_is_one_phase_card_and_one_of_a_preset() -> None:
    phases = {rule.presets: rule.code for rule in CATALOG if rule.kind == "phase"}
    assert phases == {(): "PHASE-01", ("seed000",): "PHASE-06"}


@pytest.mark.parametrize("rule", CATALOG, ids=lambda rule: rule.code)
def test_a_card_names_only_settings_that_verl_has(rule: Definition) -> None:
    assert named_keys(rule) - known_keys() == set()


def test_the_list_of_settings_holds_only_what_cards_name() -> None:
    assert known_keys() == set().union(*map(named_keys, CATALOG))


@pytest.mark.parametrize("rule", CATALOG, ids=lambda rule: rule.code)
def test_a_card_admits_what_else_looks_like_it(rule: Definition) -> None:
    honest = rule.sections["What else looks like this"]
    assert honest.startswith("- ")
    assert "none" not in honest.lower().split()


INCIDENTS = [rule for rule in CATALOG if rule.kind == "incident"]


@pytest.mark.parametrize("rule", INCIDENTS, ids=lambda rule: rule.code)
def test_advice_and_causes_are_lists(rule: Definition) -> None:
    for heading in ("Likely causes", "What to do"):
        lines = rule.sections[heading].splitlines()
        assert all(line.startswith("- ") for line in lines), heading


def test_severe_rules_on_curves_wait_for_more_than_one_row() -> None:
    """One row must not make a run critical, unless the value of that row says it all."""
    at_once = {"GRD-04"}
    for rule in CATALOG:
        if rule.severity is Severity.CRITICAL and rule.relation == "steps" and rule.code not in at_once:
            assert rule.persist[0] >= 3, rule.code


@pytest.mark.parametrize("rule", CATALOG, ids=lambda rule: rule.code)
def test_every_param_has_a_meaning_in_words(rule: Definition) -> None:
    assert set(rule.meanings) == set(rule.params)
