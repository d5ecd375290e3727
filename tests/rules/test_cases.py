"""Cases of a card: their notation, and what they say when they fail."""

from __future__ import annotations

import re
from importlib import import_module

import numpy as np
import pytest

from sitegen import rules
from sitegen.rules.casetext import NotationError, non_finite, values
from sitegen.store import CARD_SECONDS
from tests.rules.written_cards import ABOVE, CASES, rule

NAN = float("nan")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("0.9x3 0.05", [0.9, 0.9, 0.9, 0.05]),
        ("_x2 1 _", [NAN, NAN, 1.0, NAN]),
        ("0.1+0.1x3", [0.1, 0.2, 0.3]),
        ("1-0.5x3", [1.0, 0.5, 0.0]),
        ("-1x2", [-1.0, -1.0]),
        ("1e-3+1e-3x2", [0.001, 0.002]),
        ("(_x2 5)x2", [NAN, NAN, 5.0, NAN, NAN, 5.0]),
        ("nan inf -inf", [NAN, NAN, NAN]),
        ("", []),
    ],
)
def test_notation(text: str, found: list[float]) -> None:
    np.testing.assert_allclose(values(text), found)


def test_values_that_are_not_finite_are_told_apart_from_gaps() -> None:
    assert non_finite("1 nan _ infx2 -inf") == {1: "nan", 3: "inf", 4: "inf", 5: "-inf"}


def test_noise_is_the_same_every_time_and_has_the_sd_it_says() -> None:
    found = values("0.5~0.02x4000", "score")
    np.testing.assert_array_equal(found, values("0.5~0.02x4000", "score"))
    assert found.std() == pytest.approx(0.02, rel=0.05)
    assert not np.array_equal(found, values("0.5~0.02x4000", "entropy"))


@pytest.mark.parametrize("text", ["0.9x", "x3", "a", "1,2", "1+x3", "_+1x3", "nan~0.1x3", "1x200000", "(1x2"])
def test_what_is_not_notation_is_told(text: str) -> None:
    with pytest.raises(NotationError):
        values(text)


def results(cases: str, sql: str = ABOVE, settings: str = "", **known: str) -> list[str]:
    """ "" for each case that holds, else what is wrong."""
    return [one.message.split("GRD-99: ")[-1] for one in rules.test([rule(sql, settings, cases, **known)])]


def case(expect: str, series: str = '{ grad_norm = "0.1x10 2x5 0.1x20" }', more: str = "") -> str:
    return f'```toml case\nname = "n"\nseries = {series}\nexpect = {expect}\n{more}\n```\n'


def test_cases_that_hold_pass() -> None:
    assert results(CASES) == ["", ""]


@pytest.mark.parametrize(
    ("expect", "told"),
    [
        ("[[11, 16]]", "n: expected rows 11-16, found rows 11-15"),
        ("[[11, 15], [20, 22]]", "n: expected rows 11-15, rows 20-22, found rows 11-15"),
        ('"not_applicable"', "n: expected not_applicable, found fired"),
        ('"fires"', ""),
    ],
)
def test_a_case_that_does_not_hold_says_what_was_found(expect: str, told: str) -> None:
    assert results(CASES + case(expect))[2] == told


def test_a_case_expected_silent_or_firing() -> None:
    assert results(CASES + case("[]"))[2] == "n: expected silence, found rows 11-15"
    assert (
        results(CASES + case('"fires"', '{ grad_norm = "0.1x40" }'))[2]
        == "n: expected it to fire, but it stayed silent"
    )


def test_a_rule_that_is_not_applicable_is_not_silent() -> None:
    told = results(CASES + case("[]", '{ score = "0.1x40" }'))[2]
    assert told == "n: expected silence, but the rule is not applicable: missing grad_norm"


def test_messages_begin_with_path_and_line() -> None:
    broken = rule(cases=CASES.replace("[[11, 15]]", "[[11, 14]]"))
    found = rules.test([broken])[0]
    assert not found.passed
    assert found.message.startswith(f"GRD-99-a.md:{broken.cases[0].line}: GRD-99: high: ")


def test_tolerance_and_severity() -> None:
    assert results(CASES + case("[[9, 16]]", more="tolerance = 2"))[2] == ""
    assert (
        results(CASES + case("[[11, 15]]", more='severity = "error"'))[2]
        == "n: expected severity error, found warning"
    )


def test_rows_count_in_live_rows_whatever_the_steps() -> None:
    assert results(CASES + case("[[11, 15]]", more="stride = 10\nfirst_step = 100"))[2] == ""


def test_segments_lie_one_after_another_and_the_last_wins() -> None:
    series = (
        '{ grad_norm = "0.1x10 2x5 0.1x15" }'  # steps 1-15, then again from 11: the high rows are rewritten
    )
    assert results(CASES + case("[]", series, "segments = [[1, 15], [11, 25]]"))[2] == ""


