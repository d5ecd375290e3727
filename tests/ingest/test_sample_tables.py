"""Tables of validation samples that trackers keep as files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sitegen import ingest
from sitegen.ingest import jsonlist, sample_tables, trackers
from sitegen.ingest.source import Source
from sitegen.ingest.table_shape import shape
from tests.ingest.reading import Reading, gathered

WANDB = "wandb/run-20260101_000000-abc/files/media/table/val/generations_61_2a6939f36fdddd66d3b7.table.json"
SWANLAB = "swanlog/run-20260101_000000-abc/media/echarts/060-d335adee.json"
TEXT = "swanlog/run-20260101_000000-abc/media/text/060-d335adee.txt"
BETWEEN = "\n            \n            ---\n            \n            "
PIECE = f"\n            input: {{}}{BETWEEN}output: {{}}{BETWEEN}score: {{}}\n            "
WIDE = ["step", "input_1", "output_1", "score_1", "input_2", "output_2", "score_2"]


def read(tmp_path: Path, path: str, content: str | bytes) -> Reading:
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    source = Source(path, file, file.stat().st_size)
    assert ingest.sniff(source) is sample_tables
    return gathered(sample_tables.read(source))


def told(reading: Reading) -> list[tuple[str, int | None, str, str, float | None]]:
    return [(each.kind, each.step, each.input, each.output, each.score) for each in reading.samples]


def test_a_row_of_a_wide_table_is_as_many_samples_as_it_has_numbers(tmp_path: Path) -> None:
    rows = [[10, "q", "a", 1.0, "r", "b", 0.5], [20, "q", "c", 0, "r", "d", -1]]
    reading = read(tmp_path, WANDB, json.dumps({"columns": WIDE, "data": rows}))
    assert told(reading) == [
        ("validation", 10, "q", "a", 1.0), ("validation", 10, "r", "b", 0.5),
        ("validation", 20, "q", "c", 0.0), ("validation", 20, "r", "d", -1.0),
    ]  # fmt: skip
    assert [each.line for each in reading.samples] == [1, 1, 2, 2]
    assert reading.problems == []


def test_columns_of_a_wide_table_are_found_whatever_their_order(tmp_path: Path) -> None:
    columns = [
        "score_10",
        "input_2",
        "output_10",
        "gts_10",
        "step",
        "output_2",
        "input_10",
        "score_2",
        "temperature",
    ]
    rows = [[0.1, "q2", "a10", "t10", 7, "a2", "q10", 0.2, 0.6]]
    reading = read(tmp_path, WANDB, json.dumps({"columns": columns, "data": rows}))
    assert told(reading) == [("validation", 7, "q2", "a2", 0.2), ("validation", 7, "q10", "a10", 0.1)]
    assert reading.samples[1].expected == "t10"
    assert [each.extra for each in reading.samples] == [{"temperature": 0.6}] * 2


def test_empty_cells_of_a_wide_table_are_no_sample(tmp_path: Path) -> None:
    rows = [[10, "q", "a", 1.0, None, None, None], [20, "q", None, 0.0], [30, "", "", 0, "", "", 0]]
    reading = read(tmp_path, WANDB, json.dumps({"columns": WIDE, "data": rows}))
    assert [(each.step, each.output) for each in reading.samples] == [(10, "a"), (20, ""), (30, ""), (30, "")]


def test_a_table_with_a_row_per_sample_is_read_under_the_names_that_dumps_use(tmp_path: Path) -> None:
    table = {"columns": ["prompt", "completion", "reward", "uid"], "data": [["q", "a", 2.5, "x"]]}
    reading = read(tmp_path, WANDB.replace("val/", "train/"), json.dumps(table))
    assert told(reading) == [("rollout", 61, "q", "a", 2.5)]
    assert reading.samples[0].extra == {"uid": "x"}


def test_scores_that_are_not_finite_are_kept_as_they_were_logged(tmp_path: Path) -> None:
    text = '{"columns":["step","input_1","output_1","score_1"],"data":[[1,"q","a",NaN],[2,"q","a",Infinity]]}'
    reading = read(tmp_path, WANDB, text)
    assert [(each.score, str(each.extra["score"])) for each in reading.samples] == [
        (None, "nan"),
        (None, "inf"),
    ]


def test_the_name_of_an_mlflow_artifact_tells_the_step(tmp_path: Path) -> None:
    rows = [{"input": "q", "output": "a", "score": 1.0}, {"input": "r", "output": "b", "score": float("nan")}]
    reading = read(tmp_path, "mlruns/1/abc/artifacts/val_step120.json", json.dumps(rows))
    assert told(reading) == [("validation", 120, "q", "a", 1.0), ("validation", 120, "r", "b", None)]


def test_a_swanlab_table_is_read(tmp_path: Path) -> None:
    names = ("step", "input", "output", "score")
    table = {
        "_swanLab": "table",
        "colDefs": [{"field": name} for name in names],
        "rowData": [dict(zip(names, (60, "q", "a", 0.5), strict=True))],
    }
    assert told(read(tmp_path, SWANLAB, json.dumps(table))) == [("validation", 60, "q", "a", 0.5)]


def test_a_text_of_verl_before_0_5_in_swanlab_is_a_sample(tmp_path: Path) -> None:
    reading = read(tmp_path, TEXT, PIECE.format("2+2?\n---\n", "4 \n\n", 1.0))
    assert told(reading) == [("validation", 60, "2+2?\n---\n", "4 \n\n", 1.0)]


def test_a_text_whose_parts_cannot_be_told_apart_is_a_problem(tmp_path: Path) -> None:
    reading = read(tmp_path, TEXT, PIECE.format("q", PIECE.format("inner", "a", 1), 1.0))
    assert (reading.samples, reading.kinds) == ([], ["malformed"])


def session(**more: object) -> list[dict[str, object]]:
    about = {"step": 60, "key": "val/generations", "metadata": {"source": "validation_generations", **more}}
    return [{"type": "session", "version": 3, "trackio": about}]


def spoken(role: str, text: str) -> dict[str, object]:
    return {"type": "message", "message": {"role": role, "content": [{"type": "text", "text": text}]}}


def test_a_trace_of_trackio_without_its_database_is_a_sample(tmp_path: Path) -> None:
    lines = [*session(sample_index=0, score=0.25), spoken("user", "q"), spoken("assistant", "a")]
    reading = read(tmp_path, "traces/p/r/x.jsonl", "\n".join(map(json.dumps, lines)))
    assert told(reading) == [("validation", 60, "q", "a", 0.25)]


def test_a_torn_trace_of_trackio_is_told(tmp_path: Path) -> None:
    lines = [*session(score=0.25), spoken("user", "q"), spoken("assistant", "a")]
    reading = read(tmp_path, "traces/p/r/x.jsonl", "\n".join(map(json.dumps, lines))[:-20])
    assert (reading.samples, reading.kinds) == ([], ["malformed"])


def test_of_a_torn_table_the_rows_before_the_tear_are_kept(tmp_path: Path) -> None:
    rows = [[step, "q", f"answer {step}", 1.0, "r", "b", 0.5] for step in range(100)]
    whole = json.dumps({"columns": WIDE, "data": rows})
    reading = read(tmp_path, WANDB, whole[: len(whole) // 2])
    assert [each.step for each in reading.samples] == [step for step in range(50) for _ in range(2)][
        : len(reading.samples)
    ]
    assert len(reading.samples) > 80
    (problem,) = reading.problems
    assert (problem.path, problem.kind) == (WANDB, "damaged")


def test_a_damaged_row_costs_only_itself(tmp_path: Path) -> None:
    whole = json.dumps({"columns": WIDE[:4], "data": [[s, "q", f"a{s}", 1.0] for s in range(5)]})
    reading = read(tmp_path, WANDB, whole.replace('"a2"', '"a2'))
    assert [each.output for each in reading.samples] == ["a0", "a1", "a3", "a4"]
    assert reading.kinds == ["damaged"]


VERY_WIDE = ["step", *(f"{key}_{n}" for n in range(1, 41) for key in ("input", "output", "score"))]


def wide_row(step: int) -> list[object]:
    """The samples of a validation, one of them empty, one with a number that many blocks cut in two."""
    cells = [[f"q{n}", f"answer {n} \U0001f600", n / 7] for n in range(1, 41)]
    cells[6] = [None, None, None]  # type: ignore[list-item]
    return [step, *(cell for each in cells for cell in each)]


def test_a_row_too_long_for_memory_gives_the_same_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = json.dumps({"columns": VERY_WIDE, "data": [wide_row(10), wide_row(20)]}, ensure_ascii=False)
    whole = told(read(tmp_path, WANDB, content))
    assert len(whole) == 78 and whole[-1] == ("validation", 20, "q40", "answer 40 \U0001f600", 40 / 7)
    for block in (7, 64, 501):
        monkeypatch.setattr(jsonlist, "BLOCK", block)
        monkeypatch.setattr(jsonlist, "STRETCH", 100)
        reading = read(tmp_path, WANDB, content)
        assert told(reading) == whole and not reading.problems
        assert {each.line for each in reading.samples} == {1, 2}


def test_of_a_long_row_the_samples_before_the_damage_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonlist, "BLOCK", 64)
    monkeypatch.setattr(jsonlist, "STRETCH", 100)
    monkeypatch.setattr(jsonlist, "LONGEST", 400)
    content = json.dumps({"columns": VERY_WIDE, "data": [wide_row(10), wide_row(20)]})
    reading = read(tmp_path, WANDB, content.replace('"q20"', "q20", 1))
    samples = [(each.step, each.input) for each in reading.samples]
    assert samples[:18] == [(10, f"q{n}") for n in range(1, 20) if n != 7]
    assert samples[18:] == [(20, f"q{n}") for n in range(1, 41) if n != 7]
    assert reading.kinds == ["damaged"]


def test_a_text_too_long_to_be_held_is_told_as_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonlist, "BLOCK", 64)
    monkeypatch.setattr(jsonlist, "LONGEST", 1 << 20)
    columns = ["step", "input_1", "output_1", "score_1"]
    rows = [[1, "a", "short", 0.5], [2, "b", "word " * 700_000, 0.5], [3, "c", "short", 0.5]]
    reading = read(tmp_path, WANDB, json.dumps({"columns": columns, "data": rows}))
    assert [each.step for each in reading.samples] == [1, 3]
    (problem,) = reading.problems
    assert problem.message == "the table is damaged: rows with a text of more than 1 MB were left out: 1"


def test_a_row_that_is_no_row_is_told(tmp_path: Path) -> None:
    rows = [{"input": "q", "output": "a", "score": 1.0}, 7, {"other": 1}]
    reading = read(tmp_path, "artifacts/val_step3.json", json.dumps(rows))
    assert len(reading.samples) == 1
    assert (reading.problems[0].line, reading.problems[0].kind) == (2, "malformed")


def test_texts_stay_texts(tmp_path: Path) -> None:
    text = '{"columns":["step","input_1","output_1","score_1"],"data":[[1,"<b>\\ud800\\u202e","{{x}}",1]]}'
    (sample,) = read(tmp_path, WANDB, text).samples
    assert (sample.input, sample.output) == ("<b>?‮", "{{x}}")


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (WANDB, '{"columns":["step","reward_counts"],"data":[[1,"0:3"]]}'),
        (SWANLAB, '{"_swanLab": "table", "colDefs": [{"field": "x"}], "rowData": [{"x": 1}]}'),
        (WANDB, '{"columns":["input","output","other"],"data":[]}'),  # questions and answers of a data set
    ],
)
def test_a_table_without_samples_is_told_as_not_read(tmp_path: Path, path: str, content: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(content)
    assert ingest.sniff(Source(path, file)) is trackers


def test_a_wide_table_is_known_by_its_first_columns(tmp_path: Path) -> None:
    """A head of 64 KB does not hold all columns of a thousand long names."""
    columns = ["step", *(f"{name}_{i}" for i in range(1, 4000) for name in ("input", "output", "score"))]
    row = [5, *(cell for i in range(1, 4000) for cell in (f"q{i}", f"a{i}", i))]
    reading = read(tmp_path, WANDB, json.dumps({"columns": columns, "data": [row]}))
    assert len(reading.samples) == 3999
    assert reading.samples[-1].output == "a3999"


def test_shapes() -> None:
    assert shape(["step", "reward_counts"]) is None
    assert shape(["input_1", "output_1"]) is None
    assert shape(["step", "input_1", "output_2"]) is None
    found = shape(WIDE)
    assert found is not None and len(found.samples) == 2
