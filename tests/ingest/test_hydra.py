"""The printed config and overrides of the command line."""

from __future__ import annotations

import pprint

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.ingest import hydra, literals
from tests.ingest.reading import reading

RAY = "\x1b[36m(TaskRunner pid=12)\x1b[0m "
CONFIG = {
    "actor_rollout_ref": {
        "actor": {"optim": {"lr": 1e-06, "min_lr_ratio": None}, "use_kl_loss": True, "betas": [0.9, 0.999]},
        "model": {
            "override_config": {},
            "path": "/models/" + "long-name-" * 12,
            "system_prompt": "You are " * 20,
        },
    },
    "data": {"train_files": ["a.parquet", "it's.parquet"], "prompt": "line\nbreak"},
    "trainer": {"logger": ["console"], "total_epochs": 15},
}


def printed(config: object, prefix: str = RAY, between: str = "") -> str:
    lines = pprint.pformat(config, width=80).split("\n")
    return "".join(f"{prefix}{line}\n{between}" for line in lines)


WANTED = {
    "actor_rollout_ref.actor.optim.lr": "1e-06",
    "actor_rollout_ref.actor.optim.min_lr_ratio": "None",
    "actor_rollout_ref.actor.use_kl_loss": "True",
    "actor_rollout_ref.actor.betas": "[0.9, 0.999]",
    "actor_rollout_ref.model.override_config": "{}",
    "actor_rollout_ref.model.path": "/models/" + "long-name-" * 12,
    "actor_rollout_ref.model.system_prompt": "You are " * 20,
    "data.train_files": "['a.parquet', \"it's.parquet\"]",
    "data.prompt": "line\nbreak",
    "trainer.logger": "['console']",
    "trainer.total_epochs": "15",
}


@pytest.mark.parametrize("prefix", ["", RAY, "(main_task pid=5) "])
def test_a_printed_config_becomes_flat_keys(prefix: str) -> None:
    assert reading(printed(CONFIG, prefix) + "step:1 - actor/lr:0.5\n").config == WANTED


def test_other_workers_may_talk_in_between() -> None:
    noise = "\x1b[36m(W pid=99)\x1b[0m {'n': 1, 'logprobs': 0,\n\x1b[36m(pid=7)\x1b[0m   warnings.warn(\n"
    assert reading(printed(CONFIG, between=noise)).config == WANTED


def test_a_config_on_one_line_is_read() -> None:
    text = str(CONFIG) + "\n"
    assert reading(text).config == WANTED


def test_a_config_that_the_log_ends_in_is_read_as_far_as_it_goes() -> None:
    text = "".join(printed(CONFIG).splitlines(keepends=True)[:3])
    assert reading(text).config["actor_rollout_ref.actor.optim.lr"] == "1e-06"


def test_dicts_that_are_no_config_are_left_alone() -> None:
    text = "{'actor': {'a': 1}}\n[Ground Truth] Final: {'A': 'true'}\n{'data': 3}\n"
    assert reading(text).config == {}


def test_steps_after_an_unclosed_dict_are_still_read() -> None:
    text = RAY + "{'actor_rollout_ref': {'actor': {'lr': 1,\n" + RAY + "step:1 - actor/lr:0.5\n"
    assert reading(text).rows == [(1, {"actor/lr": 0.5})]


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("python3 -m verl.trainer.main_ppo data.n=3 trainer.x='a b'", {"data.n": "3", "trainer.x": "a b"}),
        ("A=1 torchrun -m verl.trainer.sft +data.k=v ++trainer.y=2", {"data.k": "v", "trainer.y": "2"}),
        ('bash run.sh "trainer.a=1 data.b=2"', {"trainer.a": "1", "data.b": "2"}),
        ("python x.py 'data.files=[\"a.parquet\"]'", {"data.files": '["a.parquet"]'}),
        ("python x.py data.a=1 data.broken='never", {"data.a": "1", "data.broken": "never"}),
        ("python x.py --flag path=x", {}),
    ],
)
def test_overrides_of_a_command_line(command: str, wanted: dict[str, str]) -> None:
    found = hydra.overrides(command)
    assert {key: found.get(key) for key in wanted} == wanted
    assert "A" not in found
    assert "path" not in found


def test_a_command_over_several_lines_is_one_command() -> None:
    text = "+ python3 -m verl.trainer.main_ppo \\\n    data.a=1 \\\n    trainer.b=2\nstep:1 - actor/lr:0.5\n"
    found = reading(text)
    assert found.config == {"data.a": "1", "trainer.b": "2"}
    assert found.facts["command"] == "python3 -m verl.trainer.main_ppo data.a=1 trainer.b=2"
    assert found.steps == [1]


def test_the_printed_config_wins_over_overrides() -> None:
    text = "+ python3 -m verl.trainer.main_ppo trainer.total_epochs=1 data.extra=2\n" + printed(CONFIG)
    found = reading(text).config
    assert (found["trainer.total_epochs"], found["data.extra"]) == ("15", "2")


def test_overrides_that_hydra_lists_with_an_error_are_read() -> None:
    listed = "['algorithm.adv_estimator=grpo', '+data.files=[\"a.parquet\"]']"
    text = f"Error executing job with overrides: {listed}\n"
    assert reading(text).config == {"algorithm.adv_estimator": "grpo", "data.files": '["a.parquet"]'}


LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=30))
TREES = st.recursive(
    st.dictionaries(st.text("abc_", min_size=1, max_size=5), LEAVES, min_size=1, max_size=4),
    lambda inner: st.dictionaries(st.text("abc_", min_size=1, max_size=5), inner, min_size=1, max_size=3),
    max_leaves=12,
)


@given(TREES)
def test_what_pprint_writes_reads_back(tree: dict[str, object]) -> None:
    found = literals.parse(pprint.pformat(tree, width=30))
    assert found is not None
    assert dict(literals.flatten(found)) == dict(_flat(tree))


def _flat(value: object, prefix: str = "") -> list[tuple[str, str]]:
    if isinstance(value, dict) and value:
        return [leaf for k, v in value.items() for leaf in _flat(v, f"{prefix}.{k}" if prefix else k)]
    return [(prefix, value if isinstance(value, str) else repr(value))]


@given(st.text("{}[]()'\",:ab \\\n<>", max_size=200))
def test_broken_literals_never_raise(text: str) -> None:
    literals.parse(text)
    literals.balance(text)
    literals.strings(text)


def test_deep_nesting_is_no_recursion_error() -> None:
    assert literals.parse("[" * 5000) is not None
    assert literals.parse("{'a':" * 5000) is not None


@pytest.mark.parametrize("unit", ["'\\'", '"\\"', "'", "{'", "<", "(", "a(", "[{'a':"])
def test_hostile_literals_take_no_more_time_than_their_length(unit: str) -> None:
    text = unit * (400_000 // len(unit))
    literals.balance(text)
    literals.parse(text)
