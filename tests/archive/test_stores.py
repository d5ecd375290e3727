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
    assert made.ids() == ["mlruns-r1", "mlruns-r2"]
    run = made.run("mlruns-r2")
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
    assert made.ids() == ["a-mlruns-r1", "a-train"]
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
    assert made.ids() == ["mlruns-r1", "mlruns-r3"]
    run = made.run("mlruns-r1")
    assert [(s.first, s.last) for s in run.segments] == [(1, 20), (15, 30)]
    assert run.steps == 30


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
        made.runs / "mlruns.db", Kept("r1", "base", curve(1, 6)), Kept("r2", "base", curve(1, 6, shift=0.3))
    ).close()
    assert made.ids() == ["mlruns-r1", "mlruns-r2"]


def test_only_the_run_that_was_written_to_is_read_again(made: Made) -> None:
    connection = database(
        made.runs / "mlruns.db", Kept("r1", "base", curve(1, 6)), Kept("r2", "wide", curve(1, 6, shift=0.3))
    )
    made.update()
    assert made.update().changed == ()
    log(connection, "r2", START + 60_000, 7, {"critic/score/mean": 0.875})
    connection.commit()
    assert made.update().changed == ("mlruns-r2",)
    add(connection, Kept("r3", "late", curve(1, 6, shift=0.6)))
    connection.commit()
    connection.close()
    assert made.update().changed == ("mlruns-r3",)


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
    assert made.archive.runs() == ("my-r1", "my-r2")
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
