"""A small detection run, so that a change that blinds or excites the rules fails at once.

Two runs of every kind at medium strength and of every trap. The limits lie below what was measured with many
seeds (the scorecard), as few runs scatter.
"""

from __future__ import annotations

from collections import Counter

import pytest

from sitegen import rules
from sitegen.rules import Definition
from tests.detection import scorecard, scoring, tables
from tests.detection.scoring import Scored
from tests.detection.simulate import population

SEEDS = range(900, 902)
SIZE = (150, 1)


@pytest.fixture(scope="module")
def catalog() -> tuple[Definition, ...]:
    return rules.catalog()


@pytest.fixture(scope="module")
def scored(catalog: tuple[Definition, ...]) -> list[Scored]:
    return scoring.score(population(SEEDS, ("medium",), SIZE), catalog)


def told(scored: list[Scored], catalog: tuple[Definition, ...]) -> str:
    return "\n" + tables.misses(scored, frozenset(rule.code for rule in catalog))


def test_hard_faults_are_found(scored: list[Scored], catalog: tuple[Definition, ...]) -> None:
    recall = scoring.overall(scored, catalog, hard=True).recall
    assert recall is not None
    assert recall >= 0.93, told(scored, catalog)


def test_soft_faults_are_found(scored: list[Scored], catalog: tuple[Definition, ...]) -> None:
    recall = scoring.overall(scored, catalog, hard=False).recall
    assert recall is not None
    assert recall >= 0.85, told(scored, catalog)


def test_findings_have_a_reason(scored: list[Scored], catalog: tuple[Definition, ...]) -> None:
    precision = scoring.overall(scored, catalog).precision
    assert precision is not None
    assert precision >= 0.88, told(scored, catalog)


def test_healthy_runs_are_left_alone(scored: list[Scored], catalog: tuple[Definition, ...]) -> None:
    alarms = scoring.overall(scored, catalog).alarms_per_run
    assert alarms is not None
    assert alarms <= 0.15, told(scored, catalog)


def test_onsets_are_near(scored: list[Scored], catalog: tuple[Definition, ...]) -> None:
    onset = scoring.overall(scored, catalog).onset(50)
    assert onset is not None
    assert onset <= 4.0


def test_no_rule_that_is_meant_for_something_is_blind(
    scored: list[Scored], catalog: tuple[Definition, ...]
) -> None:
    blind = [
        code for code, one in scoring.by_rule(scored, catalog).items() if one.injected >= 2 and not one.found
    ]
    assert blind == []


def test_every_label_is_counted_once(scored: list[Scored]) -> None:
    counted = Counter[str]()
    for one in scored:
        counted["labels"] += len(one.labels)
        counted["told"] += len(one.matched.hits) + len(one.matched.missed)
    assert counted["labels"] == counted["told"]


def test_the_scorecard_adds_up(scored: list[Scored], catalog: tuple[Definition, ...]) -> None:
    card = scorecard.scorecard("dev", SEEDS, scored, {}, catalog)
    per_rule = card["rules"]
    assert isinstance(per_rule, dict)
    assert all(one["injected"] == one["found"] + one["missed"] for one in per_rule.values())
    total = scoring.overall(scored, catalog)
    assert sum(one["injected"] for one in per_rule.values()) == total.injected
    assert scorecard.text(card) == scorecard.text(scorecard.scorecard("dev", SEEDS, scored, {}, catalog))
