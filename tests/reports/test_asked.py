"""What a run.toml asks of the rules is checked against the cards there are."""

from __future__ import annotations

from dataclasses import replace

from sitegen.errors import Problem
from sitegen.model import Mute, Rule
from sitegen.reports import asked
from sitegen.reports.asked import checked
from tests.reports import made

RULES = (
    made.rule("KL-05"),
    replace(made.rule("ENT-09"), presets=("seed000",)),
    replace(made.rule("PHASE-01"), kind="phase"),
)


def told(rules: tuple[Rule, ...] = RULES, **said: object) -> tuple[Problem, ...]:
    return checked(made.run(toml="demo/run.toml", **said), rules).problems


def test_a_preset_that_no_card_knows_names_the_nearest() -> None:
    (problem,) = told(presets=("seed00",))
    assert (problem.path, problem.kind) == ("demo/run.toml", "run-toml")
    assert "no card knows seed00" in problem.message and problem.hint == "Did you mean seed000?"


def test_a_preset_like_no_other_is_told_which_there_are() -> None:
    assert told(presets=("zzz",))[0].hint == "Known presets: seed000."


def test_a_muted_code_that_no_card_has_names_the_nearest_and_its_line() -> None:
    (problem,) = told(mutes=(Mute("kl-5", "why", 7),))
    assert (problem.line, problem.hint) == (7, "Did you mean KL-05?")
    assert "there is no rule kl-5" in problem.message


def test_a_key_that_slipped_into_the_table_of_mutes_is_told_so() -> None:
    assert "stand above [mute]" in told(mutes=(Mute("title", "My run", 7),))[0].hint


def test_phases_cannot_be_muted() -> None:
    assert "PHASE-01 draws phases" in told(mutes=(Mute("PHASE-01", "why", 7),))[0].message


def test_what_cards_know_is_no_problem() -> None:
    assert told(presets=("seed000",), mutes=(Mute("KL-05", "why", 7),)) == ()
    assert told(presets=()) == () and told(presets=None) == ()


def test_a_baseline_that_is_no_run_is_told() -> None:
    runs = (made.run(id="a", baseline="b"), made.run(id="c", baseline="a"), made.run(id="d", baseline="d"))
    found = asked.of_runs(runs, RULES)
    assert [(run, one[0].message) for run, one in found.items()] == [
        ("a", "baseline: b is no run of this archive; the run is compared with none"),
        ("d", "baseline: d is itself; the run is compared with none"),
    ]


def test_an_alias_is_a_run() -> None:
    runs = (made.run(id="a", baseline="old"), made.run(id="c", aliases=("old",)))
    assert asked.of_runs(runs, RULES) == {}
