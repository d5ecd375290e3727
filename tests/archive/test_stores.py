"""Files with several runs, and runs of several files."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen import archive
from tests.archive.conftest import Made, curve, kinds
from tests.ingest.mlflow import START, Kept, add, database, log


def sources(made: Made, run: str) -> list[str]:
    return sorted(source.path for source in made.run(run).sources)


def test_each_run_of_a_database_is_a_run_called_as_mlflow_calls_it(made: Made) -> None:
    database(
        made.runs / "mlruns.db", Kept("r1", "base", curve(1, 6)), Kept("r2", "wide", curve(1, 9, shift=0.3))
    ).close()
    assert made.ids() == ["math-base", "math-wide"]
    run = made.run("math-wide")
    assert run.aliases == ("mlruns-r2",)
    assert (run.title, run.project, run.steps, run.formats) == ("wide", "math", 9, ("mlflow",))
    assert [source.path for source in run.sources] == ["mlruns.db#r2"]
    assert run.started_at == START / 1000


def test_a_database_in_a_folder_of_its_own_with_one_run_is_that_folder(made: Made) -> None:
    database(made.runs / "first/mlruns.db", Kept("r1", "base", curve(1, 6))).close()
    assert made.ids() == ["first"]


def test_a_console_log_beside_the_database_joins_the_run_that_logged_its_values(made: Made) -> None:
    made.console("a/train.log", [(s, {k: f"{v:.3f}" for k, v in d.items()}) for s, d in curve(1, 6)])
    database(
        made.runs / "a/mlruns.db", Kept("r1", "base", curve(1, 6, shift=0.3)), Kept("r2", "wide", curve(1, 6))
    ).close()
    assert made.ids() == ["a-math-base", "a-train"]
    assert sources(made, "a-train") == ["a/mlruns.db#r2", "a/train.log"]
    assert made.run("a-train").steps == 6
    assert not made.run("a-train").problems


def test_runs_of_one_name_that_go_on_from_each_other_are_attempts_of_one_run(made: Made) -> None:
    database(
        made.runs / "mlruns.db",
        Kept("r1", "base", curve(1, 20)),
        Kept("r2", "base", curve(15, 30, shift=0.1), start=START + 900_000),
        Kept("r3", "other", curve(1, 9, shift=0.7), start=START + 950_000),
    ).close()
    assert made.ids() == ["math-base", "math-other"]
    run = made.run("math-base")
    assert run.aliases == ("mlruns-r1", "mlruns-r2")
    assert [(s.first, s.last) for s in run.segments] == [(1, 20), (15, 30)]
    assert run.steps == 30


def test_a_validation_of_the_checkpoint_belongs_to_the_step_that_was_resumed(made: Made) -> None:
    """Even where that is step 1: a training that begins validates at step 0."""
    checked = (1, {"val-core/gsm8k/acc/mean@1": 0.5})
    database(
        made.runs / "mlruns.db",
        Kept("r1", "base", [(0, {"val-core/gsm8k/acc/mean@1": 0.25}), *curve(1, 3)]),
        Kept("r2", "base", [checked, *curve(2, 4, shift=0.4)], start=START + 900_000),
    ).close()
    assert made.ids() == ["math-base"]
    assert [(s.first, s.last) for s in made.run().segments] == [(0, 3), (2, 4)]
    score = made.archive.series("math-base", ["critic/score/mean"])["critic/score/mean"]
    assert score.steps[score.live].tolist() == [0, 1, 2, 3, 4]
    assert score.values[score.live][1] == curve(1, 1)[0][1]["critic/score/mean"]


def test_names_that_mlflow_changed_are_those_of_the_console_log_beside_it(made: Made) -> None:
    logged = [(step, {**row, "val-core/a+b|c/acc": step * 0.3}) for step, row in curve(1, 6)]
    changed = [
        (step, {name.replace("+", "_").replace("|", "_"): v for name, v in row.items()})
        for step, row in logged
    ]
    made.console("a/train.log", logged)
    database(made.runs / "a/mlruns.db", Kept("r1", "base", changed)).close()
    assert made.ids() == ["a"]
    assert {one.name for one in made.run().summary} == set(logged[0][1])
    assert not made.run().problems


def test_a_name_that_may_have_been_two_stays_as_mlflow_has_it(made: Made) -> None:
    made.console("a/train.log", [(s, {"x+y": s * 0.3, "x|y": s * 0.7, "z": s * 0.1}) for s in range(1, 7)])
    records = [(s, {"x_y": s * 0.7, "z": s * 0.1}) for s in range(1, 7)]
    database(made.runs / "a/mlruns.db", Kept("r1", "base", records)).close()
    assert made.ids() == ["a"]
    assert {one.name for one in made.run().summary} == {"x+y", "x|y", "x_y", "z"}


def test_two_trainings_of_one_name_stay_two_runs(made: Made) -> None:
    database(
        made.runs / "mlruns.db",
        Kept("0f2c" * 8, "base", curve(1, 6)),
        Kept("0a1b" * 8, "base", curve(1, 6, shift=0.3), start=START + 900_000),
    ).close()
    assert made.ids() == ["math-base", "math-base-0a1b0a1b"]  # the older one keeps its address


def test_runs_of_one_name_in_two_experiments_are_told_apart_by_these(made: Made) -> None:
    connection = database(made.runs / "mlruns.db", Kept("r1", "base", curve(1, 6)))
    add(connection, Kept("r2", "base", curve(1, 6, shift=0.3)))
    connection.execute("UPDATE runs SET experiment_id = 0 WHERE run_uuid = 'r2'")
    connection.commit()
    connection.close()
    assert made.ids() == ["default-base", "math-base"]


def test_a_run_without_a_name_is_known_by_its_number(made: Made) -> None:
    database(made.runs / "mlruns.db", Kept("r1", "", curve(1, 6)), Kept("r2", "b", curve(1, 9))).close()
    assert made.ids() == ["math-b", "mlruns-r1"]


def test_a_database_without_names_of_experiments_is_read_all_the_same(made: Made) -> None:
    connection = database(
        made.runs / "mlruns.db", Kept("r1", "base", curve(1, 6)), Kept("r2", "b", curve(1, 9))
    )
    connection.execute("DROP TABLE experiments")
    connection.commit()
    connection.close()
    assert made.ids() == ["1-b", "1-base"]


def test_a_run_of_a_file_store_is_called_as_mlflow_calls_it(made: Made) -> None:
    folder = f"team/mlruns/593825217638367268/{'0f2c' * 8}"
    made.file("team/mlruns/593825217638367268/meta.yaml", b"experiment_id: '5'\nname: math\n")
    made.file(f"{folder}/meta.yaml", b"run_id: 0f2c\nrun_name: base\nstatus: 3\nstart_time: 5\n")
    made.file(f"{folder}/metrics/loss", b"1000 0.25 1\n2000 0.5 2\n")
    assert made.ids() == ["team-math-base"]
    assert made.run().aliases == (folder.replace("/", "-"),)


def test_only_the_run_that_was_written_to_is_read_again(made: Made) -> None:
    connection = database(
        made.runs / "mlruns.db", Kept("r1", "base", curve(1, 6)), Kept("r2", "wide", curve(1, 6, shift=0.3))
    )
    made.update()
    assert made.update().changed == ()
    log(connection, "r2", START + 60_000, 7, {"critic/score/mean": 0.875})
    connection.commit()
    assert made.update().changed == ("math-wide",)
    add(connection, Kept("r3", "late", curve(1, 6, shift=0.6)))
    connection.commit()
    connection.close()
    assert made.update().changed == ("math-late",)


def test_a_growing_write_ahead_log_is_a_change_and_no_file_of_its_own(made: Made) -> None:
    connection = database(made.runs / "a/mlruns.db", Kept("r1", "base", curve(1, 6)), wal=True)
    assert made.ids() == ["a"]
    log(connection, "r1", START + 60_000, 7, {"critic/score/mean": 0.875})
    connection.commit()
    update = made.update()
    assert (update.changed, update.ignored, update.problems) == (("a",), (), ())
    assert made.run("a").last_step == 7
    connection.close()


def test_a_database_alone_is_a_runs_folder(made: Made, tmp_path: Path) -> None:
    connection = database(
        tmp_path / "my.db",
        Kept("r1", "base", curve(1, 6)),
        Kept("r2", "wide", curve(1, 6, shift=0.3)),
        wal=True,
    )
    archive.update(tmp_path / "my.db", made.home)
    assert made.archive.runs() == ("math-base", "math-wide")
    connection.close()


def test_a_damaged_database_is_a_problem_with_its_path(made: Made) -> None:
    database(made.runs / "mlruns.db", Kept("r1", "base", curve(1, 600))).close()
    file = made.runs / "mlruns.db"
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])
    made.update()
    told = [*made.last.problems, *(p for run in made.archive.runs() for p in made.run(run).problems)]
    assert {p.path.partition("#")[0] for p in told} == {"mlruns.db"}
    assert "internal" not in kinds(told)


def test_secrets_in_settings_of_a_database_do_not_reach_the_archive(made: Made) -> None:
    params = {"trainer/api_key": "sk-" + "a1B2" * 12, "data/url": "https://ann:hunter2x@host.example/data"}
    database(made.runs / "a/mlruns.db", Kept("r1", "base", curve(1, 6), params)).close()
    made.update()
    stored = b"".join(each.read_bytes() for each in made.home.rglob("*") if each.is_file())
    assert b"a1B2a1B2" not in stored
    assert b"hunter2x" not in stored


@pytest.mark.corpus
def test_the_database_of_the_corpus_is_the_run_of_its_console_log(made: Made, corpus: Path) -> None:
    for name in ("mlflow_sqlite/mlruns.db", "console/stdout.log"):
        made.file(f"a/{name}", (corpus / "trackers" / name).read_bytes())
    assert made.ids() == ["a"]
    assert kinds(made.run().problems) == ["cut"]
    assert [(s.first, s.last) for s in made.run().segments] == [(0, 40), (38, 61)]
