"""Logs of the processes, workers and attempts of one run are one run; values that differ are told."""

from __future__ import annotations

import pytest

from tests.archive.conftest import Made, curve, kinds

CONFIG = (
    "{'algorithm': {'adv_estimator': 'grpo', 'gamma': 1.0},\n 'data': {'train_batch_size': %s},\n"
    " 'trainer': {'project_name': 'p', 'experiment_name': '%s'}}"
)
NOISE = "INFO 01-01 00:00:00 worker.py:12] init engine\n" * 5
OOM = "Traceback (most recent call last):\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate\n"
CUT = "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO PREEMPTION ***"


def sources(made: Made, run: str) -> list[str]:
    return [source.path.removeprefix(f"{run}/") for source in made.run(run).sources]


def spans(made: Made, run: str) -> list[tuple[int, int]]:
    return [(one.first, one.last) for one in made.run(run).segments]


@pytest.mark.parametrize(
    "name", ["rank_{}.log", "rank{}.out", "train-rank-{}.log", "rank_{}/stdout.log", "log.rank{}.txt"]
)
def test_logs_of_all_ranks_are_one_run_whatever_each_measured(made: Made, name: str) -> None:
    for rank in range(3):
        made.console(f"a/{name.format(rank)}", curve(1, 20, shift=rank * 0.3, name="train/loss"))
    assert made.ids() == ["a"]
    run = made.run("a")
    assert run.steps == 20 and spans(made, "a") == [(1, 20)]
    (problem,) = run.problems
    assert problem.kind == "conflict" and problem.path == f"a/{name.format(0)}"
    assert problem.message.startswith("2 other processes of the job logged 80 other values, the first is ")
    assert problem.message.endswith(f"of a/{name.format(1)}; those of this file are shown")


def test_values_of_the_other_ranks_are_kept(made: Made) -> None:
    for rank in range(2):
        made.console(f"a/rank_{rank}.log", curve(1, 3, shift=rank * 0.3))
    made.update()
    assert {row[0] for row in made.extras("a")} == {"conflict"} and len(made.extras("a")) == 6


def test_ranks_that_agree_say_nothing(made: Made) -> None:
    for rank in range(3):
        made.console(f"a/rank_{rank}.log", curve(1, 20))
    assert made.ids() == ["a"] and made.run("a").problems == ()


def test_a_rank_that_only_died_adds_its_lines(made: Made) -> None:
    made.console("a/rank_0.log", curve(1, 20))
    made.file("a/rank_3.log", NOISE + OOM)
    assert made.ids() == ["a"]
    assert [(line.path, line.kind) for line in made.archive.log_lines("a")] == [("a/rank_3.log", "cuda_oom")]


def test_ranks_of_two_runs_in_one_folder_stay_apart(made: Made) -> None:
    for run in range(2):
        for rank in range(2):
            made.console(f"a/run{run}_rank{rank}.log", curve(1, 20, shift=run + rank * 0.3))
    assert made.ids() == ["a-run0", "a-run1"]


@pytest.mark.parametrize("name", ["lora_rank_{}.log", "rank{}.log", "rank{}/train.log"])
def test_ranks_of_adapters_are_runs_of_their_own(made: Made, name: str) -> None:
    for rank in (8, 16, 32):
        made.console(f"sweep/{name.format(rank)}", curve(1, 20, shift=rank / 10))
    assert len(made.ids()) == 3


def test_what_torchrun_leaves_is_one_run_with_its_restart(made: Made) -> None:
    made.console("a/job_x1/attempt_0/0/stdout.log", curve(1, 20))
    made.console("a/job_x1/attempt_0/1/stdout.log", curve(1, 20, shift=0.3))
    made.file("a/job_x1/attempt_0/1/stderr.log", NOISE + OOM)
    made.console("a/job_x1/attempt_1/0/stdout.log", ["Setting global step to 15", *curve(16, 40, shift=0.02)])
    assert made.ids() == ["a-job_x1"]
    assert spans(made, "a-job_x1") == [(1, 20), (16, 40)]


