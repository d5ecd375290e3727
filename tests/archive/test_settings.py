"""The configuration of a run: which source counts, and what is told of the others."""

from __future__ import annotations

from sitegen.errors import Problem
from tests.archive.conftest import Made, curve

PRINTED = (
    "{'trainer': {'project_name': 'p',\n"
    "             'n_gpus_per_node': 8,\n"
    "             'resume': None,\n"
    "             'chunk': 2048},\n"
    " 'actor_rollout_ref': {'actor': {'optim': {'lr': 1e-06}}}}"
)
CONFIG = """\
trainer:
  project_name: p
  n_gpus_per_node: 8
  resume: null
  chunk: ${oc.select:chunk,2048}
  only_here: 7
actor_rollout_ref:
  actor:
    optim:
      lr: {lr}
"""


def hydra(made: Made, folder: str, lr: str = "1.0e-06") -> None:
    made.file(f"{folder}.hydra/config.yaml", CONFIG.replace("{lr}", lr))
    made.file(f"{folder}.hydra/overrides.yaml", "- trainer.n_gpus_per_node=8\n")


def told(made: Made) -> list[Problem]:
    return [each for each in made.run().problems if each.kind == "config"]


def test_the_resolved_configuration_counts_and_hydra_adds_what_it_lacks(made: Made) -> None:
    made.console("a/train.log", [PRINTED, *curve(1, 5)])
    hydra(made, "a/outputs/2026-11-29/14-14-12/")
    assert made.ids() == ["a"]
    run = made.run()
    assert run.config["trainer.chunk"] == "2048" and run.config["trainer.only_here"] == "7"
    assert [(one.path, one.used) for one in run.config_sources] == [
        ("a/train.log", 5),
        ("a/outputs/2026-11-29/14-14-12/.hydra/config.yaml", 1),
    ]
    assert run.facts["overrides"] == "trainer.n_gpus_per_node=8"
    assert told(made) == []


def test_a_value_that_differs_is_told_with_both(made: Made) -> None:
    made.console("a/train.log", [PRINTED, *curve(1, 5)])
    hydra(made, "a/", lr="5.0e-07")
    assert made.ids() == ["a"]
    (one,) = told(made)
    assert one.path == "a/.hydra/config.yaml"
    assert "from a/train.log" in one.message and "optim.lr = 1e-06, here 5e-07" in one.message
    assert made.run().config["actor_rollout_ref.actor.optim.lr"] == "1e-06"


def test_of_several_attempts_the_newest_configuration_counts(made: Made) -> None:
    made.console("a/train.log", curve(1, 5))
    hydra(made, "a/outputs/2026-11-29/14-14-12/", lr="5.0e-07")
    hydra(made, "a/outputs/2026-11-29/18-00-00/")
    assert made.ids() == ["a"]
    assert made.run().config["actor_rollout_ref.actor.optim.lr"] == "1e-06"
    assert [one.path for one in told(made)] == ["a/outputs/2026-11-29/14-14-12/.hydra/config.yaml"]


def test_each_job_of_a_sweep_has_its_own(made: Made) -> None:
    for job, lr in (("0", "1.0e-06"), ("1", "2.0e-06")):
        made.console(f"sweep/multirun/2026-11-29/14-14-12/{job}/train.log", curve(1, 5, int(job)))
        hydra(made, f"sweep/multirun/2026-11-29/14-14-12/{job}/", lr=lr)
    runs = [made.archive.run(run) for run in made.ids()]
    assert [run.config["actor_rollout_ref.actor.optim.lr"] for run in runs] == ["1e-06", "2e-06"]


def test_one_that_may_be_of_several_runs_is_a_problem(made: Made) -> None:
    made.console("a/one.log", curve(1, 5))
    made.console("a/two.log", curve(1, 5, 0.4))
    hydra(made, "a/")
    assert made.ids() == ["a-one", "a-two"]
    assert [(p.path, p.kind) for p in made.last.problems] == [("a/.hydra", "no-run")]


def test_one_without_any_log_is_a_problem_and_no_run(made: Made) -> None:
    made.console("b/train.log", curve(1, 5))
    hydra(made, "a/")
    assert made.ids() == ["b"]
    assert [(p.path, p.kind) for p in made.last.problems] == [("a/.hydra", "no-run")]


def test_a_run_that_is_runs_itself_has_the_one_beside_its_log(made: Made) -> None:
    made.console("train.log", curve(1, 5))
    hydra(made, "")
    (run,) = made.ids()
    assert made.archive.run(run).config["trainer.only_here"] == "7"


def test_a_value_that_mlflow_cut_is_that_of_hydra(made: Made) -> None:
    long = "x" * 6100
    run = "a/mlruns/1/0123456789abcdef0123456789abcdef"
    made.file("a/mlruns/1/meta.yaml", "experiment_id: '1'\nname: p\n")
    made.file(
        f"{run}/meta.yaml",
        "run_id: 0123456789abcdef0123456789abcdef\nrun_name: r\nexperiment_id: '1'\nstatus: 3\n"
        "lifecycle_stage: active\nartifact_uri: x\nuser_id: u\n",
    )
    made.file(f"{run}/metrics/score", "1700000000000 0.5 1\n1700000001000 0.6 2\n")
    made.file(f"{run}/params/data/files", long[:6000])
    made.file("a/.hydra/config.yaml", f"data:\n  files: {long}\n")
    (name,) = made.ids()
    assert made.archive.run(name).config["data.files"] == long
    assert [p.kind for p in made.archive.run(name).problems if p.kind in ("cut", "config")] == ["cut"]


def test_code_that_two_attempts_state_differently_is_told(made: Made) -> None:
    made.console("a/1.log", ["git commit: 0123abc4567", "verl version: 0.8.0.dev", *curve(1, 6)])
    made.console("a/2.log", ["git commit: 0123abc", "verl version: 0.9.1", *curve(5, 9)])
    told = [p.message for p in made.run("a").problems if p.kind == "config"]
    assert told == ["verl version differs from a/1.log, which is shown: 0.8.0.dev, here 0.9.1"]
