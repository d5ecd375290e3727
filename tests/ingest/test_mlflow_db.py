"""MLflow's database: values, names, settings, facts, and files in a bad state."""

from __future__ import annotations

import math
import os
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from sitegen import ingest
from sitegen.ingest import mlflow_db
from sitegen.ingest.source import Member, Source
from tests.ingest.mlflow import START, Kept, add, database, log
from tests.ingest.reading import Reading, gathered


def source(file: Path, part: str | None = None) -> Source:
    """The database as the archive hands it out; `part` None: its first run."""
    beside = [Path(f"{file}{end}") for end in ("-wal", "-journal", "-shm")]
    members = tuple(
        Member(f"db{each.name[len(file.name) :]}", each, each.stat().st_size)
        for each in beside
        if each.exists()
    )
    whole = Source("db", file, file.stat().st_size, members=members)
    if part is None:
        found = mlflow_db.parts(whole)
        part = found[0].name if found else ""
    return replace(whole, path=f"db#{part}", part=part) if part else whole


def found(file: Path, part: str | None = None) -> Reading:
    asked = source(file, part)
    reading = gathered(mlflow_db.read(asked))
    reading.problems += asked.notes
    return reading


def steps(n: int) -> list[tuple[int, dict[str, float]]]:
    return [(s, {"actor/grad_norm": s * 0.25, "critic/score/mean": s + 0.5}) for s in range(1, n + 1)]


def test_values_of_one_step_are_one_record_with_its_time(tmp_path: Path) -> None:
    database(tmp_path / "db", Kept("r1", records=steps(3))).close()
    reading = found(tmp_path / "db")
    assert reading.rows == steps(3)
    assert reading.times == [START / 1000 + i for i in range(3)]


def test_nan_and_infinities_come_back_as_they_were_logged(tmp_path: Path) -> None:
    odd = {"a": math.nan, "b": math.inf, "c": -math.inf, "d": 1e308}
    database(tmp_path / "db", Kept("r1", records=[(4, odd)])).close()
    reading = found(tmp_path / "db")
    assert sorted(reading.odd) == [(4, "a", "nan"), (4, "b", "inf"), (4, "c", "-inf")]
    assert reading.rows == [(4, {"d": 1e308})]


def test_steps_logged_again_after_a_resume_stay_in_the_order_of_time(tmp_path: Path) -> None:
    records = [(s, {"a": s + 0.5}) for s in (1, 2, 3, 2, 3, 4)]
    database(tmp_path / "db", Kept("r1", records=records)).close()
    assert found(tmp_path / "db").rows == records


def test_values_logged_one_by_one_in_any_order_of_insertion_are_joined_by_time(tmp_path: Path) -> None:
    connection = database(tmp_path / "db", Kept("r1"))
    for name in ("a", "b"):
        for step in (1, 2):
            log(connection, "r1", START + 10 * step, step, {name: step + 0.5})
    connection.commit()
    connection.close()
    assert found(tmp_path / "db").rows == [(1, {"a": 1.5, "b": 1.5}), (2, {"a": 2.5, "b": 2.5})]


def test_names_are_changed_back_only_where_the_glossary_is_sure(tmp_path: Path) -> None:
    names = [
        "val-core/gsm8k/acc/mean_at_4",
        "val-aux/aime_x/reward/best_at_8/mean",
        "train/total_tokens_B_",
        "x/mean_at_4",
    ]
    database(tmp_path / "db", Kept("r1", records=[(1, dict.fromkeys(names, 1.5))])).close()
    ((_, values),) = found(tmp_path / "db").rows
    assert sorted(values) == [
        "train/total_tokens(B)", "val-aux/aime_x/reward/best@8/mean", "val-core/gsm8k/acc/mean@4",
        "x/mean_at_4",
    ]  # fmt: skip


def test_settings_facts_and_times(tmp_path: Path) -> None:
    params = {
        "trainer/logger/list_len": "2",
        "trainer/logger/0": "console",
        "trainer/logger/1": "mlflow",
        "data/n": "8",
    }
    tags = {"mlflow.source.git.commit": "a" * 40, "mlflow.source.name": "main.py"}
    database(tmp_path / "db", Kept("r1", "grpo-7b", steps(1), params, tags)).close()
    reading = found(tmp_path / "db")
    assert reading.config == {"trainer.logger": "['console', 'mlflow']", "data.n": "8"}
    assert reading.facts == {
        "commit": "a" * 40, "source": "main.py", "run_id": "r1", "title": "grpo-7b", "experiment": "grpo-7b",
        "project": "math", "user": "ann", "tracker_status": "FINISHED",
        "first_time": str(START / 1000), "last_time": str(START / 1000 + 60),
    }  # fmt: skip
    assert reading.problems == []


