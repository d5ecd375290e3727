from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet
import pytest

from sitegen.store.query import TABLES
from tests.cli.conftest import Sitegen, healthy


def test_ingest_tells_what_was_read_and_what_was_not(sitegen: Sitegen, runs: Path) -> None:
    answer = sitegen("ingest")
    assert answer.status == 0
    rows = [line.split() for line in answer.out.splitlines()]
    assert rows[0][:3] == ["run", "state", "steps"]
    assert ["bad", "read", "60", "1-60", "1", "1", "console"] in rows
    assert ["good", "read", "60", "1-60", "1", "1", "console"] in rows
    assert "shopping.csv" in answer.out


def test_a_second_ingest_reads_only_what_changed(sitegen: Sitegen, runs: Path) -> None:
    sitegen("ingest")
    (runs / "good" / "train.log").write_text(healthy(61))
    rows = [line.split()[:3] for line in sitegen("ingest").out.splitlines()]
    assert ["bad", "unchanged", "60"] in rows and ["good", "read", "61"] in rows


def test_quiet_says_nothing_on_stderr(sitegen: Sitegen, runs: Path) -> None:
    assert sitegen("ingest", "--quiet").err == ""


def test_progress_goes_to_stderr_only(sitegen: Sitegen, runs: Path) -> None:
    answer = sitegen("ingest")
    assert "reading" in answer.err and "reading" not in answer.out


def test_an_empty_folder_says_how_to_add_a_run(sitegen: Sitegen, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    answer = sitegen("ingest")
    assert answer.status == 0 and "put one folder per run there" in answer.err


def test_strict_ingest_fails_where_something_could_not_be_read(sitegen: Sitegen, runs: Path) -> None:
    (runs / "good" / "metrics.jsonl").write_text('{"step":1,"data":{"actor/lr":1e-6}}\n{"step":2,"da')
    assert sitegen("ingest", "--strict").status == 1
    assert sitegen("ingest").status == 0


def test_an_archive_that_is_a_file_is_refused_with_a_message(sitegen: Sitegen, runs: Path) -> None:
    Path(".sitegen").write_text("")
    answer = sitegen("ingest")
    assert answer.status == 2 and "Traceback" not in answer.err


SQL = "SELECT run, steps FROM runs ORDER BY run"


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("table", "run   steps\nbad      60\ngood     60\n"),
        ("csv", '"run","steps"\n"bad",60\n"good",60\n'),
    ],
)
def test_query_prints_rows(sitegen: Sitegen, runs: Path, form: str, text: str) -> None:
    assert sitegen("query", SQL, "--format", form).out == text


def test_query_prints_json(sitegen: Sitegen, runs: Path) -> None:
    answer = sitegen("query", SQL, "-f", "json")
    assert json.loads(answer.out) == [{"run": "bad", "steps": 60}, {"run": "good", "steps": 60}]


def test_query_writes_the_format_that_the_name_says(sitegen: Sitegen, runs: Path) -> None:
    assert sitegen("query", SQL, "-o", "out/result.parquet").out == ""
    assert pyarrow.parquet.read_table("out/result.parquet").column("run").to_pylist() == ["bad", "good"]


def test_an_ending_that_means_no_format_is_refused(sitegen: Sitegen, runs: Path) -> None:
    answer = sitegen("query", SQL, "-o", "result.xlsx")
    assert answer.status == 2 and ".csv, .json, .parquet" in answer.err
    assert not Path("result.xlsx").exists()
    assert sitegen("query", SQL, "-o", "result.xlsx", "-f", "csv").status == 0


def test_rows_are_counted_in_words(sitegen: Sitegen, runs: Path) -> None:
    assert sitegen("query", "SELECT 1 AS one").err.splitlines()[-1] == "1 row"
    assert sitegen("query", SQL).err.splitlines()[-1] == "2 rows"


def test_help_names_every_table(sitegen: Sitegen) -> None:
    text = sitegen("query", "--help").out
    assert not [name for name in TABLES if name not in text]


def test_state_of_runs_can_be_queried(sitegen: Sitegen, runs: Path) -> None:
    answer = sitegen("query", "SELECT run, status, state FROM runs WHERE run = 'bad'", "-f", "json")
    assert json.loads(answer.out) == [{"run": "bad", "status": "crashed", "state": "LEARNING"}]


def test_parquet_needs_a_file(sitegen: Sitegen, runs: Path) -> None:
    answer = sitegen("query", SQL, "-f", "parquet")
    assert answer.status == 2 and "-o result.parquet" in answer.err


def test_findings_can_be_queried(sitegen: Sitegen, runs: Path) -> None:
    answer = sitegen("query", "SELECT run, rule FROM incidents WHERE severity = 'critical'", "-f", "json")
    assert json.loads(answer.out) == [{"run": "bad", "rule": "RUN-01"}]


@pytest.mark.parametrize(
    "sql", ["SELEC", "DROP TABLE runs", "SELECT * FROM read_csv('/etc/passwd')", "SELECT x FROM y"]
)
def test_sql_that_does_not_run_is_explained(sitegen: Sitegen, runs: Path, sql: str) -> None:
    answer = sitegen("query", sql)
    assert (answer.status, answer.out) == (2, "")
    assert "Traceback" not in answer.err and "bug" not in answer.err
