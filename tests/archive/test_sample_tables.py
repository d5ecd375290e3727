"""Validation tables of trackers in the archive: whose they are, each row once, whoever repeats it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sitegen.archive import copies
from sitegen.model import Dumped, Sample
from tests.archive.conftest import Made
from tests.archive.test_samples import LOG, rows
from tests.ingest.mlflow import Kept, database
from tests.ingest.wandb_files import config, framed, history

RUN = "wandb/run-20260101_000000-abc"


def table(*records: tuple[int, list[tuple[str, str, float]]]) -> str:
    """verl's table: a row per validation."""
    n = len(records[0][1])
    columns = ["step", *(f"{key}_{i}" for i in range(1, n + 1) for key in ("input", "output", "score"))]
    return json.dumps(
        {"columns": columns, "data": [[step, *(c for one in found for c in one)] for step, found in records]}
    )


def grown(made: Made, place: str, *records: tuple[int, list[tuple[str, str, float]]]) -> None:
    """The table as verl logs it again after each validation."""
    for i, (step, _) in enumerate(records):
        made.file(f"{place}/media/table/val/generations_{step}_{i:020x}.table.json", table(*records[: i + 1]))


def outputs(made: Made, run: str = "a") -> list[tuple[object, object]]:
    return [(row["step"], row["output"]) for row in rows(made, run)]


VALIDATED = [(step, [("q", f"a{step}", 1.0), ("r", f"b{step}", 0.0)]) for step in (0, 5, 10, 100)]


def test_a_table_that_grows_is_not_doubled(made: Made) -> None:
    made.console("a/train.log", LOG)
    grown(made, f"a/{RUN}/files", *VALIDATED)
    made.update()
    assert outputs(made) == [(s, f"{x}{s}") for s in (0, 5, 10, 100) for x in "ab"]
    assert made.run().generations == (Dumped("validation", 8, 8, 4, 0, 100),)
    (_, tables) = made.run().sources
    assert tables.path == f"a/{RUN}/files/media/table/val/ (4 files)"
    assert made.run().problems == ()


def test_one_answer_given_twice_stays_two_rows(made: Made) -> None:
    made.console("a/train.log", LOG)
    grown(made, f"a/{RUN}/files", (5, [("q", "same", 1.0)] * 3), (10, [("q", "same", 1.0)] * 3))
    made.update()
    assert outputs(made) == [(5, "same")] * 3 + [(10, "same")] * 3


def test_a_row_that_a_dump_holds_as_well_is_that_of_the_dump(made: Made) -> None:
    made.console("a/train.log", LOG)
    lines = [
        json.dumps({"input": "q", "output": f"a{i}", "score": 1.0, "gts": "t", "step": 5}) for i in range(3)
    ]
    made.file("a/validation/5.jsonl", "\n".join(lines))
    grown(made, f"a/{RUN}/files", (5, [("q", "a1", 1.0), ("q", "other", 1.0)]))
    made.update()
    assert outputs(made) == [(5, "a0"), (5, "a1"), (5, "a2"), (5, "other")]
    assert [row["expected"] for row in rows(made)] == ["t", "t", "t", None]


def test_a_row_with_another_score_is_another_row(made: Made) -> None:
    made.console("a/train.log", LOG)
    made.file("a/validation/5.jsonl", json.dumps({"input": "q", "output": "a", "score": 1.0, "step": 5}))
    grown(made, f"a/{RUN}/files", (5, [("q", "a", 0.5)]))
    made.update()
    assert [row["score"] for row in rows(made)] == [1.0, 0.5]


def test_tables_of_several_w_and_b_runs_go_to_their_own(made: Made) -> None:
    for name, scale in (("aaaaaaaa", 0.5), ("bbbbbbbb", 0.25)):
        place = f"exp/wandb/run-20260101_000000-{name}"
        log = framed(
            config(17, trainer={"experiment_name": name}), *(history(s, a=scale * s) for s in range(1, 6))
        )
        made.file(f"{place}/run-{name}.wandb", log)
        grown(made, f"{place}/files", (5, [("q", name, 1.0)]))
    first, second = made.ids()
    assert (outputs(made, first), outputs(made, second)) == ([(5, "aaaaaaaa")], [(5, "bbbbbbbb")])
    assert made.last.problems == ()