def test_a_setting_as_long_as_mlflow_allows_may_have_lost_its_end(tmp_path: Path) -> None:
    database(tmp_path / "db", Kept("r1", records=steps(1), params={"data/long": "x" * 6000})).close()
    (problem,) = found(tmp_path / "db").problems
    assert problem.kind == "cut"
    assert "data.long" in problem.message


def test_each_run_is_a_part_and_shares_nothing_with_the_others(tmp_path: Path) -> None:
    database(
        tmp_path / "db", Kept("r2", "late", steps(2), start=START + 99), Kept("r1", "early", steps(3))
    ).close()
    assert [part.name for part in mlflow_db.parts(source(tmp_path / "db", ""))] == ["r1", "r2"]
    assert [len(found(tmp_path / "db", run).rows) for run in ("r1", "r2")] == [3, 2]


def test_the_digest_of_a_run_changes_with_that_run_only(tmp_path: Path) -> None:
    connection = database(tmp_path / "db", Kept("r1", records=steps(2)), Kept("r2", records=steps(2)))
    before = [mlflow_db.digest(source(tmp_path / "db", run)) for run in ("r1", "r2")]
    log(connection, "r2", START + 9_000, 3, {"a": 1.0})
    connection.commit()
    connection.close()
    after = [mlflow_db.digest(source(tmp_path / "db", run)) for run in ("r1", "r2")]
    assert before[0] == after[0]
    assert before[1] != after[1]


@pytest.mark.parametrize(
    ("run", "kind"),
    [
        (Kept("r1", records=[(1, {"a": 1.5})], stage="deleted"), "deleted"),
        (Kept("r1", records=[(1, {"a": 1.5})], listed=False), "orphan"),
        (Kept("r1"), "empty"),
        (Kept("r1", records=[(1, {"a": 1.5}), (7, {"system/cpu": 3.0})]), "left-out"),
    ],
)
def test_what_is_odd_about_a_run_is_told(tmp_path: Path, run: Kept, kind: str) -> None:
    database(tmp_path / "db", run).close()
    reading = found(tmp_path / "db", "r1")
    assert reading.kinds == [kind]
    assert reading.rows == ([(1, {"a": 1.5})] if run.records else [])


def test_a_database_of_an_old_version_lacks_columns_and_is_read(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "db")
    connection.executescript(
        "CREATE TABLE runs (run_uuid TEXT); CREATE TABLE metrics (key TEXT, value REAL, run_uuid TEXT);"
        "INSERT INTO runs VALUES ('r1'); INSERT INTO metrics VALUES ('a', 1.5, 'r1');"
    )
    connection.close()
    assert found(tmp_path / "db").rows == [(0, {"a": 1.5})]


def test_tables_that_are_not_those_of_mlflow_are_told(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "db")
    connection.executescript("CREATE TABLE runs (id TEXT); CREATE TABLE metrics (name TEXT);")
    connection.close()
    assert mlflow_db.holds(source(tmp_path / "db"))
    assert found(tmp_path / "db").kinds == ["wrong-version"]


def test_a_database_of_something_else_is_not_claimed(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "db")
    connection.executescript(
        "CREATE TABLE notes (text TEXT); CREATE VIEW metrics AS SELECT 1; CREATE TABLE runs (id);"
    )
    connection.close()
    form = ingest.sniff(source(tmp_path / "db"))
    assert form is not None
    assert form.NAME == "tracker"


def test_cells_of_a_wrong_type_are_told_and_the_others_kept(tmp_path: Path) -> None:
    connection = database(tmp_path / "db", Kept("r1", records=[(1, {"a": 1.5})]))
    connection.execute("INSERT INTO metrics VALUES ('b', 'text', 5, 'r1', 2, 0)")
    connection.execute("INSERT INTO metrics VALUES ('b', 2.0, 'then', 'r1', 'two', 0)")
    connection.execute("INSERT INTO metrics VALUES (x'ff', 3.0, 6, 'r1', 3, 0)")
    connection.commit()
    connection.close()
    reading = found(tmp_path / "db")
    assert (1, {"a": 1.5}) in reading.rows
    assert set(reading.kinds) == {"malformed", "not-a-number", "damaged"}


# --- files in a bad state --------------------------------------------------------------------


def test_what_lies_in_the_write_ahead_log_is_read_and_no_byte_changes(tmp_path: Path) -> None:
    writer = database(tmp_path / "db", Kept("r1", records=steps(2)), wal=True)
    log(writer, "r1", START + 9_000, 3, {"a": 1.0})
    writer.commit()
    before = {each.name: each.read_bytes() for each in sorted(tmp_path.iterdir())}
    assert "db-wal" in before
    assert found(tmp_path / "db").steps == [1, 2, 3]
    assert {each.name: each.read_bytes() for each in sorted(tmp_path.iterdir())} == before
    writer.close()


