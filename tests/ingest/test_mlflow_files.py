"""MLflow's file store: a folder per run, a file per metric."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from sitegen.ingest import mlflow_files
from sitegen.ingest.source import Member, Source
from tests.ingest.reading import Reading, gathered

META = (
    "artifact_uri: file:///somewhere\nend_time: 1767225660000\nexperiment_id: '7'\nlifecycle_stage: active\n"
    "run_id: abc\nrun_name: grpo 'x'\nstart_time: 1767225600000\nstatus: 3\nuser_id: ann\n"
)
RUN = "mlruns/7/abc"


def store(folder: Path, files: Mapping[str, str], meta: str = META) -> Source:
    """A store with one run; `files` by path below the run."""
    texts = {f"{RUN}/{path}": text for path, text in files.items()}
    texts |= {f"{RUN}/meta.yaml": meta, "mlruns/7/meta.yaml": "experiment_id: '7'\nname: math\n"}
    members = []
    for path, text in texts.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        members.append(Member(path, file, file.stat().st_size))
    return Source(f"{RUN}/meta.yaml", folder / RUN / "meta.yaml", members=tuple(members))


def found(folder: Path, files: Mapping[str, str], meta: str = META) -> Reading:
    return gathered(mlflow_files.read(store(folder, files, meta)))


def lines(*values: tuple[int, str, int]) -> str:
    return "".join(f"{1767225600000 + time} {value} {step}\n" for time, value, step in values)


def test_values_of_all_files_are_brought_together_by_time(tmp_path: Path) -> None:
    a = lines((0, "1.5", 1), (10, "2.5", 2), (20, "nan", 3), (30, "7.5", 2))
    b = lines((0, "0.25", 1), (10, "-inf", 2), (30, "0.75", 2))
    reading = found(tmp_path, {"metrics/actor/a": a, "metrics/b": b})
    assert reading.rows == [
        (1, {"actor/a": 1.5, "b": 0.25}),
        (2, {"actor/a": 2.5}),
        (3, {}),
        (2, {"actor/a": 7.5, "b": 0.75}),
    ]
    assert sorted(reading.odd) == [(2, "b", "-inf"), (3, "actor/a", "nan")]
    assert reading.times[:2] == [1767225600.0, 1767225600.01]


def test_two_steps_within_one_millisecond_stay_two_records(tmp_path: Path) -> None:
    values = lines((5, "1.5", 40), (5, "2.5", 38))
    reading = found(tmp_path, {"metrics/a": values, "metrics/b": values})
    assert reading.rows == [(40, {"a": 1.5, "b": 1.5}), (38, {"a": 2.5, "b": 2.5})]


def test_facts_settings_and_names(tmp_path: Path) -> None:
    files = {
        "metrics/val-core/x/acc/mean_at_4": lines((0, "1.5", 1)),
        "params/trainer/nnodes": "2",
        "params/data/long": "y" * 6000,
        "tags/mlflow.source.git.commit": "b" * 40,
    }
    reading = found(tmp_path, files)
    assert reading.rows == [(1, {"val-core/x/acc/mean@4": 1.5})]
    assert reading.config["trainer.nnodes"] == "2"
    assert reading.facts == {
        "commit": "b" * 40, "run_id": "abc", "title": "grpo 'x'", "experiment": "grpo 'x'", "project": "math",
        "user": "ann", "tracker_status": "FINISHED", "first_time": "1767225600.0",
        "last_time": "1767225660.0",
    }  # fmt: skip
    assert reading.kinds == ["cut"]


def test_only_a_runs_meta_file_is_claimed() -> None:
    assert mlflow_files.sniff("mlruns/7/abc/meta.yaml", META.encode())
    assert not mlflow_files.sniff("mlruns/7/meta.yaml", b"experiment_id: '7'\nname: math\n")
    assert not mlflow_files.sniff("notes.yaml", META.encode())


def test_a_step_is_zero_where_old_versions_write_none(tmp_path: Path) -> None:
    assert found(tmp_path, {"metrics/a": "1767225600000 1.5\n"}).rows == [(0, {"a": 1.5})]


@pytest.mark.parametrize(
    "torn", ["1767225600009 0.12", "1767225600009 0.125 1", "17672", "1767225600009 0.125 "]
)
def test_a_last_line_without_an_end_is_not_believed(tmp_path: Path, torn: str) -> None:
    reading = found(tmp_path, {"metrics/a": lines((0, "1.5", 1), (1, "2.5", 2)) + torn})
    assert reading.rows == [(1, {"a": 1.5}), (2, {"a": 2.5})]
    (problem,) = reading.problems
    assert (problem.kind, problem.path, problem.line) == ("truncated", f"{RUN}/metrics/a", 3)


def test_foreign_lines_are_told_with_file_and_line(tmp_path: Path) -> None:
    text = lines((0, "1.5", 1)) + "junk\n\x00\x01\n" + lines((2, "2.5", 2))
    reading = found(tmp_path, {"metrics/a": text})
    assert reading.rows == [(1, {"a": 1.5}), (2, {"a": 2.5})]
    (problem,) = reading.problems
    assert (problem.kind, problem.path, problem.line) == ("malformed", f"{RUN}/metrics/a", 2)
    assert problem.message.startswith("2 lines")


def test_a_metric_without_a_value_and_a_run_without_metrics_are_told(tmp_path: Path) -> None:
    assert found(tmp_path / "1", {"metrics/a": ""}).kinds == ["empty"]
    assert found(tmp_path / "2", {}).kinds == ["empty"]


def test_files_gone_since_they_were_listed_are_no_exception(tmp_path: Path) -> None:
    source = store(tmp_path, {"metrics/a": lines((0, "1.5", 1)), "params/b": "1"})
    (tmp_path / RUN / "metrics/a").unlink()
    assert gathered(mlflow_files.read(source)).rows == []


def test_a_thousand_metrics_are_read_with_few_files_open(tmp_path: Path) -> None:
    files = {f"metrics/m{i}": lines(*((10 * s, "0.5", s) for s in range(40))) for i in range(1500)}
    reading = found(tmp_path, files)
    assert [len(values) for _, values in reading.rows] == [1500] * 40
