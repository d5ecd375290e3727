"""Facts of a run: what they are taken from, and None where nothing says."""

from __future__ import annotations

import pytest

from sitegen.archive import facts
from sitegen.archive.facts import Known
from sitegen.archive.runtoml import RunToml
from tests.archive.conftest import Made, curve

LOSS = "actor_rollout_ref.actor.policy_loss.loss_mode"
CLIP = "actor_rollout_ref.actor.clip_ratio_"


def known(metrics: tuple[str, ...] = (), **config: str) -> Known:
    return Known(
        "team/run.log",
        RunToml(),
        {k.replace("__", "."): v for k, v in config.items()},
        {},
        frozenset(metrics),
    )


def with_config(config: dict[str, str], metrics: tuple[str, ...] = ()) -> Known:
    return Known("team/run.log", RunToml(), config, {}, frozenset(metrics))


@pytest.mark.parametrize(
    ("config", "metrics", "algorithm"),
    [
        ({"algorithm.adv_estimator": "grpo"}, (), "GRPO"),
        ({"algorithm.adv_estimator": "gae"}, (), "PPO"),
        ({"algorithm.adv_estimator": "AdvantageEstimator.GRPO"}, (), "GRPO"),
        ({"algorithm.adv_estimator": "rloo"}, (), "RLOO"),
        ({"algorithm.adv_estimator": "my_own"}, (), "MY_OWN"),
        ({"algorithm.adv_estimator": "grpo", "algorithm.filter_groups.enable": "True"}, (), "DAPO"),
        ({"algorithm.adv_estimator": "grpo", CLIP + "low": "0.2", CLIP + "high": "0.28"}, (), "GRPO"),
        ({"algorithm.adv_estimator": "grpo", CLIP + "low": "0.2", CLIP + "high": "0.28",
          "reward_model.overlong_buffer.enable": "True"}, (), "DAPO"),
        ({"algorithm.adv_estimator": "grpo", LOSS: "gspo"}, (), "GSPO"),
        ({}, ("train/loss", "train/lr"), "SFT"),
        ({}, ("train/loss", "critic/score/mean"), None),
        ({}, ("critic/vf_loss", "critic/score/mean"), "PPO"),
        ({}, ("critic/score/mean", "actor/pg_loss"), None),
    ],
)  # fmt: skip
def test_algorithm(config: dict[str, str], metrics: tuple[str, ...], algorithm: str | None) -> None:
    assert facts.algorithm(with_config(config, metrics)) == algorithm


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ("Qwen/Qwen2.5-7B", "Qwen2.5-7B"),
        ("'/mnt/models/Qwen2.5-7B/'", "Qwen2.5-7B"),
        ("/cache/models--Qwen--Qwen3-8B/snapshots/0123abc", "Qwen3-8B"),
        ("/ckpt/my-exp/global_step_300/actor/huggingface", "my-exp"),
        ("None", None),
    ],
)
def test_model(path: str, model: str | None) -> None:
    assert facts.model(with_config({"actor_rollout_ref.model.path": path})) == model


def test_gpus_are_those_of_all_nodes() -> None:
    assert facts.gpus(with_config({"trainer.n_gpus_per_node": "8", "trainer.nnodes": "4"})) == 32
    assert facts.gpus(with_config({"trainer.n_gpus_per_node": "8"})) == 8
    assert facts.gpus(with_config({})) is None


def test_hardware_names_count_and_gpu_where_the_log_does() -> None:
    run = Known("x", RunToml(), {"trainer.n_gpus_per_node": "8"}, {"gpu": "H100"}, frozenset())
    assert facts.hardware(run) == "8 x H100"


def test_a_path_says_project_and_experiment_when_nothing_else_does(made: Made) -> None:
    made.jsonl("team/run-7/m.jsonl", curve(1, 3))
    run = made.run()
    assert (run.title, run.project, run.experiment) == ("run-7", "team", "run-7")


def test_the_configuration_says_it_better(made: Made) -> None:
    names = "'experiment_name': 'kl-0.01', 'project_name': 'ablation'"
    head = f"{{'trainer': {{{names}, 'n_gpus_per_node': 8, 'nnodes': 2}}}}"
    made.console("team/run-7/train.log", [head, *curve(1, 3)])
    run = made.run()
    assert (run.project, run.experiment, run.gpus) == ("ablation", "kl-0.01", 16)


def test_wall_time_sums_all_rows_rewritten_ones_too(made: Made) -> None:
    steps = [(s, {"timing_s/step": 10.0}) for s in (1, 2, 3, 2, 3, 4)]
    made.jsonl("a/m.jsonl", steps)
    assert made.run().wall_s == 60.0


def test_wall_time_from_time_stamps_when_no_step_time_is_logged(made: Made) -> None:
    made.flat("a/m.jsonl", [{"step": s, "timestamp": 1767607200 + 60 * s, "x": 0.5} for s in range(5)])
    run = made.run()
    assert (run.started_at, run.ended_at, run.wall_s) == (1767607200.0, 1767607440.0, 240.0)


def test_without_times_there_are_none(made: Made) -> None:
    made.jsonl("a/m.jsonl", [(1, {"x": 0.5})])
    run = made.run()
    assert (run.started_at, run.ended_at, run.wall_s, run.gpu_hours) == (None, None, None, None)
    assert made.archive.now() is None


@pytest.mark.parametrize(
    ("hardware", "gpus"), [("8 x H100", 8), ("16× A100-80GB", 16), ("H100", None), ("2080 Ti", None)]
)
def test_hardware_that_counts_its_gpus_is_believed(hardware: str, gpus: int | None, made: Made) -> None:
    made.file("a/run.toml", f'hardware = "{hardware}"\n')
    made.jsonl("a/m.jsonl", [(1, {"x": 0.5})])
    assert made.run().gpus == gpus


def test_gpu_hours_are_wall_time_of_all_gpus(made: Made) -> None:
    made.jsonl("a/m.jsonl", [(s, {"timing_s/step": 1800.0}) for s in (1, 2)])
    made.file("a/run.toml", "gpus = 8\n")
    assert made.run().gpu_hours == 8.0


def test_a_run_grows_only_when_its_run_toml_says_so(made: Made) -> None:
    made.jsonl("a/m.jsonl", [(1, {"x": 0.5})])
    assert made.run().growing is False
    made.file("a/run.toml", 'status = "running"\n')
    assert made.run().growing is True


def test_summary_is_over_live_finite_values(made: Made) -> None:
    values = [(1, 0.5), (2, 0.25), (3, 99.0), (3, 0.75), (4, None), (5, 0.5)]
    records = [(s, {"critic/score/mean": v, "actor/kl_loss": v}) for s, v in values]
    made.jsonl("a/m.jsonl", [*records[:3], (2, records[1][1]), *records[3:]])
    by_name = {each.name: each for each in made.run().summary}
    score = by_name["critic/score/mean"]
    assert (score.metric, score.n, score.first, score.last) == ("score", 4, 0.5, 0.5)
    assert (score.min, score.max, score.mean, score.non_finite) == (0.25, 0.75, 0.5, 1)
    assert (score.best, score.best_step) == (0.75, 3)


def test_a_metric_without_a_finite_value_is_in_the_summary(made: Made) -> None:
    made.jsonl("a/m.jsonl", [(1, {"x": None}), (2, {"x": None})])
    (only,) = made.run().summary
    assert (only.name, only.n, only.first, only.mean, only.non_finite) == ("x", 0, None, None, 2)