def test_a_database_that_another_process_holds_locked_is_read_and_not_locked(tmp_path: Path) -> None:
    writer = database(tmp_path / "db", Kept("r1", records=steps(2)))
    writer.execute("BEGIN EXCLUSIVE")
    assert found(tmp_path / "db").steps == [1, 2]
    log(writer, "r1", START + 9_000, 3, {"a": 1.0})
    batches = mlflow_db.read(source(tmp_path / "db"))
    next(batches)  # reading is under way
    writer.commit()  # and does not stand in the way of the writer
    batches.close()
    writer.close()


def test_a_database_written_to_while_it_is_read_is_told(tmp_path: Path) -> None:
    writer = database(tmp_path / "db", Kept("r1", records=steps(2)))
    batches = mlflow_db.read(source(tmp_path / "db"))
    next(batches)
    log(writer, "r1", START + 9_000, 3, {"a": 1.0})
    writer.commit()
    writer.close()
    assert gathered(batches).kinds == ["changing"]


def test_a_database_in_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    database(tmp_path / "db", Kept("r1", records=steps(2)), wal=True).close()
    tmp_path.chmod(0o555)
    try:
        assert found(tmp_path / "db").steps == [1, 2]
        assert [each.name for each in tmp_path.iterdir()] == ["db"]
    finally:
        tmp_path.chmod(0o755)


def test_a_transaction_that_was_killed_is_rolled_back(tmp_path: Path) -> None:
    writer = database(tmp_path / "db", Kept("r1", records=steps(2)))
    writer.execute("PRAGMA cache_size = 1")
    for i in range(2000):
        log(writer, "r1", START + 9_000 + i, 3 + i, {"a": 1.0})
    os.fsync(os.open(tmp_path / "db", os.O_RDONLY))
    for name in ("db", "db-journal"):  # as a kill would leave them
        (tmp_path / f"left-{name}").write_bytes((tmp_path / name).read_bytes())
    assert (tmp_path / "left-db-journal").stat().st_size
    writer.rollback()
    writer.close()
    assert found(tmp_path / "left-db").steps == [1, 2]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    file = tmp_path_factory.mktemp("large") / "db"
    database(file, Kept("r1", records=steps(800))).close()
    return file.read_bytes()


@pytest.mark.parametrize("share", [0.0, 0.001, 0.2, 0.5, 0.9, 0.999])
def test_a_truncated_database_is_a_problem_and_keeps_what_can_be_read(
    tmp_path: Path, large: bytes, share: float
) -> None:
    (tmp_path / "db").write_bytes(large[: int(len(large) * share)])
    reading = found(tmp_path / "db", "r1")
    assert {"damaged", "wrong-version", "truncated"} & set(reading.kinds)
    assert reading.rows == steps(800)[: len(reading.rows)]


def test_flipped_bytes_never_raise(tmp_path: Path, large: bytes) -> None:
    expected = dict(steps(800))
    for place in range(7, len(large), len(large) // 25):
        (tmp_path / "db").write_bytes(large[:place] + bytes([large[place] ^ 0xFF]) + large[place + 1 :])
        mlflow_db.parts(source(tmp_path / "db", ""))
        reading = found(tmp_path / "db", "r1")
        wrong = sum(values != expected.get(step) for step, values in reading.rows)
        assert wrong <= 4 or reading.problems


def test_damage_that_sqlite_itself_quotes_in_broken_text_is_a_problem(tmp_path: Path) -> None:
    database(tmp_path / "db", Kept("r1", records=steps(3))).close()
    data = (tmp_path / "db").read_bytes()
    assert b"sqlite_autoindex_params_1" in data
    (tmp_path / "db").write_bytes(data.replace(b"sqlite_autoindex_params_1", b"sqlite_au\xf4oindex_params_1"))
    reading = found(tmp_path / "db", "r1")
    assert reading.kinds == ["damaged"] and "orphan index" in reading.problems[0].message
    assert mlflow_db.parts(source(tmp_path / "db", "")) == ()


def test_the_damage_names_what_precedes_it(tmp_path: Path, large: bytes) -> None:
    page = 4096
    at = len(large) // page // 2 * page
    broken = large[:at] + b"\xff" * page * 4 + large[at + page * 4 :]
    (tmp_path / "db").write_bytes(broken)
    reading = found(tmp_path / "db", "r1")
    assert reading.kinds == ["damaged"]
    assert 10 < len(reading.rows) < 800


def test_a_file_that_is_only_called_so_is_told(tmp_path: Path) -> None:
    (tmp_path / "db").write_bytes(b"SQLite format 3\0" + b"junk" * 500)
    assert not mlflow_db.holds(source(tmp_path / "db", ""))
    assert "damaged" in found(tmp_path / "db", "r1").kinds


def test_runs_added_meanwhile_are_found_by_the_next_look(tmp_path: Path) -> None:
    connection = database(tmp_path / "db", Kept("r1", records=steps(2)))
    add(connection, Kept("r2", records=steps(1), start=START + 5))
    connection.commit()
    connection.close()
    assert len(mlflow_db.parts(source(tmp_path / "db", ""))) == 2
