"""Presets: absolute bands that a site or a run asks for by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen.errors import ConfigError
from sitegen.model import Findings, PhaseName, Severity
from sitegen.rules import evaluate
from sitegen.rules.definition import Definition
from tests.rules.written_cards import ABOVE, faults, rule, text
from tests.store.written import Written

HIGH = {"actor/grad_norm": [0.1] * 30 + [2.0, 3.0, 2.5] + [0.1] * 30}
PRESET = 'preset = "seed000"\nseverity = "info"'


@pytest.fixture
def shelf(tmp_path: Path) -> Written:
    return Written(tmp_path / "archive")


def judge(shelf: Written, rules: list[Definition], *presets: str) -> Findings:
    return evaluate(shelf, ["a"], rules, presets=presets)["a"]


def test_a_card_of_a_preset_is_not_even_mentioned_where_nobody_asked_for_it(shelf: Written) -> None:
    shelf.add("a", HIGH)
    found = judge(shelf, [rule(settings=PRESET)])
    assert found.incidents == ()
    assert found.verdicts == ()


def test_a_site_asks_for_a_preset(shelf: Written) -> None:
    shelf.add("a", HIGH)
    found = judge(shelf, [rule(settings=PRESET)], "seed000")
    assert [(one.first, one.last) for one in found.incidents] == [(31, 33)]


def test_a_run_asks_for_a_preset_of_its_own(shelf: Written) -> None:
    shelf.add("a", HIGH, presets=("seed000",))
    assert len(judge(shelf, [rule(settings=PRESET)]).incidents) == 1


def test_a_run_may_want_none_of_what_the_site_asks_for(shelf: Written) -> None:
    shelf.add("a", HIGH, presets=())
    assert judge(shelf, [rule(settings=PRESET)], "seed000").verdicts == ()


def test_what_a_preset_finds_is_a_remark_that_names_it(shelf: Written) -> None:
    shelf.add("a", HIGH)
    worse = ABOVE.replace(" FROM steps", ", 'critical' AS severity FROM steps")
    found = judge(shelf, [rule(worse, PRESET)], "seed000").incidents[0]
    assert found.severity is Severity.INFO
    assert found.message == "Outside preset seed000: Gradient norm 3"


def test_a_card_of_two_presets_says_which_one(shelf: Written) -> None:
    shelf.add("a", HIGH, presets=("seed004",))
    sql = (
        "SELECT s.run, s.row, s.step, grad_norm AS value, 1.0 AS threshold, grad_norm > 1 AS hit, "
        "p.preset AS asked "
        "FROM steps s JOIN presets p ON p.run = s.run"
    )
    found = judge(shelf, [rule(sql, 'preset = ["seed000", "seed004"]\nseverity = "info"')])
    assert found.incidents[0].message == "Outside preset seed004: Gradient norm 3"


def test_a_card_of_a_preset_cannot_claim_to_be_more_than_a_remark() -> None:
    told = faults(text(settings='preset = "seed000"\nseverity = "error"'))
    assert any('a card with a preset has severity = "info"' in one for one in told)


def test_a_preset_that_no_card_knows_is_told(shelf: Written) -> None:
    with pytest.raises(ConfigError, match="seed001"):
        judge(shelf, [rule(settings=PRESET)], "seed001")


PHASE_CASE = '```toml case\nname = "x"\nseries = { score = "0.1x40" }\nexpect = [["warmup", 1, 20]]\n```\n'
PHASES = "SELECT run, row, step, '{}' AS phase FROM steps"


def test_the_phases_of_a_preset_stand_in_for_the_others_where_asked_for(shelf: Written) -> None:
    for run, presets in (("a", ()), ("b", ("seed000",))):
        shelf.add(run, HIGH, presets=presets)
    own = rule(PHASES.format("climb"), 'kind = "phase"', PHASE_CASE, code="PHASE-01")
    other = rule(PHASES.format("diverging"), f'kind = "phase"\n{PRESET}', PHASE_CASE, code="PHASE-06")
    found = evaluate(shelf, ["a", "b"], [own, other])
    assert [found[run].phases[0].phase for run in ("a", "b")] == [PhaseName.CLIMB, PhaseName.DIVERGING]
    assert [[one.rule for one in found[run].verdicts] for run in ("a", "b")] == [["PHASE-01"], ["PHASE-06"]]
