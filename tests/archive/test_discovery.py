"""Which files under RUNS make which run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sitegen import archive
from sitegen.errors import ArchiveError
from tests.archive.conftest import Made, curve, kinds


def sources(made: Made, run: str | None = None) -> list[str]:
    return sorted(source.path for source in made.run(run).sources)


def test_a_folder_that_holds_a_log_is_a_run_at_any_depth(made: Made) -> None:
    made.jsonl("first/metrics.jsonl", curve(1, 3))
    made.jsonl("team/project/second/metrics.jsonl", curve(1, 3))
    assert made.ids() == ["first", "team-project-second"]


def test_an_empty_runs_folder_is_an_empty_archive(made: Made) -> None:
    assert made.ids() == []
    assert made.last == archive.Update((), (), (), (), ())


def test_runs_that_do_not_exist_are_an_error_that_names_the_path(made: Made) -> None:
    with pytest.raises(ArchiveError, match="nowhere"):
        archive.update(made.runs / "nowhere", made.home)


def test_structure_of_trainers_and_trackers_belongs_to_the_run_above(made: Made) -> None:
    made.console("a/nohup.out", curve(1, 6))
    made.flat("a/logs/metrics/m.jsonl", [{"step": s, "lr_actor": s * 0.1} for s in range(1, 7)])
    made.file("a/logs/debug/d.log", "".join(f"[DEBUG] step={s} grad_norm_actor={s}.5\n" for s in range(1, 7)))
    made.console("a/wandb/run-20260105_100000-abcd1234/files/output.log", curve(1, 6))
    assert made.ids() == ["a"]
    assert len(sources(made)) == 4
    assert made.run().steps == 6


def test_the_only_run_of_a_tracker_is_called_as_it_will_be_beside_others(made: Made) -> None:
    name = "wandb/run-20260105_100000-abcd1234"
    made.console(f"{name}/files/output.log", curve(1, 6))
    assert made.ids() == ["wandb-run-20260105_100000-abcd1234"]
    made.console("wandb/run-20260106_100000-bbbb2222/files/output.log", curve(1, 6, shift=0.4))
    assert made.ids() == ["wandb-run-20260105_100000-abcd1234", "wandb-run-20260106_100000-bbbb2222"]


@pytest.mark.parametrize("above", ["", "sweep/"])
@pytest.mark.parametrize("shift", [0.0, 0.5])
def test_a_run_may_be_called_like_structure(made: Made, above: str, shift: float) -> None:
    for i, name in enumerate(("ansi", "console", "foo")):
        made.console(f"{above}{name}/train.log", curve(1, 20, shift=i * shift))
    assert len(made.ids()) == 3


def test_the_file_loggers_project_folder_joins_the_console_log_of_the_same_values(made: Made) -> None:
    made.console("a/train.log", [(s, {k: f"{v:.3f}" for k, v in d.items()}) for s, d in curve(1, 6)])
    made.jsonl("a/my_project/my_experiment.jsonl", curve(1, 6))
    assert made.ids() == ["a"]
    assert len(sources(made)) == 2


@pytest.mark.parametrize("above", ["stray.log", "sweep/stray.log"])
def test_a_log_that_lies_above_runs_and_begins_like_them_swallows_none(made: Made, above: str) -> None:
    made.console(above, curve(1, 1))
    folder = above.rpartition("/")[0]
    for name in ("a", "b", "c"):
        made.console(f"{folder}/{name}/train.log".removeprefix("/"), curve(1, 6))
    runs = {"sweep": ["sweep", "sweep-a", "sweep-b", "sweep-c"], "": ["a", "b", "c", "stray"]}
    assert made.ids() == runs[folder]


def test_a_run_below_a_run_stays_its_own_when_its_values_differ(made: Made) -> None:
    made.console("a/train.log", curve(1, 6))
    made.jsonl("a/other/other.jsonl", curve(1, 6, shift=0.5))
    assert made.ids() == ["a", "a-other"]


def test_logs_that_contradict_each_other_make_a_collection(made: Made) -> None:
    made.console("sweep/lr1.log", curve(1, 6))
    made.console("sweep/lr2.log", curve(1, 6, shift=0.3))
    made.console("sweep/lr3.log", curve(2, 9, shift=0.6))
    assert made.ids() == ["sweep-lr1", "sweep-lr2", "sweep-lr3"]


def test_in_a_collection_files_of_one_stem_are_one_run(made: Made) -> None:
    made.console("sweep/one.log", curve(1, 6))
    made.jsonl("sweep/one.jsonl", curve(1, 6))
    made.console("sweep/two.log", curve(1, 6, shift=0.3))
    assert made.ids() == ["sweep-one", "sweep-two"]
    assert sources(made, "sweep-one") == ["sweep/one.jsonl", "sweep/one.log"]


def test_logs_of_other_experiments_contradict_whatever_their_values(made: Made) -> None:
    for name in ("x", "y"):
        head = f"{{'trainer': {{'experiment_name': '{name}', 'project_name': 'p'}}}}"
        made.console(f"both/{name}.log", [head, *curve(1 if name == "x" else 50, 60)])
    assert made.ids() == ["both-x", "both-y"]


def test_logs_of_one_kind_with_the_same_steps_and_no_common_metric_contradict(made: Made) -> None:
    made.jsonl("both/x.jsonl", [(s, {"a/b": s * 0.3}) for s in range(1, 6)])
    made.jsonl("both/y.jsonl", [(s, {"c/d": s * 0.7}) for s in range(1, 6)])
    assert made.ids() == ["both-x", "both-y"]


def test_logs_that_begin_later_are_attempts_of_one_run(made: Made) -> None:
    made.console("a/slurm-1.out", curve(1, 20))
    made.console("a/slurm-2.out", curve(15, 40, shift=0.01))
    assert made.ids() == ["a"]
    assert [(s.first, s.last) for s in made.run().segments] == [(1, 20), (15, 40)]


def test_the_same_first_validation_is_no_agreement(made: Made) -> None:
    first = [(0, {f"val-core/gsm8k/acc/mean@{n}": 0.1 * n + 0.05 for n in range(1, 9)})]
    made.jsonl("one.jsonl", first)
    made.jsonl("two.jsonl", first)
    assert made.ids() == ["one", "two"]


def test_one_value_that_differs_is_no_second_run(made: Made) -> None:
    records = curve(1, 10)
    made.console("a/train.log", records)
    records[4][1]["critic/score/mean"] = 9.25
    made.jsonl("a/metrics.jsonl", records)
    assert made.ids() == ["a"]
    assert kinds(made.run().problems) == ["conflict"]


def test_run_toml_makes_everything_below_it_one_run(made: Made) -> None:
    made.file("big/run.toml", 'title = "All of it"\n')
    made.console("big/x/one.log", curve(1, 6))
    made.console("big/y/two.log", curve(1, 6, shift=0.3))
    assert made.ids() == ["big"]
    assert made.run().title == "All of it"
    assert len(made.run().sources) == 2


def test_a_run_toml_inside_another_run_is_told(made: Made) -> None:
    made.file("big/run.toml", "")
    made.file("big/x/run.toml", 'title = "inner"\n')
    made.console("big/x/one.log", curve(1, 6))
    assert made.ids() == ["big"]
    assert [(p.path, p.kind) for p in made.last.problems] == [("big/x/run.toml", "run-toml")]


def test_a_run_toml_without_a_log_is_a_run_that_says_so(made: Made) -> None:
    made.file("planned/run.toml", 'title = "Not yet"\n')
    run = made.run()
    assert (run.id, run.title, run.steps) == ("planned", "Not yet", 0)
    assert kinds(run.problems) == ["empty"]


def test_files_directly_in_runs_are_runs_of_their_own(made: Made) -> None:
    made.console("one.log", curve(1, 6))
    made.console("two.log", curve(7, 12))
    assert made.ids() == ["one", "two"]


def test_files_directly_in_runs_that_agree_are_one_run(made: Made) -> None:
    made.console("train.log", curve(1, 6))
    made.jsonl("metrics.jsonl", curve(1, 6))
    assert len(made.ids()) == 1


def test_runs_may_be_the_folder_of_one_run(made: Made) -> None:
    made.console("train.log", curve(1, 6))
    made.flat("logs/metrics/m.jsonl", [{"step": s, "lr_actor": s * 0.1} for s in range(1, 7)])
    assert made.ids() == ["runs"]
    assert len(made.run().sources) == 2


def test_a_folder_called_logs_beside_runs_is_a_place_with_runs(made: Made) -> None:
    made.console("logs/old.log", curve(1, 6))
    made.console("new/train.log", curve(1, 6, shift=0.2))
    assert made.ids() == ["logs", "new"]


def test_runs_may_be_a_single_file(made: Made) -> None:
    file = made.console("some.log", curve(1, 6))
    archive.update(file, made.home)
    assert made.archive.runs() == ("some",)


def test_two_wandb_runs_of_one_folder_that_differ_are_two_runs(made: Made) -> None:
    made.console("a/wandb/run-20260105_100000-aaaa1111/files/output.log", curve(1, 6))
    made.console("a/wandb/run-20260106_100000-bbbb2222/files/output.log", curve(1, 6, shift=0.4))
    assert made.ids() == ["a-wandb-run-20260105_100000-aaaa1111", "a-wandb-run-20260106_100000-bbbb2222"]


def test_rotated_logs_are_one_run(made: Made) -> None:
    made.console("a/train.log.1", curve(1, 10))
    made.console("a/train.log", curve(11, 20))
    assert made.ids() == ["a"]
    assert made.run().steps == 20


def test_what_is_recognised_and_not_read_is_told_with_its_run(made: Made) -> None:
    made.console("a/train.log", curve(1, 6))
    made.file("a/swanlog/run-20260105_100000-abcd1234/media/echarts/1.json", b'{"_swanLab": "table"}')
    assert made.ids() == ["a"]
    assert [(p.path, p.kind) for p in made.run().problems] == [
        ("a/swanlog/run-20260105_100000-abcd1234/media/echarts/1.json", "unsupported")
    ]


@pytest.mark.parametrize(
    ("path", "content", "words"),
    [
        ("swanlog/run-a/logs/1/1000.log", b'{"index": 1, "data": 0.1, "create_time": "x"}\n', "local board"),
        ("swanlog/runs.swanlab", b"SQLite format 3\0" + bytes(100), "database of SwanLab's local board"),
    ],
)
def test_what_only_swanlabs_local_board_reads_is_told(
    made: Made, path: str, content: bytes, words: str
) -> None:
    made.file(path, content)
    assert made.ids() == []
    (problem,) = made.last.problems
    assert (problem.path, problem.kind) == (path, "unsupported")
    assert words in problem.message


def test_a_folder_with_nothing_that_is_read_is_told_and_makes_no_run(made: Made) -> None:
    made.file("swan/1.json", b'{"_swanLab": "table"}')
    assert made.ids() == []
    assert kinds(made.last.problems) == ["unsupported"]
    assert "SwanLab" in made.last.problems[0].message


def test_many_unread_files_of_a_folder_are_one_problem(made: Made) -> None:
    made.console("a/train.log", curve(1, 6))
    for step in range(30):
        made.file(f"a/media/echarts/{step}.json", b'{"_swanLab": "table"}')
    assert made.ids() == ["a"]
    (problem,) = made.run().problems
    assert (problem.path, problem.kind) == ("a/media/echarts", "unsupported")
    assert "30 files" in problem.message


def test_files_that_nobody_claims_are_listed(made: Made) -> None:
    made.console("a/train.log", curve(1, 6))
    made.file("a/model.bin", os.urandom(2000))
    made.file("a/readme.rst", b"Notes\n")
    made.ids()
    assert made.last.ignored == ("a/model.bin", "a/readme.rst")
    assert made.archive.ignored() == made.last.ignored


def test_a_folder_full_of_foreign_files_is_listed_once(made: Made) -> None:
    for i in range(50):
        made.file(f"a/checkpoints/global_step_1/actor/{i}.bin", b"\x80\x04\x95junk\0\1\2")
    made.ids()
    assert made.last.ignored == ("a/checkpoints/global_step_1/actor/ (50 files)",)


def test_hidden_files_are_passed_over(made: Made) -> None:
    made.console("a/.cache/train.log", curve(1, 6))
    made.console(".venv/train.log", curve(1, 6))
    assert made.ids() == []
    assert made.last.ignored == ()


def test_a_hidden_folder_that_no_tool_made_is_mentioned(made: Made) -> None:
    made.console("a/train.log", curve(1, 6))
    made.console(".old-runs/train.log", curve(1, 6))
    made.file("a/.git/HEAD", b"ref\n")
    made.file("a/.hidden.log", b"\n")
    assert made.ids() == ["a"]
    assert made.last.ignored == (".old-runs/ (hidden folder)",)


def test_the_archive_may_lie_inside_runs(made: Made) -> None:
    made.console("a/train.log", curve(1, 6))
    home = made.runs / "state"
    archive.update(made.runs, home)
    again = archive.update(made.runs, home)
    assert (again.runs, again.changed, again.ignored) == (("a",), (), ())


# --- what is refused -----------------------------------------------------------------------


def test_a_symlink_that_leaves_runs_is_refused(made: Made, tmp_path: Path) -> None:
    (tmp_path / "secret.log").write_text("step:1 - a/b:1.5\n")
    made.console("a/train.log", curve(1, 6))
    (made.runs / "a/link.log").symlink_to(tmp_path / "secret.log")
    (made.runs / "outside").symlink_to(tmp_path, target_is_directory=True)
    assert made.ids() == ["a"]
    assert sorted((p.path, p.kind) for p in made.last.problems) == [
        ("a/link.log", "refused"),
        ("outside", "refused"),
    ]


def test_a_symlink_to_a_log_that_is_read_anyway_is_passed_over(made: Made) -> None:
    made.console("a/train.log", curve(1, 6))
    (made.runs / "a/latest.log").symlink_to("train.log")
    (made.runs / "b").symlink_to("a", target_is_directory=True)
    assert made.ids() == ["a"]
    assert sources(made) == ["a/train.log"]
    assert made.last.problems == ()


def test_a_symlink_to_a_hidden_file_inside_runs_is_followed(made: Made) -> None:
    made.console(".annex/objects/x1", curve(1, 6))
    (made.runs / "a").mkdir()
    (made.runs / "a/train.log").symlink_to("../.annex/objects/x1")
    assert made.ids() == ["a"]
    assert sources(made) == ["a/train.log"]


def test_symlink_loops_and_dead_links_are_refused(made: Made) -> None:
    made.console("a/train.log", curve(1, 6))
    (made.runs / "a/self").symlink_to("self")
    (made.runs / "a/up").symlink_to("..", target_is_directory=True)
    (made.runs / "a/dead.log").symlink_to("nothing.log")
    assert made.ids() == ["a"]
    assert sorted(p.path for p in made.last.problems) == ["a/dead.log", "a/self"]


def test_fifos_and_sockets_are_refused_and_not_opened(made: Made) -> None:
    made.console("a/train.log", curve(1, 6))
    os.mkfifo(made.runs / "a/pipe.log")
    assert made.ids() == ["a"]
    (problem,) = made.last.problems
    assert (problem.path, problem.kind) == ("a/pipe.log", "refused")
    assert "FIFO" in problem.message


def test_a_file_that_may_not_be_read_is_told(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    locked = made.console("a/train.log", curve(1, 6))
    real = os.open

    def refusing(path: Path, *args: int) -> int:  # the tests may run as root, whom no mode stops
        if Path(path) == locked:
            raise PermissionError(13, "Permission denied")
        return real(path, *args)

    monkeypatch.setattr(os, "open", refusing)
    assert made.ids() == []
    assert [(p.path, p.kind) for p in made.last.problems] == [("a/train.log", "unreadable")]


@pytest.mark.parametrize(
    "name",
    [
        "a run with spaces",
        "n\newline",
        "日本語",
        "x" * 200,
        "mixed Case (2)",
        "tab\there",
        "quote'\"<b>",
        "100%",
    ],
)
def test_any_name_is_a_run_with_a_safe_id(made: Made, name: str) -> None:
    made.console(f"{name}/train.log", curve(1, 6))
    (run,) = made.ids()
    assert set(run) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-") and len(run) <= 100
    assert made.run(run).steps == 6


def test_a_name_in_no_encoding_is_shown_with_a_replacement(made: Made) -> None:
    folder = os.fsencode(made.runs) + b"/bad\xff"
    place = Path(os.fsdecode(folder))
    place.mkdir()
    (place / "train.log").write_text("step:1 - a/b:1.5\nstep:2 - a/b:1.75\n")
    (run,) = made.ids()
    assert made.run(run).path == "bad\ufffd"


@pytest.mark.corpus
def test_the_corpus_of_logs_is_one_run_per_file(made: Made, corpus: Path) -> None:
    archive.update(corpus / "logs", made.home)
    expected = {
        file.name.removesuffix(".log").removesuffix(".jsonl").removesuffix(".md")
        for file in (corpus / "logs").iterdir()
        if not file.name.startswith("088")
    }
    assert set(made.archive.runs()) == expected
    unread = [p.path.split("/")[0][:3] for p in made.archive.problems() if p.kind == "no-run"]
    assert unread == ["088"]


@pytest.mark.corpus
def test_one_run_in_the_formats_of_all_trackers_is_one_run(made: Made, corpus: Path) -> None:
    archive.update(corpus / "trackers", made.home)
    (run,) = made.archive.runs()
    assert [(s.first, s.last) for s in made.archive.run(run).segments] == [(0, 40), (38, 61)]
    assert set(kinds(made.archive.run(run).problems)) == {"left-out", "cut", "lost", "config"}
