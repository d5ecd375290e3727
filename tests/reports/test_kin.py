"""Which runs are the same but for their seed."""

from __future__ import annotations

from dataclasses import replace

from sitegen.model import Run
from sitegen.reports import kin
from tests.reports.test_compare import run as bare

BASE = {
    "actor_rollout_ref.actor.optim.lr": "1e-6",
    "data.seed": "1",
    "data.train_files": "/data/gsm8k.parquet",
    "trainer.experiment_name": "a",
    "trainer.default_local_dir": "checkpoints/a",
}


def run(name: str, **changed: str | None) -> Run:
    """A run of one project with `BASE` but for what is given; `__` stands for dots, None takes a key out."""
    config = BASE | {"trainer.experiment_name": name, "trainer.default_local_dir": f"checkpoints/{name}"}
    for key, text in changed.items():
        if text is None:
            config.pop(key.replace("__", "."))
        else:
            config[key.replace("__", ".")] = text
    return replace(bare(name), project="p", config=config)


def ids(*runs: Run) -> list[list[tuple[str, str]]]:
    return [[(one.run, one.seed) for one in group.members] for group in kin.groups(runs)]


def test_runs_that_differ_in_seed_name_and_place_are_kin_in_order_of_their_seeds() -> None:
    found = ids(run("c", data__seed="10"), run("a"), run("b", data__seed="2"))
    assert found == [[("a", "1"), ("b", "2"), ("c", "10")]]


def test_another_setting_data_set_or_project_makes_a_stranger() -> None:
    lr = run("b", data__seed="2", actor_rollout_ref__actor__optim__lr="2e-6")
    data = run("c", data__seed="3", data__train_files="/data/math.parquet")
    project = replace(run("d", data__seed="4"), project="q")
    assert ids(run("a"), lr, data, project) == []


def test_a_value_may_be_written_in_another_way() -> None:
    other = run("b", data__seed="2", actor_rollout_ref__actor__optim__lr="0.000001")
    assert len(ids(run("a"), other)) == 1


def test_the_same_seed_twice_is_no_group_but_may_join_one() -> None:
    assert ids(run("a"), run("b")) == []
    (group,) = kin.groups([run("a"), run("b"), run("c", data__seed="2")])
    assert (len(group.members), group.seeds) == (3, 2)


def test_a_run_that_does_not_say_its_seed_or_logs_other_keys_is_in_no_group() -> None:
    silent, unset = run("b", data__seed=None), run("d", data__seed="null")
    less = run("c", data__seed="2", data__train_files=None)
    assert ids(run("a"), silent, unset, less) == []


def test_seeds_set_alike_are_told_once() -> None:
    a = run("a", trainer__seed="1")
    b = run("b", trainer__seed="2", data__seed="2.0")
    assert ids(a, b) == [[("a", "1"), ("b", "2")]]
    (group,) = kin.groups([a, b])
    assert group.keys == ("data.seed", "trainer.seed")