def test_a_single_value_is_as_long_as_the_others() -> None:
    assert results(CASES + case("[[11, 15]]", '{ grad_norm = "0.1x10 2x5 0.1x20", score = "0.5" }'))[2] == ""


def test_lines_config_and_plan_reach_the_card() -> None:
    sql = (
        "SELECT e.run, e.idx, e.row, e.step, r.planned AS value, r.critic_warmup AS threshold, "
        "r.planned = 500 AND r.critic_warmup = 7 AND e.kind = 'cuda_oom' AS hit "
        "FROM events e JOIN runs r ON r.run = e.run"
    )
    full = case(
        '"fires"',
        '{ score = "0.5x20" }',
        'planned = 500\nconfig = { "trainer.critic_warmup" = 7 }\n'
        'lines = [{ kind = "cuda_oom", step = 3, text = "x" }]',
    )
    silent = case("[]", '{ score = "0.5x20" }')
    assert results(full + silent, sql, 'relation = "events"', needs='["log_lines"]') == ["", ""]


def test_clock_name_hardware_and_formats_reach_the_card() -> None:
    sql = (
        "SELECT s.run, s.row, s.step, s.time AS value, r.ended_at AS threshold, "
        "s.time = 130 AND r.ended_at = 900 AND r.experiment = 'one' "
        "AND r.hardware = 'H100' AND r.formats = 'filelogger' AS hit "
        "FROM steps s JOIN runs r ON r.run = s.run"
    )
    told = (
        'times = "100+10x6"\nended_at = 900\nexperiment = "one"\nhardware = "H100"\nformats = ["filelogger"]'
    )
    fires = case("[[4, 4]]", '{ score = "0.5x6" }', told)
    silent = case("[]", '{ score = "0.5x6" }', told.replace("900", "901"))
    assert results(fires + silent, sql, needs='["score"]') == ["", ""]


def test_a_row_without_a_clock_has_no_time() -> None:
    sql = "SELECT run, row, step, time AS value, 0.0 AS threshold, time IS NULL AS hit FROM steps"
    silent = case("[]", '{ score = "0.5x6" }', 'times = "100+10x6"')
    assert results(case("[[1, 6]]", '{ score = "0.5x6" }') + silent, sql, needs='["score"]') == ["", ""]


def test_non_finite_values_of_a_series_are_events() -> None:
    sql = (
        "SELECT run, idx, row, step, 1.0 AS value, 0.0 AS threshold, "
        "kind = 'non_finite' AND metric = 'score' AS hit FROM events"
    )
    fires = case("[[3, 3]]", '{ score = "0.5x2 nan 0.5x3" }')
    assert results(
        fires + case("[]", '{ score = "0.5x6" }'), sql, 'relation = "events"', needs='["events"]'
    ) == ["", ""]


def test_cases_are_written_out_for_drawing() -> None:
    found = rules.cases(rule())[0]
    assert found.name == "high"
    assert found.expect == ((11, 15),)
    assert found.series["grad_norm"][9:11] == (0.1, 2.0)


def test_only_the_codes_asked_for_run() -> None:
    other = rule(code="GRD-98", cases=CASES.replace("[[11, 15]]", "[[1, 2]]"))
    assert {one.rule for one in rules.test([rule(), other], ["GRD-99"])} == {"GRD-99"}


def test_a_card_may_take_as_long_as_in_a_build() -> None:
    assert import_module("sitegen.rules.cases").SECONDS == CARD_SECONDS >= 60


def test_a_card_that_never_ends_fails_and_spares_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("sitegen.rules.cases"), "SECONDS", 2.0)
    many = "SELECT count(*) FROM range(10000000000) a, range(1000) b WHERE a.range * b.range % 7 = 3"
    endless = rule(f"{ABOVE} WHERE ({many}) > 0")
    found = rules.test([rule(code="GRD-98"), endless])
    assert [(one.rule, one.passed) for one in found] == [
        ("GRD-98", True), ("GRD-98", True), ("GRD-99", False), ("GRD-99", False)
    ]  # fmt: skip
    assert re.search(r"GRD-99-a\.md:\d+: GRD-99: stopped after 2 s: too slow for 4 runs", found[-1].message)


def test_a_card_whose_sql_fails_while_it_runs_fails_with_its_line_and_spares_the_others() -> None:
    failing = rule(ABOVE.replace("1.0 AS threshold", "CAST('x' AS INTEGER) AS threshold"))
    found = rules.test([failing, rule(code="GRD-98")])
    assert [one.passed for one in found if one.rule == "GRD-98"] == [True, True]
    told = {one.message for one in found if one.rule == "GRD-99"}
    assert len(told) == 1
    assert re.search(r"GRD-99-a\.md:\d+: GRD-99: Conversion Error", told.pop())
