"""What the bundled boards rank."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen import leaderboards
from sitegen.model import Leaderboard
from sitegen.store import Store
from tests.leaderboards.shelf import Runs, training, validated


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


def board(runs: Runs, slug: str) -> Leaderboard:
    with Store(runs.open()) as store:
        return next(one for one in leaderboards.rank(store, {}) if one.slug.startswith(slug))


def values(found: Leaderboard) -> dict[str, float]:
    return {entry.run: entry.value for entry in found.entries}


def test_the_best_validation_counts_wherever_it_was(runs: Runs) -> None:
    runs.add("early-peak", validated({2: 0.3, 4: 0.8, 6: 0.5}, 6), model="Qwen2.5-3B")
    runs.add("late-peak", validated({2: 0.3, 4: 0.5, 6: 0.7}, 6))
    found = board(runs, "best-validation")
    assert found.group == "gsm8k"
    assert [(entry.run, entry.value, entry.step) for entry in found.entries] == [
        ("early-peak", 0.8, 4),
        ("late-peak", 0.7, 6),
    ]
    assert found.entries[0].extra["model"] == "Qwen2.5-3B"
    assert found.entries[0].extra["evaluations"] == "3"


def test_a_run_without_validation_is_named(runs: Runs) -> None:
    runs.add("seen", validated({2: 0.3}, 3))
    runs.add("unseen", training(3))
    assert board(runs, "best-validation").left_out == (("unseen", "no validation in its logs"),)


def test_votes_and_rewards_are_not_ranked_with_accuracy(runs: Runs) -> None:
    for name, metric in (("a", "acc/mean@8"), ("b", "acc/maj@8/mean"), ("c", "reward/mean@8")):
        runs.add(name, [{"critic/score/mean": 0.5, f"val-core/aime/{metric}": 0.4}])
    with Store(runs.open()) as store:
        boards = [one for one in leaderboards.rank(store, {}) if one.slug.startswith("best-validation")]
    assert {one.group: [entry.run for entry in one.entries] for one in boards} == {
        "aime": ["a"],
        "aime (maj@8)": ["b"],
        "aime (reward)": ["c"],
    }


def test_the_table_of_samples_is_no_benchmark(runs: Runs) -> None:
    runs.add("a", [{"critic/score/mean": 0.5, "val/generations/nrows": 6.0, "val/success_rate": 0.4}])
    assert board(runs, "best-validation").group == "success_rate"


def test_groups_without_a_ranked_run_share_one_board(runs: Runs) -> None:
    runs.add("long", training(10, **{"perf/throughput": 1000.0}), model="a")
    runs.add("short", training(2, **{"perf/throughput": 1000.0}), model="b")
    runs.add("silent", training(10), model="c")
    with Store(runs.open()) as store:
        boards = [one for one in leaderboards.rank(store, {}) if one.slug.startswith("throughput")]
    assert {one.group: one.left_out for one in boards} == {
        "a on unknown hardware": (),
        "": (("short", "fewer than five steps"), ("silent", "no throughput in its logs")),
    }


def test_the_time_to_a_score_is_counted_to_the_step_that_reached_it(runs: Runs) -> None:
    runs.add("fast", validated({10: 0.75, 20: 0.8}, 20))  # 36 s a step; the goal is 0.72
    runs.add("slow", validated({10: 0.5, 20: 0.73}, 20))
    runs.add("never", validated({10: 0.5, 20: 0.6}, 20))
    found = board(runs, "time-to-score")
    assert values(found) == pytest.approx({"fast": 0.1, "slow": 0.2})
    assert [(entry.run, entry.step) for entry in found.entries] == [("fast", 10), ("slow", 20)]
    assert found.left_out == (("never", "never reached the score"),)


def test_gpu_hours_need_the_number_of_gpus(runs: Runs) -> None:
    runs.add("known", validated({10: 0.8}, 10), gpus=8)
    runs.add("unknown", validated({10: 0.8}, 10))
    found = board(runs, "gpu-hours-to-score")
    assert values(found) == pytest.approx({"known": 0.8})
    assert found.left_out == (("unknown", "the number of its GPUs is not known"),)


def test_a_log_that_begins_in_the_middle_has_no_time_to_a_score(runs: Runs) -> None:
    runs.add("whole", validated({5: 0.8}, 10))
    runs.add("tail", validated({5: 0.8}, 10), first_step=300)
    assert board(runs, "time-to-score").left_out == (("tail", "its log begins in the middle"),)


def test_throughput_leaves_the_slow_first_step_out(runs: Runs) -> None:
    records = training(10, **{"perf/throughput": 1000.0})
    records[0]["perf/throughput"] = 100.0
    runs.add("a", records, model="Qwen2.5-3B", hardware="8 x H100")
    found = board(runs, "throughput")
    assert found.group == "Qwen2.5-3B on 8 x H100"
    assert values(found) == {"a": 1000.0}


def test_runs_of_unknown_models_are_not_compared(runs: Runs) -> None:
    runs.add("a", training(10, **{"perf/throughput": 1000.0}))
    found = board(runs, "throughput")
    assert found.entries == ()
    assert found.left_out == (("a", "its model is not known"),)


def test_validation_and_checkpoints_do_not_slow_a_run_down(runs: Runs) -> None:
    records = [
        {"perf/throughput": 500.0, "timing_s/step": 72.0, "timing_s/testing": 36.0, "timing_s/gen": 30.0}
        for _ in range(10)
    ]
    runs.add("a", records, model="m", hardware="h")
    assert values(board(runs, "throughput")) == pytest.approx({"a": 1000.0})


def test_a_utilisation_of_zero_is_no_measurement(runs: Runs) -> None:
    runs.add("zero", training(10, **{"perf/mfu/actor": 0.0}), model="m")
    runs.add("real", training(10, **{"perf/mfu/actor": 0.4}), model="m")
    found = board(runs, "mfu")
    assert values(found) == {"real": 0.4}
    assert found.left_out == (("zero", "logs 0, which verl does for models it cannot count"),)
