"""From hits to incidents, verdicts and phases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sitegen.errors import CardError, ConfigError
from sitegen.model import Findings, MetricSummary, Outcome, PhaseName, Severity
from sitegen.rules import evaluate
from sitegen.rules.definition import Definition
from tests.rules.written_cards import ABOVE, rule
from tests.store.written import Written, line

NAN = float("nan")
CALM = [0.1] * 30
HIGH = {"actor/grad_norm": [*CALM, 2.0, 3.0, 2.5, *CALM]}


@pytest.fixture
def shelf(tmp_path: Path) -> Written:
    return Written(tmp_path / "archive")


def judge(shelf: Written, rules: Sequence[Definition], run: str = "a", **overrides: Any) -> Findings:
    return evaluate(shelf, [run], rules, overrides)[run]


def spans(found: Findings) -> list[tuple[int | None, int | None]]:
    return [(one.first, one.last) for one in found.incidents]


# --- incidents -----------------------------------------------------------------------------


def test_an_incident_has_its_numbers(shelf: Written) -> None:
    shelf.add("a", HIGH, steps=np.arange(100, 163))
    found = judge(
        shelf, [rule(settings='message = "norm {value:.3g} against {threshold:.2g} at {step}"')]
    ).incidents[0]
    assert (found.id, found.anchor) == ("a/GRD-99-1", "GRD-99-1")
    assert (found.first, found.last, found.open) == (130, 132, False)
    assert (found.metric, found.value, found.threshold) == ("grad_norm", 3.0, 1.0)
    assert found.message == "norm 3 against 1 at 131"
    assert found.causes == ("Likely causes told",)
    assert found.advice == ("What to do told",)
    assert found.severity is Severity.WARNING


def test_the_evidence_surrounds_the_span(shelf: Written) -> None:
    shelf.add("a", HIGH)
    proof = judge(shelf, [rule()]).incidents[0].evidence
    assert proof.steps[0] == 1
    assert proof.steps[-1] == 53  # one window after the end
    assert proof.values[30:33] == (2.0, 3.0, 2.5)
    assert set(proof.thresholds) == {1.0}


def test_long_evidence_keeps_extremes(shelf: Written) -> None:
    norms = np.full(2000, 1.5)
    norms[777], norms[1234] = 99.0, 1.1
    shelf.add("a", {"actor/grad_norm": norms})
    proof = judge(shelf, [rule()]).incidents[0].evidence
    assert len(proof.steps) <= 240
    assert {99.0, 1.1} <= set(proof.values)


def test_facts_compare_medians_before_and_inside(shelf: Written) -> None:
    score = [0.5] * 30 + [0.1, 0.3, 0.2] + [0.5] * 30
    shelf.add("a", {**HIGH, "critic/score/mean": score})
    facts = judge(shelf, [rule(settings='facts = ["score", "entropy"]')]).incidents[0].evidence.facts
    assert [(one.metric, one.before, one.after) for one in facts] == [("score", 0.5, 0.2)]


def test_values_that_are_not_finite_are_told_apart_from_none(shelf: Written) -> None:
    entropy = [0.5] * 30 + [NAN] * 33
    odd = [(31, "actor/entropy", "nan"), (60, "critic/score/mean", "inf")]  # the score long after the span
    shelf.add("a", {**HIGH, "critic/score/mean": entropy, "actor/entropy": entropy}, non_finite=odd)
    facts = judge(shelf, [rule(settings='facts = ["score", "entropy"]')]).incidents[0].evidence.facts
    told = [(one.metric, one.before, one.after) for one in facts]
    assert told == [("score", 0.5, None), ("entropy", 0.5, pytest.approx(NAN, nan_ok=True))]


def test_other_columns_are_facts_and_may_be_named(shelf: Written) -> None:
    shelf.add("a", HIGH)
    found = judge(
        shelf, [rule(ABOVE.replace("FROM", ", 10 * grad_norm AS tenfold FROM"), 'message = "{tenfold:.0f}"')]
    )
    assert found.incidents[0].message == "30"
    assert [(one.metric, one.after) for one in found.incidents[0].evidence.facts] == [("tenfold", 30.0)]


def test_incidents_are_counted_by_onset(shelf: Written) -> None:
    shelf.add("a", {"actor/grad_norm": [*CALM, 2.0, *CALM, 2.0, *CALM, 2.0]})
    found = judge(shelf, [rule()])
    assert [one.anchor for one in found.incidents] == ["GRD-99-1", "GRD-99-2", "GRD-99-3"]
    assert [one.open for one in found.incidents] == [False, False, True]


def test_a_row_may_escalate_the_span(shelf: Written) -> None:
    shelf.add("a", HIGH)
    sql = ABOVE.replace("FROM", ", CASE WHEN grad_norm >= 3 THEN 'critical' END AS severity FROM")
    assert judge(shelf, [rule(sql)]).incidents[0].severity is Severity.CRITICAL


def test_a_severity_that_does_not_exist_names_the_card(shelf: Written) -> None:
    shelf.add("a", HIGH)
    with pytest.raises(CardError, match=r"GRD-99-a\.md:\d+: GRD-99: severity must be .* not 'bad'"):
        judge(shelf, [rule(ABOVE.replace("FROM", ", 'bad' AS severity FROM"))])


def test_muting_blocks_opening_in_warm_up(shelf: Written) -> None:
    shelf.add("a", {"actor/grad_norm": [2.0] * 3 + [0.1] * 57})
    assert spans(judge(shelf, [rule()])) == [(1, 3)]
    assert spans(judge(shelf, [rule(settings='mute = "warmup"')])) == []


def test_rows_are_those_of_each_run(shelf: Written) -> None:
    shelf.add("a", {"actor/grad_norm": [*CALM, 2.0, 2.0]})
    shelf.add("b", {"actor/grad_norm": [2.0, *CALM]})
    found = evaluate(shelf, ["a", "b"], [rule(settings="persist = [3, 3]")])
    assert not found["a"].incidents
    assert not found["b"].incidents


def test_runs_come_back_in_the_order_asked(shelf: Written) -> None:
    for run in ("a", "b", "c"):
        shelf.add(run, HIGH)
    assert list(evaluate(shelf, ["c", "a"], [rule()])) == ["c", "a"]


def test_batches_do_not_change_findings(shelf: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        shelf.add(f"r{number}", {"actor/grad_norm": [*CALM, *[2.0] * number, *CALM]})
    once = evaluate(shelf, shelf.runs(), [rule()])
    monkeypatch.setattr("sitegen.store.portion.RUNS", 2)
    assert evaluate(shelf, shelf.runs(), [rule()]) == once


# --- verdicts ------------------------------------------------------------------------------


def verdict(found: Findings) -> tuple[Outcome, tuple[str, ...]]:
    return found.verdicts[0].outcome, found.verdicts[0].missing


def test_fired_clear_and_not_applicable(shelf: Written) -> None:
    shelf.add("fired", HIGH)
    shelf.add("clear", {"actor/grad_norm": CALM})
    shelf.add("without", {"critic/score/mean": CALM})
    found = evaluate(shelf, shelf.runs(), [rule()])
    assert verdict(found["fired"]) == (Outcome.FIRED, ())
    assert verdict(found["clear"]) == (Outcome.CLEAR, ())
    assert verdict(found["without"]) == (Outcome.NOT_APPLICABLE, ("grad_norm",))


def test_a_rule_that_could_evaluate_nothing_is_not_clear(shelf: Written) -> None:
    shelf.add("a", {"actor/grad_norm": [2.0] * 10})
    found = judge(shelf, [rule(ABOVE.replace("grad_norm > 1 AS", "tavg(grad_norm, s, 50) > 1 AS") + " s")])
    assert verdict(found) == (Outcome.NOT_APPLICABLE, ())
    assert "10 rows" in found.verdicts[0].reason


def test_a_metric_that_was_never_finite_is_logged_but_cannot_be_judged(shelf: Written) -> None:
    never = MetricSummary("actor/grad_norm", "grad_norm", 0, *[None] * 7, 5)
    shelf.add("a", {"critic/score/mean": CALM}, summary=(never,))
    found = judge(shelf, [rule()])
    assert found.verdicts[0].missing == ()
    assert found.verdicts[0].outcome is Outcome.NOT_APPLICABLE


def test_hits_of_a_run_that_lacks_what_is_needed_do_not_count(shelf: Written) -> None:
    shelf.add("a", HIGH)
    found = judge(shelf, [rule(needs='["grad_norm", "kl_ref"]')])
    assert verdict(found) == (Outcome.NOT_APPLICABLE, ("kl_ref",))
    assert not found.incidents


@pytest.mark.parametrize(
    ("need", "facts", "missing"),
    [
        ("log_lines", {"formats": ("filelogger",)}, ("log_lines",)),
        ("log_lines", {"formats": ("console",)}, ()),
        ("config", {}, ("config",)),
        ("config", {"config": {"a": "1"}}, ()),
        ("planned", {}, ("planned",)),
        ("planned", {"planned_steps": 100}, ()),
        ("evals", {}, ("evals",)),
        ("events", {}, ()),
    ],
)
def test_needs_that_are_no_metrics(
    shelf: Written, need: str, facts: dict[str, Any], missing: tuple[str, ...]
) -> None:
    shelf.add("a", HIGH, **facts)
    assert (
        judge(shelf, [rule(needs=f'["{need}"]', settings='metric = "grad_norm"')]).verdicts[0].missing
        == missing
    )


def test_a_card_that_fails_fails_loudly(shelf: Written) -> None:
    shelf.add("a", HIGH)
    broken = ABOVE.replace("1.0 AS threshold", "error('broken on line two') AS threshold")
    with pytest.raises(CardError, match=r"GRD-99-a\.md:\d+: GRD-99: .*broken on line two"):
        judge(shelf, [rule(broken)])


# --- params, composites, scopes, relations -------------------------------------------------

LIMIT = ABOVE.replace(
    "1.0 AS threshold, grad_norm > 1 AS", "$limit_norm AS threshold, grad_norm > $limit_norm AS"
)


def test_a_site_overrides_params(shelf: Written) -> None:
    shelf.add("a", HIGH)
    limited = rule(LIMIT, "params = { limit_norm = 1.0 }")
    assert spans(judge(shelf, [limited])) == [(31, 33)]
    assert judge(shelf, [limited], **{"GRD-99": {"limit_norm": 5.0}}).incidents == ()


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        ({"GRD-98": {"limit_norm": 1}}, 'no rule GRD-98; did you mean "GRD-99"?'),
        ({"GRD-99": {"limit_nrm": 1}}, 'no param limit_nrm; did you mean "limit_norm"?'),
        ({"GRD-99": {"limit_norm": "high"}}, "must be like 1.0"),
        ({"GRD-99": {"limit_norm": True}}, "must be like 1.0"),
    ],
)
def test_overrides_that_name_nothing_are_told(shelf: Written, overrides: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError) as raised:
        evaluate(shelf, [], [rule(LIMIT, "params = { limit_norm = 1.0 }")], overrides)
    assert told in str(raised.value)


def test_a_second_pass_reads_the_spans_of_the_first(shelf: Written) -> None:
    shelf.add("a", {**HIGH, "critic/score/mean": [0.5] * 63})
    sql = (
        "SELECT s.run, s.row, s.step, score AS value, 0.0 AS threshold, p.run IS NOT NULL AS hit "
        "FROM steps s LEFT JOIN spans p "
        "ON p.run = s.run AND p.code = 'GRD-99' AND s.row BETWEEN p.first_row AND p.last_row"
    )
    found = judge(shelf, [rule(), rule(sql, 'after = ["GRD-99"]', code="REW-99", needs='["score"]')])
    assert [(one.rule, one.first, one.last) for one in found.incidents] == [
        ("GRD-99", 31, 33),
        ("REW-99", 31, 33),
    ]


WHOLE = (
    "SELECT run, max(grad_norm) AS value, 1.0 AS threshold, max(grad_norm) > 1 AS hit FROM steps GROUP BY run"
)


def test_a_statement_about_the_run_spans_it(shelf: Written) -> None:
    shelf.add("a", HIGH)
    found = judge(shelf, [rule(WHOLE, 'scope = "run"')]).incidents[0]
    assert (found.first, found.last, found.open, found.value) == (1, 63, True, 3.0)
    assert found.evidence.facts[0].after == 3.0
    assert 3.0 in found.evidence.values


def test_a_statement_about_the_run_may_be_silent(shelf: Written) -> None:
    shelf.add("a", {"actor/grad_norm": CALM})
    assert judge(shelf, [rule(WHOLE, 'scope = "run"')]).verdicts[0].outcome is Outcome.CLEAR


def test_validations_count_in_their_own_index_and_per_data_set(shelf: Written) -> None:
    one, two = np.full(60, NAN), np.full(60, NAN)
    one[9::10], two[9::10] = [0.5, 0.5, 0.1, 0.1, 0.5, 0.5], [0.5] * 6
    shelf.add(
        "a", {"critic/score/mean": [0.5] * 60, "val-core/x/acc/mean@1": one, "val-core/y/acc/mean@1": two}
    )
    sql = "SELECT run, name, idx, row, step, val AS value, 0.3 AS threshold, val < 0.3 AS hit FROM evals"
    found = judge(
        shelf,
        [rule(sql, 'relation = "evals"\npersist = [2, 2]\nmessage = "{name} {value}"', needs='["evals"]')],
    )
    assert spans(found) == [(30, 40)]
    assert found.incidents[0].metric == "val-core/x/acc/mean@1"
    assert found.incidents[0].message == "val-core/x/acc/mean@1 0.1"


EVENTS = (
    "SELECT run, idx, row, step, NULL::DOUBLE AS value, NULL::DOUBLE AS threshold, true AS hit, text AS said "
    "FROM events WHERE kind = 'cuda_oom'"
)


def of_events() -> Definition:
    return rule(EVENTS, 'relation = "events"\nmessage = "{said}"', needs='["log_lines"]')


def test_a_crash_before_the_first_step_is_an_incident(shelf: Written) -> None:
    shelf.add("a", {}, lines=[line("cuda_oom", None, "out of memory")])
    found = judge(shelf, [of_events()]).incidents[0]
    assert (found.first, found.last, found.open, found.message) == (None, None, True, "out of memory")
    assert [one.text for one in found.evidence.lines] == ["out of memory"]


def test_events_far_apart_are_two(shelf: Written) -> None:
    shelf.add("a", HIGH, lines=[line("cuda_oom", 5, "x", 1), line("cuda_oom", 50, "y", 2)])
    found = judge(shelf, [of_events()])
    assert [(one.first, one.open, len(one.evidence.lines)) for one in found.incidents] == [
        (5, False, 1),
        (50, False, 1),
    ]


def test_events_of_one_moment_are_one(shelf: Written) -> None:
    lines = [line("cuda_oom", 63, "x", number) for number in range(1, 9)]
    shelf.add("a", HIGH, lines=lines)
    found = judge(shelf, [of_events()])
    assert [(one.first, one.open, len(one.evidence.lines)) for one in found.incidents] == [(63, True, 8)]


def test_no_event_is_what_health_looks_like(shelf: Written) -> None:
    shelf.add("a", HIGH)
    assert judge(shelf, [of_events()]).verdicts[0].outcome is Outcome.CLEAR


# --- phases --------------------------------------------------------------------------------

PHASES = (
    "SELECT run, row, step, CASE WHEN row <= 20 THEN 'warmup' WHEN score > 0.4 THEN 'climb' END AS phase "
    "FROM steps"
)


def of_phases(sql: str = PHASES) -> Definition:
    case = '```toml case\nname = "x"\nseries = { score = "0.1x40" }\nexpect = [["warmup", 1, 20]]\n```\n'
    return rule(sql, 'kind = "phase"', cases=case, needs='["score"]', code="PHASE-99")


def test_phases_are_exclusive_spans(shelf: Written) -> None:
    shelf.add("a", {"critic/score/mean": [0.1] * 40 + [0.5] * 40})
    found = judge(shelf, [of_phases()])
    assert [(one.phase, one.first, one.last) for one in found.phases] == [
        (PhaseName.WARMUP, 1, 20),
        (PhaseName.LEARNING, 21, 40),
        (PhaseName.CLIMB, 41, 80),
    ]


def test_a_run_without_a_score_has_no_phases(shelf: Written) -> None:
    shelf.add("a", HIGH)
    found = judge(shelf, [of_phases()])
    assert found.phases == ()
    assert verdict(found) == (Outcome.NOT_APPLICABLE, ("score",))


def test_a_phase_that_does_not_exist_names_the_card(shelf: Written) -> None:
    shelf.add("a", {"critic/score/mean": [0.1] * 40})
    with pytest.raises(CardError, match=r"PHASE-99-a\.md:\d+: PHASE-99: .*up"):
        judge(shelf, [of_phases(PHASES.replace("'climb'", "'up'").replace("0.4", "0.0"))])


def test_an_event_without_line_or_step_still_has_evidence(shelf: Written) -> None:
    sql = (
        "SELECT e.run, e.idx, NULL::BIGINT AS row, NULL::BIGINT AS step, 1.0 AS value, 0.0 AS threshold, "
        "true AS hit FROM events e WHERE e.kind = 'non_finite'"
    )
    shelf.add("a", {"actor/grad_norm": CALM}, non_finite=[(3, "actor/grad_norm", "nan")])
    found = judge(shelf, [rule(sql, 'relation = "events"', needs='["events"]')]).incidents[0]
    assert [(one.metric, one.after) for one in found.evidence.facts] == [("events", 1.0)]
    assert found.metric == "grad_norm"


def test_the_same_runs_give_the_same_findings(shelf: Written) -> None:
    for number in range(6):
        shelf.add(f"r{number}", {"actor/grad_norm": [*CALM, *[2.0] * number, *CALM]})
    catalog = [rule(), rule(code="GRD-98"), rule(WHOLE, 'scope = "run"', code="GRD-97")]
    assert evaluate(shelf, shelf.runs(), catalog) == evaluate(shelf, shelf.runs(), catalog)