def test_numbered_folders_that_are_no_processes_stay_runs(made: Made) -> None:
    for number in range(2):
        made.console(f"sweep/{number}/train.log", curve(1, 20, shift=number))
    assert made.ids() == ["sweep-0", "sweep-1"]


def test_logs_of_rays_workers_belong_to_the_driver(made: Made) -> None:
    made.console("a/driver.log", curve(1, 20))
    session = "a/ray/session_2026-01-01_00-00-00_000000_123/logs"
    made.console(f"{session}/worker-0123456789abcdef0123-01000000-456.out", curve(1, 20))
    made.file(f"{session}/worker-fedcba98765432100123-01000000-789.err", NOISE + OOM)
    assert made.ids() == ["a"] and made.run("a").problems == ()
    assert [line.kind for line in made.archive.log_lines("a")] == ["cuda_oom"]


def test_a_requeued_job_that_resumed_is_the_next_segment(made: Made) -> None:
    made.console("a/slurm-7.out", [CONFIG % (32, "e"), *curve(1, 20), CUT])
    made.console(
        "a/slurm-9.out", [CONFIG % (32, "e"), "Setting global step to 15", *curve(16, 40, shift=0.02)]
    )
    assert made.ids() == ["a"] and spans(made, "a") == [(1, 20), (16, 40)]


def test_a_requeued_job_that_began_anew_is_the_next_segment(made: Made) -> None:
    made.console("a/slurm-7.out", [CONFIG % (32, "e"), *curve(1, 5), CUT])
    made.console("a/slurm-10.out", [CONFIG % (32, "e"), *curve(1, 40, shift=0.3)])
    assert made.ids() == ["a"] and spans(made, "a") == [(1, 5), (1, 40)]
    assert kinds(made.run("a").problems) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            [CONFIG % (32, "e"), *curve(1, 20)],
            [CONFIG % (32, "e"), *curve(1, 40, shift=0.3)],
        ),  # nobody cut it off
        ([CONFIG % (32, "e"), *curve(1, 20), CUT], [CONFIG % (64, "e"), *curve(1, 40, shift=0.3)]),
        ([CONFIG % (32, "e"), *curve(1, 20), CUT], [CONFIG % (32, "f"), *curve(1, 40, shift=0.3)]),
        ([*curve(1, 20), CUT], [*curve(1, 40, shift=0.3)]),  # nobody knows how they were configured
    ],
    ids=["finished", "other settings", "other name", "no settings"],
)
def test_two_jobs_that_are_not_surely_one_training_stay_two(
    made: Made, first: list[object], second: list[object]
) -> None:
    made.console("a/slurm-7.out", first)  # type: ignore[arg-type]
    made.console("a/slurm-9.out", second)  # type: ignore[arg-type]
    assert made.ids() == ["a-slurm-7", "a-slurm-9"]


def test_tasks_of_one_array_stay_two(made: Made) -> None:
    for task in (1, 2):
        made.console(f"a/slurm-7_{task}.out", [CONFIG % (32, "e"), *curve(1, 20, shift=task), CUT])
    assert made.ids() == ["a-slurm-7_1", "a-slurm-7_2"]


def test_output_and_errors_of_a_job_are_one_run(made: Made) -> None:
    made.console("a/slurm-7.out", curve(1, 20))
    made.file("a/slurm-7.err", NOISE + OOM)
    assert made.ids() == ["a"] and sources(made, "a") == ["slurm-7.err", "slurm-7.out"]


def test_sources_are_listed_in_the_order_in_which_their_values_count(made: Made) -> None:
    made.console("a/a.log", [(s, {k: f"{v:.3f}" for k, v in d.items()}) for s, d in curve(1, 20)])
    made.jsonl("a/z.jsonl", curve(1, 20))
    assert made.ids() == ["a"] and sources(made, "a") == ["z.jsonl", "a.log"]
