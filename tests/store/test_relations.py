"""What cards read: steps, evals, events, and the facts of runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sitegen.errors import SitegenError
from sitegen.store import Store, frames, main_validations, portions
from sitegen.store.relations import ANSWERS, columns
from tests.store.written import Written, line

NAN = float("nan")


def rows(shelf: Written, sql: str) -> list[dict[str, Any]]:
    with Store(shelf) as store:
        return store.select(sql)


def column(shelf: Written, name: str, run: str = "a") -> list[Any]:
    return [
        row["x"] for row in rows(shelf, f"SELECT {name} AS x FROM steps WHERE run = '{run}' ORDER BY row")
    ]


# --- rows of steps -------------------------------------------------------------------------


def test_names_of_every_version_are_one_metric(shelf: Written) -> None:
    shelf.add("new", {"actor/entropy": [0.5]})
    shelf.add("old", {"actor/entropy_loss": [0.4]})
    found = rows(shelf, "SELECT run, entropy AS x FROM steps ORDER BY run")
    assert [row["x"] for row in found] == [0.5, 0.4]


def test_scaled_names_are_in_the_unit_of_the_metric(shelf: Written) -> None:
    shelf.add("a", {"actor/lr(1e-4)": [0.01], "actor/entropy": [0.5]})
    assert column(shelf, "lr") == [pytest.approx(1e-6)]


def test_a_run_that_logs_two_names_keeps_the_wanted_one(shelf: Written) -> None:
    shelf.add("a", {"actor/entropy_loss": [0.4], "actor/entropy": [0.5]})
    assert column(shelf, "entropy") == [0.5]


def test_names_that_differ_in_case_only_are_not_mixed_up(shelf: Written) -> None:
    shelf.add("a", {"Actor/Entropy": [9.0], "actor/entropy": [0.5]})
    shelf.add("b", {"actor/entropy": [0.4]})
    assert [row["x"] for row in rows(shelf, "SELECT entropy AS x FROM steps ORDER BY run")] == [0.5, 0.4]


def test_absent_is_null(shelf: Written) -> None:
    shelf.add("a", {"critic/score/mean": [0.1, NAN, 0.3]})
    assert column(shelf, "score") == [0.1, None, 0.3]
    assert column(shelf, "grad_norm") == [None, None, None]


def test_rewritten_rows_are_left_out_and_rows_follow_steps(shelf: Written) -> None:
    shelf.add(
        "a",
        {"critic/score/mean": [1.0, 2.0, 3.0, 30.0, 40.0]},
        steps=[1, 2, 3, 3, 4],
        segments=[0, 0, 0, 1, 1],
        live=[True, True, False, True, True],
    )
    found = rows(shelf, "SELECT row, step, segment, score FROM steps ORDER BY row")
    assert [tuple(row.values()) for row in found] == [
        (1, 1, 0, 1.0),
        (2, 2, 0, 2.0),
        (3, 3, 1, 30.0),
        (4, 4, 1, 40.0),
    ]


def test_a_row_that_only_validates_is_no_training_row(shelf: Written) -> None:
    shelf.add(
        "a",
        {"critic/score/mean": [NAN, 0.1, 0.2], "val-core/gsm8k/acc/mean@1": [0.3, NAN, 0.4]},
        steps=[0, 1, 2],
    )
    assert column(shelf, "step") == [1, 2]
    assert [row["step"] for row in rows(shelf, "SELECT step FROM evals ORDER BY idx")] == [0, 2]


def test_a_run_of_unknown_metrics_keeps_its_rows(shelf: Written) -> None:
    shelf.add("a", {"my/own": [1.0, 2.0]})
    assert column(shelf, "step") == [1, 2]


def test_a_run_without_steps_has_no_rows_but_facts(shelf: Written) -> None:
    shelf.add("a", {})
    assert rows(shelf, "SELECT run FROM steps") == []
    assert rows(shelf, "SELECT run, steps FROM runs") == [{"run": "a", "steps": 0}]


# --- sizes of windows ----------------------------------------------------------------------


def test_windows_are_in_steps_and_hold_enough_rows(shelf: Written) -> None:
    shelf.add("each", {"critic/score/mean": np.zeros(1000)})
    shelf.add("tenth", {"critic/score/mean": np.zeros(100)}, steps=np.arange(0, 1000, 10))
    found = rows(shelf, "SELECT DISTINCT run, stride, n, r10, r20, r50, w FROM steps ORDER BY run")
    assert [tuple(row.values()) for row in found] == [
        ("each", 1.0, 1000.0, 10, 20, 50, 50),
        ("tenth", 10.0, 100.0, 10, 12, 17, 12),  # fewer rows would be noise
    ]


def test_the_plan_says_how_far_a_run_is(shelf: Written) -> None:
    shelf.add("a", {"critic/score/mean": np.zeros(100)}, planned_steps=400)
    assert column(shelf, "frac")[-1] == 0.25
    assert column(shelf, "n")[0] == 400


def test_without_a_plan_the_rows_there_are_count(shelf: Written) -> None:
    shelf.add("a", {"critic/score/mean": np.zeros(100)})
    assert column(shelf, "frac")[-1] == 1.0


@pytest.mark.parametrize(
    ("config", "rows_of_warmup"),
    [
        ({}, 20),
        ({"trainer.critic_warmup": "40"}, 40),
        ({"actor_rollout_ref.actor.optim.lr_warmup_steps": "30"}, 30),
        ({"actor_rollout_ref.actor.optim.lr_warmup_steps": "-1"}, 20),
    ],
)
def test_warm_up_is_twenty_rows_or_what_the_settings_say(
    shelf: Written, config: dict[str, str], rows_of_warmup: int
) -> None:
    shelf.add("a", {"critic/score/mean": np.zeros(200)}, config=config)
    assert sum(column(shelf, "warm")) == rows_of_warmup


def test_three_decimals_are_recognised(shelf: Written) -> None:
    noise = np.random.default_rng(1).random(100)
    shelf.add("a", {"critic/score/mean": noise.round(3)})
    shelf.add("b", {"critic/score/mean": noise})
    shelf.add("c", {"critic/score/mean": noise.round(2)})
    found = rows(shelf, "SELECT DISTINCT run, quantized FROM steps ORDER BY run")
    assert [row["quantized"] for row in found] == [True, False, False]


# --- derived columns -----------------------------------------------------------------------


def test_time_and_throughput_leave_out_validation_and_checkpoints(shelf: Written) -> None:
    shelf.add(
        "a",
        {
            "timing_s/step": [100.0, 400.0],
            "timing_s/testing": [NAN, 250.0],
            "timing_s/save_checkpoint": [NAN, 50.0],
            "timing_s/gen": [60.0, 60.0],
            "perf/throughput": [1000.0, 250.0],
        },
    )
    assert column(shelf, "time_step_net") == [100.0, 100.0]
    assert column(shelf, "throughput_net") == [1000.0, 1000.0]


def test_validation_outside_the_step_is_not_taken_off(shelf: Written) -> None:
    shelf.add("a", {"timing_s/step": [100.0], "timing_s/testing": [90.0], "timing_s/gen": [80.0]})
    assert column(shelf, "time_step_net") == [100.0]


def test_score_sd_is_noise_whatever_the_trend(shelf: Written) -> None:
    rng = np.random.default_rng(3)
    shelf.add("a", {"critic/score/mean": 0.004 * np.arange(150) + rng.normal(0, 0.03, 150)})
    assert column(shelf, "score_sd")[-1] == pytest.approx(0.03, rel=0.3)


def test_score_z_tells_rising_from_flat(shelf: Written) -> None:
    noise = np.random.default_rng(4).normal(0, 0.03, 150)
    shelf.add("a", {"critic/score/mean": 0.004 * np.arange(150) + noise})
    shelf.add("b", {"critic/score/mean": 0.4 + noise})
    assert column(shelf, "score_z", "a")[-1] > 3
    assert abs(column(shelf, "score_z", "b")[-1]) < 3


def test_speed_falls_only_if_total_and_response_tokens_both_fall(shelf: Written) -> None:
    length = np.where(np.arange(60) < 30, 100.0, 300.0)
    fewer = np.where(np.arange(60) < 30, 1000.0, 700.0)
    names = {"perf/throughput": fewer, "prompt_length/mean": np.full(60, 100.0)}
    shelf.add("grew", {**names, "response_length/mean": length})
    shelf.add("slowed", {**names, "response_length/mean": np.full(60, 100.0)})
    assert column(shelf, "speed", "grew")[-1] == 1.0
    assert column(shelf, "speed", "slowed")[-1] == pytest.approx(0.7)


def test_relations_have_no_column_that_a_card_answers_with() -> None:
    assert not {name: found for name, names in columns().items() if (found := names & ANSWERS)}


# --- validations ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "main"),
    [
        (["val-core/openai/gsm8k/reward/mean@1"], ["val-core/openai/gsm8k/reward/mean@1"]),
        (["val-core/aime/acc/mean@8", "val-core/aime/acc/mean@32"], ["val-core/aime/acc/mean@32"]),
        (["val-core/aime/reward/mean@8", "val-core/aime/acc/mean@8"], ["val-core/aime/acc/mean@8"]),
        (["val-core/aime/acc/maj@8/mean", "val-core/aime/acc/mean@8"], ["val-core/aime/acc/mean@8"]),
        (["val/test_score/openai/gsm8k"], ["val/test_score/openai/gsm8k"]),
        (["test_score/math"], ["test_score/math"]),
        (["val/loss", "val-aux/aime/score/std@8", "critic/score/mean"], []),
    ],
)
def test_one_metric_of_each_data_set_is_the_main_one(names: list[str], main: list[str]) -> None:
    assert [found.name for found in main_validations(names)] == main


def test_evals_have_their_own_index_and_their_best(shelf: Written) -> None:
    values = np.full(60, NAN)
    values[[9, 29, 49]] = [0.3, 0.6, 0.5]
    shelf.add("a", {"critic/score/mean": np.full(60, 0.4), "val-core/gsm8k/acc/mean@1": values})
    found = rows(
        shelf, "SELECT dataset, idx, row, val, val_best, val_before, train, last FROM evals ORDER BY idx"
    )
    assert [tuple(row.values())[1:6] for row in found] == [
        (1, 10, 0.3, 0.3, None),
        (2, 30, 0.6, 0.6, 0.3),
        (3, 50, 0.5, 0.6, 0.6),
    ]
    assert [row["last"] for row in found] == [False, False, True]
    assert found[2]["train"] == pytest.approx(0.4)
    assert {row["dataset"] for row in found} == {"gsm8k"}


def test_a_mean_of_n_has_the_best_of_n_beside_it(shelf: Written) -> None:
    both = {"val-core/math/acc/mean@8": [0.3, NAN, 0.5], "val-core/math/acc/best@8/mean": [0.6, NAN, 0.7]}
    older = {"val-core/math/acc/mean@4": [0.3], "val-aux/math/acc/best@4/mean": [0.6]}
    shelf.add("a", {"critic/score/mean": [0.4] * 3, **both})
    shelf.add("b", {"critic/score/mean": [0.4], **older})
    shelf.add("c", {"critic/score/mean": [0.4], "val-core/math/acc/mean@8": [0.3]})
    found = [
        tuple(one.values()) for one in rows(shelf, "SELECT run, val, best_of_n FROM evals ORDER BY run, idx")
    ]
    assert found == [("a", 0.3, 0.6), ("a", 0.5, 0.7), ("b", 0.3, 0.6), ("c", 0.3, None)]


@pytest.mark.parametrize("name", ["Émile", "İstanbul", "数学", "MATH", 'a"b', "run"])
def test_data_sets_may_have_any_name(shelf: Written, name: str) -> None:
    shelf.add("a", {"critic/score/mean": [0.4, 0.4], f"val-core/{name}/acc/mean@1": [0.1, 0.2]})
    shelf.add("b", {"critic/score/mean": [0.4]})
    assert [row["dataset"] for row in rows(shelf, "SELECT dataset FROM evals")] == [name, name]


def test_noise_of_validations_has_a_floor(shelf: Written) -> None:
    shelf.add("a", {"critic/score/mean": np.full(40, 0.4), "val-core/gsm8k/acc/mean@1": np.full(40, 0.5)})
    assert {row["sd"] for row in rows(shelf, "SELECT sd FROM evals")} == {0.015}


def test_steps_at_the_ends_of_64_bits_have_a_distance(shelf: Written) -> None:
    shelf.add("a", {"critic/score/mean": [0.1, 0.2]}, steps=[-(2**63), 2**63 - 1])
    assert column(shelf, "d_step") == [None, 2.0**64]


# --- very long runs ------------------------------------------------------------------------


def test_rules_get_every_kth_row_of_a_very_long_run_and_the_last(
    shelf: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sitegen.store.frames.ROWS", 40)
    shelf.add("a", {"critic/score/mean": np.arange(101.0)}, non_finite=[(50, "actor/entropy", "nan")])
    shelf.add("b", {"critic/score/mean": np.arange(40.0)})
    assert column(shelf, "step") == [*range(1, 101, 3), 101]
    assert set(column(shelf, "stride")) == {3.0}
    assert column(shelf, "step", "b") == list(range(1, 41))
    found = rows(shelf, "SELECT step, row FROM events")
    assert found == [{"step": 50, "row": 17}]


def test_validations_of_a_very_long_run_stay_complete(
    shelf: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sitegen.store.frames.ROWS", 40)
    values = np.full(100, NAN)
    values[[7, 8, 9]] = [0.3, 0.6, 0.5]
    shelf.add("a", {"critic/score/mean": np.zeros(100), "val-core/gsm8k/acc/mean@1": values})
    assert [row["step"] for row in rows(shelf, "SELECT step FROM evals ORDER BY step")] == [8, 9, 10]


def test_rows_that_do_not_fit_in_memory_are_told_with_their_run(
    shelf: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.add("long", {"critic/score/mean": np.arange(50_000.0)})
    monkeypatch.setattr("sitegen.store.connection.MEMORY", "10MB")
    with pytest.raises(SitegenError, match=r"long \(50000 steps\) do not fit"):
        rows(shelf, "SELECT row FROM steps")


# --- events --------------------------------------------------------------------------------


def test_events_before_the_first_row_do_not_vanish(shelf: Written) -> None:
    shelf.add("crashed", {}, lines=[line("cuda_oom", None, "CUDA out of memory")])
    found = rows(shelf, "SELECT kind, row, step, text FROM events")
    assert found == [{"kind": "cuda_oom", "row": None, "step": None, "text": "CUDA out of memory"}]


def test_events_know_their_row(shelf: Written) -> None:
    shelf.add("a", {"critic/score/mean": [0.1, 0.2]}, steps=[10, 20], lines=[line("traceback", 20)])
    assert rows(shelf, "SELECT row, step FROM events") == [{"row": 2, "step": 20}]


def test_values_that_are_not_finite_are_events_with_their_metric(shelf: Written) -> None:
    shelf.add("a", {"actor/entropy": [0.1, NAN]}, non_finite=[(2, "actor/entropy", "nan")])
    found = rows(shelf, "SELECT kind, name, metric, raw, row FROM events")
    assert found == [
        {"kind": "non_finite", "name": "actor/entropy", "metric": "entropy", "raw": "nan", "row": 2}
    ]


# --- the store itself ----------------------------------------------------------------------


def test_facts_do_not_open_parquet(shelf: Written) -> None:
    shelf.add("a", {"critic/score/mean": [0.1]})
    shelf.steps("a").write_bytes(b"not parquet")
    assert rows(shelf, "SELECT run, planned FROM runs") == [{"run": "a", "planned": None}]


def test_settings_are_numbers_in_runs_and_text_in_config(shelf: Written) -> None:
    shelf.add(
        "a", {"critic/score/mean": [0.1]}, config={"trainer.test_freq": "10", "trainer.logger": "['console']"}
    )
    assert rows(shelf, "SELECT test_freq FROM runs") == [{"test_freq": 10.0}]
    assert len(rows(shelf, "SELECT setting FROM config")) == 2


def test_a_later_question_may_need_more_metrics(shelf: Written) -> None:
    shelf.add("a", {"actor/grad_norm": [0.5], "prompt_length/max": [7.0]})
    with Store(shelf) as store:
        assert store.select("SELECT grad_norm AS x FROM steps") == [{"x": 0.5}]
        assert store.select("SELECT prompt_length_max AS x FROM steps") == [{"x": 7.0}]


def test_parameters_are_bound(shelf: Written) -> None:
    shelf.add("a", {"critic/score/mean": [0.1, 0.2, 0.3]})
    with Store(shelf) as store:
        found = store.select(
            "SELECT step FROM steps WHERE score > $least ORDER BY row", {"least": 0.15, "unused": 1}
        )
    assert [row["step"] for row in found] == [2, 3]


def test_many_runs_are_made_in_portions_and_say_the_same(
    shelf: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        shelf.add(f"r{number}", {"critic/score/mean": np.arange(30.0) * number}, lines=[line("traceback", 3)])
    questions = (
        "SELECT run, row, score20 AS x FROM steps ORDER BY run, row",
        "SELECT run, row, score_best AS x FROM steps ORDER BY run, row",
        "SELECT run, row, kind AS x FROM events ORDER BY run, row",
    )
    once = [rows(shelf, sql) for sql in questions]
    monkeypatch.setattr("sitegen.store.portion.RUNS", 2)
    assert [rows(shelf, sql) for sql in questions] == once
    with Store(shelf) as store:
        assert [store.select(sql) for sql in questions] == once


def test_of_many_runs_nothing_is_made_that_nobody_asks_for(
    shelf: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        shelf.add(name, {"critic/score/mean": [0.1, 0.2], "actor/entropy": [0.5, 0.4]})
    monkeypatch.setattr("sitegen.store.portion.RUNS", 2)
    with Store(shelf) as store:
        store.prepare({"score10"})
        made = set(store.table("SELECT * FROM steps").column_names)
    assert "score10" in made
    assert not made & {"score20", "score_sd", "entropy", "entropy_start", "speed"}


def test_portions_hold_so_many_runs_and_rows(shelf: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    for run, length in (("a", 30), ("b", 30), ("c", 500), ("d", 30), ("e", 30), ("f", 30)):
        shelf.add(run, {"critic/score/mean": np.zeros(length)})
    monkeypatch.setattr("sitegen.store.portion.ROWS", 100)
    monkeypatch.setattr("sitegen.store.portion.RUNS", 2)
    assert list(portions(shelf, shelf.runs())) == [("a", "b"), ("c",), ("d", "e"), ("f",)]
    assert list(portions(shelf, ())) == []


def test_portions_are_alike_so_that_none_needs_more_memory_than_another(
    shelf: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    for run in "abcdefg":
        shelf.add(run, {"critic/score/mean": np.zeros(20)})
    monkeypatch.setattr("sitegen.store.portion.ROWS", 100)
    assert list(portions(shelf, shelf.runs())) == [tuple("abcd"), tuple("efg")]


def test_the_stride_of_a_long_run_is_the_one_its_rows_are_taken_with(
    shelf: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sitegen.store.frames.ROWS", 40)
    shelf.add("a", {"critic/score/mean": np.zeros(100)})
    taken = [row["step"] for row in rows(shelf, "SELECT step FROM steps ORDER BY step")]
    assert taken[1] - taken[0] == frames.stride(100) == 3
    assert frames.stride(40) == 1