def test_artifacts_of_an_mlflow_database_go_to_the_run_that_their_path_names(made: Made) -> None:
    runs = [
        Kept(letter * 32, letter, [(s, {"x": s + n}) for s in range(1, 5)]) for n, letter in enumerate("ab")
    ]
    database(made.runs / "mlruns.db", *runs).close()
    for run in runs:
        sample = [{"input": "q", "output": run.name, "score": 1.0}]
        made.file(f"mlruns/1/{run.id}/artifacts/val_step4.json", json.dumps(sample))
    first, second = made.ids()
    assert (outputs(made, first), outputs(made, second)) == ([(4, "a")], [(4, "b")])


def test_a_table_of_no_run_is_told(made: Made) -> None:
    made.console("a.log", LOG)
    made.console("b.log", [(step, {"critic/score/mean": 0.5}) for step in range(1, 9)])
    made.file(
        "mlruns/1/abc/artifacts/val_step4.json", json.dumps([{"input": "q", "output": "a", "score": 1.0}])
    )
    made.update()
    assert [(p.path, p.kind) for p in made.last.problems] == [
        ("mlruns/1/abc/artifacts/val_step4.json", "no-run")
    ]


def test_a_log_whose_table_is_not_here_says_so(made: Made) -> None:
    reference = {"_type": "table-file", "path": "media/table/val/generations_1_x.table.json"}
    log = framed(*(history(step, **{"val/generations": reference, "a": 0.5 * step}) for step in (1, 2)))
    made.file(f"a/{RUN}/run-abc.wandb", log)
    made.update()
    (problem,) = made.run().problems
    assert problem.kind == "unsupported" and "not here" in problem.message
    grown(made, f"a/{RUN}/files", (1, [("q", "a", 1.0)]))
    made.update()
    assert made.run().problems == ()


def test_secrets_leave_tables(made: Made) -> None:
    token = "hf_" + "a1B2c3D4" * 4
    made.console("a/train.log", LOG)
    grown(made, f"a/{RUN}/files", (5, [(f"q {token}", f"a {token}", 1.0)]))
    made.update()
    assert token not in repr(rows(made))
    assert {p.kind for p in made.run().problems} == {"redacted"}


def test_samples_remembered_are_bounded_and_that_is_told(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "KNOWN", 3)
    made.console("a/train.log", LOG)
    grown(made, f"a/{RUN}/files", *VALIDATED)
    made.update()
    assert len(rows(made)) > 8
    assert {p.kind for p in made.run().problems} == {"too-many"}


def test_what_is_compared_is_step_texts_and_score() -> None:
    found = copies.Copies(wanted=True)

    def one(**more: object) -> Sample:
        values = {"step": 1, "input": "q", "output": "a", "score": 1.0, "expected": None, **more}
        return Sample(kind="validation", line=1, extra={}, **values)  # type: ignore[arg-type]

    assert found.is_new("x", one())
    assert not found.is_new("y", one(expected="t"))
    assert found.is_new("y", one())  # the second in this source
    assert all(
        found.is_new("z", one(**other))
        for other in ({"step": 2}, {"input": "r"}, {"output": "b"}, {"score": 0.0})
    )


@pytest.mark.corpus
def test_all_trackers_of_one_run_hold_the_same_samples(made: Made, corpus: Path) -> None:
    for part in ("console", "mlflow_sqlite", "mlflow_files", "wandb", "swanlab", "trackio", "tensorboard"):
        shutil.copytree(corpus / "trackers" / part, made.runs / "a" / part)
    assert made.ids() == ["a"]
    found = [(r["kind"], r["step"], r["input"], r["output"], r["score"]) for r in rows(made)]
    assert found == [
        ("validation", 60, "What is 2+2?", "<think>..</think> 4", 1.0),
        ("validation", 60, "Name a prime", "9", 0.0),
    ]


@pytest.mark.corpus
@pytest.mark.parametrize(
    "part", ["mlflow_sqlite", "mlflow_files", "wandb", "swanlab", "trackio", "tensorboard"]
)
def test_each_tracker_holds_them_alone(made: Made, corpus: Path, part: str) -> None:
    shutil.copytree(corpus / "trackers" / part, made.runs / part)
    (run,) = made.ids()
    assert [(row["step"], row["output"], row["score"]) for row in rows(made, run)] == [
        (60, "<think>..</think> 4", 1.0),
        (60, "9", 0.0),
    ]


@pytest.mark.corpus
def test_the_tables_of_a_real_run_are_each_sample_once(made: Made, corpus: Path) -> None:
    """Six validations of twenty prompts; each of its files holds all validations before it."""
    shutil.copytree(corpus / "wandb", made.runs / "a")
    made.update()
    file = made.archive.samples("a")
    assert file is not None
    steps = pq.read_table(file, columns=["step"]).column("step").to_pylist()
    assert steps == [step for step in (0, 10, 20, 30, 40, 50) for _ in range(20)]
