"""Run ids."""

from __future__ import annotations

import pytest

from sitegen.archive import ids
from sitegen.archive.ids import Wanted


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("train.log", "train"),
        ("train.log.gz", "train"),
        ("train.log.2.gz", "train"),
        ("metrics.jsonl.zst", "metrics"),
        ("qwen2.5-7b-grpo_1.jsonl", "qwen2.5-7b-grpo_1"),
        ("trainer.experiment_name=", "trainer.experiment_name="),
        ("events.out.tfevents.1752817076.host.3616492.0", "events"),
        ("events.out.tfevents.1752817077.host.9.1.gz", "events"),
        (".log", ".log"),
        ("lr1e-6", "lr1e-6"),
    ],
)
def test_stem(name: str, stem: str) -> None:
    assert ids.stem(name) == stem


@pytest.mark.parametrize(
    ("path", "slug"),
    [
        ("grpo", "grpo"),
        ("Team/Qwen2.5 7B/run#1", "team-qwen2.5-7b-run-1"),
        ("Café", "cafe"),
        ("a__b//c", "a__b-c"),
        ("-x-", "x"),
    ],
)
def test_slug(path: str, slug: str) -> None:
    assert ids.slug(path) == slug


def test_letters_that_cannot_be_written_are_made_up_for_by_a_hash() -> None:
    one, two = ids.slug("实验1"), ids.slug("测试1")
    assert one != two
    assert one.startswith("1-") and two.startswith("1-")
    assert ids.slug("实验").startswith("run-")


def test_a_long_path_is_cut_and_told_apart_by_its_hash() -> None:
    one, two = ids.slug("x" * 200 + "1"), ids.slug("x" * 200 + "2")
    assert len(one) == len(two) == 100 and one != two


def assigned(*paths: str) -> dict[str, str]:
    return dict(zip(paths, ids.assign([Wanted(path, path) for path in paths]), strict=True))


def test_of_runs_that_share_an_id_the_one_spelled_like_it_keeps_it() -> None:
    found = assigned("a/b", "a-b", "A-B")
    assert found["a-b"] == "a-b"
    assert found["a/b"].startswith("a-b-") and found["A-B"].startswith("a-b-")
    assert len(set(found.values())) == 3


def test_of_a_file_and_a_folder_of_one_name_the_folder_keeps_it() -> None:
    file, folder = ids.assign([Wanted("a", "a.log"), Wanted("a", "a")])
    assert folder == "a" and file.startswith("a-")


def test_of_two_files_of_one_name_none_keeps_it() -> None:
    one, two = ids.assign([Wanted("a", "a.log"), Wanted("a", "a.tar.zst/train.log")])
    assert one != two and one.startswith("a-") and two.startswith("a-")


def test_an_id_does_not_depend_on_other_runs() -> None:
    assert assigned("p/one")["p/one"] == assigned("p/one", "p/two", "q")["p/one"]
