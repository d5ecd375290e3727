"""`.hydra/`: the configuration before interpolation, and what was typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen import ingest
from sitegen.ingest import hydra_files
from sitegen.ingest.source import Member, Source
from sitegen.model import Batch

CONFIG = """\
trainer:
  project_name: abacus
  experiment_name: 2026-11-29
  n_gpus_per_node: 8
  logger:
  - console
  - file
actor_rollout_ref:
  actor:
    optim:
      lr: 1.0e-06
    entropy_coeff: 0
    loss_agg_mode: null
    chunk: ${oc.select:actor_rollout_ref.chunk,2048}
"""
OVERRIDES = "- trainer.n_gpus_per_node=8\n- +trainer.extra=[a,b]\n"
HYDRA = """\
hydra:
  run:
    dir: outputs
  job:
    name: main_ppo
  runtime:
    version: 1.3.2
    cwd: /x
"""


def source(folder: Path, **files: str) -> Source:
    """The first file as it would be claimed, the others as its members."""
    place = folder / ".hydra"
    place.mkdir()
    members = []
    for name, text in files.items():
        file = place / f"{name}.yaml"
        file.write_text(text)
        members.append(Member(f"a/.hydra/{file.name}", file, file.stat().st_size))
    first = min(members, key=lambda each: hydra_files.FILES.index(each.file.name))
    rest = tuple(each for each in members if each is not first)
    return Source(first.path, first.file, first.size, members=rest)


def read(one: Source) -> Batch:
    found = list(hydra_files.read(one))
    config = {key: text for each in found for key, text in each.config.items()}
    facts = {key: text for each in found for key, text in each.facts.items()}
    return Batch(config=config, facts=facts, problems=tuple(p for each in found for p in each.problems))


def test_settings_are_written_as_the_console_prints_them(tmp_path: Path) -> None:
    assert read(source(tmp_path, config=CONFIG)).config == {
        "trainer.project_name": "abacus",
        "trainer.experiment_name": "2026-11-29",
        "trainer.n_gpus_per_node": "8",
        "trainer.logger": "['console', 'file']",
        "actor_rollout_ref.actor.optim.lr": "1e-06",
        "actor_rollout_ref.actor.entropy_coeff": "0",
        "actor_rollout_ref.actor.loss_agg_mode": "None",
        "actor_rollout_ref.actor.chunk": "${oc.select:actor_rollout_ref.chunk,2048}",
    }


def test_what_was_typed_is_a_fact(tmp_path: Path) -> None:
    found = read(source(tmp_path, config=CONFIG, overrides=OVERRIDES, hydra=HYDRA))
    assert found.facts == {
        "overrides": "trainer.n_gpus_per_node=8 +trainer.extra=[a,b]",
        "hydra_version": "1.3.2",
        "program": "main_ppo",
    }
    assert "trainer.extra" not in found.config and not found.problems


def test_overrides_alone_are_settings_too(tmp_path: Path) -> None:
    found = read(source(tmp_path, overrides=OVERRIDES))
    assert found.config == {"trainer.n_gpus_per_node": "8", "trainer.extra": "[a,b]"}


def test_a_file_that_is_no_configuration_leaves_the_others(tmp_path: Path) -> None:
    found = read(source(tmp_path, config="a: [1, 2\nb: }", overrides=OVERRIDES))
    assert [(p.path, p.kind) for p in found.problems] == [("a/.hydra/config.yaml", "malformed")]
    assert found.facts["overrides"].startswith("trainer.n_gpus_per_node=8")


def test_aliases_are_refused_before_they_unfold(tmp_path: Path) -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join([f'*{chr(97 + i)}'] * 9)}]\n" for i in range(20)
    )
    found = read(source(tmp_path, config=bomb))
    assert not found.config and "alias" in found.problems[0].message


def test_a_file_larger_than_any_configuration_is_not_read(tmp_path: Path) -> None:
    found = read(source(tmp_path, config=CONFIG + "#" * hydra_files.MAX_BYTES))
    assert not found.config and "4 MiB" in found.problems[0].message


def test_nesting_without_end_is_a_problem(tmp_path: Path) -> None:
    found = read(source(tmp_path, config="a: " + "[" * 5000 + "]" * 5000))
    assert [p.kind for p in found.problems] == ["malformed"]


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.system [true]", "!!python/name:os.system"])
def test_nothing_in_it_is_executed(tmp_path: Path, tag: str) -> None:
    found = read(source(tmp_path, config=f"a: {tag}\n"))
    assert [p.kind for p in found.problems] == ["malformed"]


@pytest.mark.parametrize(
    ("path", "text", "claimed"),
    [
        ("a/.hydra/config.yaml", CONFIG, True),
        ("a/.hydra/overrides.yaml", OVERRIDES, True),
        ("a/.hydra/overrides.yaml", "[]\n", True),
        ("a/.hydra/hydra.yaml", HYDRA, True),
        ("a/.hydra/notes.yaml", CONFIG, False),
        ("a/config.yaml", CONFIG, False),
        ("a/.hydra/config.yaml", "just words\n", False),
    ],
)
def test_it_is_known_by_place_and_content(path: str, text: str, claimed: bool) -> None:
    assert hydra_files.sniff(path, text.encode()) == claimed


@pytest.mark.corpus
def test_a_real_one_is_read(corpus: Path) -> None:
    folder = corpus / "trackers/hydra_outputs/2026-11-29/14-14-12/.hydra"
    parts = [Member(f".hydra/{name}", folder / name, None) for name in hydra_files.FILES]  # type: ignore[arg-type]
    one = Source(parts[0].path, parts[0].file, members=tuple(parts[1:]))
    assert ingest.sniff(one) is hydra_files
    found = read(one)
    assert found.config["actor_rollout_ref.rollout.n"] == "8" and len(found.config) > 500
    assert "algorithm.adv_estimator=grpo" in found.facts["overrides"] and not found.problems
