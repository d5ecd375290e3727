"""A run's run.toml mutes a rule: what it found is kept apart, with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen.model import Mute, Outcome
from sitegen.rules import evaluate
from tests.rules.written_cards import codes, rule
from tests.store.written import Written

HIGH = {"actor/grad_norm": [0.1] * 30 + [2.0, 3.0, 2.5] + [0.1] * 30}
WHY = Mute("GRD-99", "clipping was switched off on purpose")


@pytest.fixture
def shelf(tmp_path: Path) -> Written:
    return Written(tmp_path / "archive")


def test_what_a_muted_rule_found_is_no_incident_but_stays_with_its_reason(shelf: Written) -> None:
    shelf.add("a", HIGH, mutes=(WHY,))
    found = evaluate(shelf, ["a"], [rule()])["a"]
    assert found.incidents == ()
    (muted,) = found.muted
    assert (muted.incident.id, muted.incident.first, muted.reason) == ("a/GRD-99-1", 31, WHY.reason)
    assert [(one.outcome, one.reason) for one in found.verdicts] == [(Outcome.MUTED, WHY.reason)]


def test_a_muted_rule_that_found_nothing_is_clear(shelf: Written) -> None:
    shelf.add("a", {"actor/grad_norm": [0.1] * 60}, mutes=(WHY,))
    found = evaluate(shelf, ["a"], [rule()])["a"]
    assert (found.muted, found.verdicts[0].outcome) == ((), Outcome.CLEAR)


def test_a_mute_is_for_one_run_and_one_rule(shelf: Written) -> None:
    shelf.add("a", HIGH, mutes=(WHY,))
    shelf.add("b", HIGH)
    found = evaluate(shelf, ["a", "b"], [rule(), rule(code="GRD-98")])
    assert [codes(found[run].incidents) for run in ("a", "b")] == [["GRD-98"], ["GRD-98", "GRD-99"]]


def test_cards_that_read_the_spans_of_others_see_none_of_a_muted_rule(shelf: Written) -> None:
    shelf.add("a", HIGH, mutes=(WHY,))
    shelf.add("b", HIGH)
    sql = (
        "SELECT s.run, s.row, s.step, grad_norm AS value, 1.0 AS threshold, p.code IS NOT NULL AS hit "
        "FROM steps s LEFT JOIN spans p ON p.run = s.run AND s.row BETWEEN p.first_row AND p.last_row"
    )
    found = evaluate(shelf, ["a", "b"], [rule(), rule(sql, 'after = ["GRD-99"]', code="GRD-98")])
    assert [codes(found[run].incidents) for run in ("a", "b")] == [[], ["GRD-98", "GRD-99"]]
