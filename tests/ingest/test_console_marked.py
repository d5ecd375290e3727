"""Console lines marked [METRIC] and [INFO]: what is a record, and what is told of one that is none."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from sitegen.errors import Problem
from sitegen.ingest import console
from sitegen.ingest.source import Source

FIRST = '[METRIC] {"step": 1, "reward": 0.5}'


def read(tmp_path: Path, *lines: str) -> tuple[list[tuple[int, dict[str, float]]], list[Problem]]:
    """(step, finite values) of records in order, and problems."""
    file = tmp_path / "train.log"
    file.write_text("\n".join((FIRST, *lines)) + "\n", encoding="utf-8")
    records: list[tuple[int, dict[str, float]]] = []
    problems: list[Problem] = []
    for batch in console.read(Source("train.log", file)):
        problems += batch.problems
        for row, step in enumerate(batch.rows.steps.tolist() if batch.rows is not None else ()):
            columns = batch.rows.columns if batch.rows is not None else {}
            values = {name: float(column[row]) for name, column in columns.items()}
            records.append((step, {name: value for name, value in values.items() if not math.isnan(value)}))
    return records[1:], problems


@pytest.mark.parametrize(
    ("step", "says"),
    [
        ("1e30", "step out of range: 1e+30 is no whole number from -1 to 2^53"),
        ("-3", "step out of range: -3"),
        ("NaN", "the step is 'nan', no whole number"),
        ("2.5", "the step is '2.5', no whole number"),
        ('"last"', "the step is 'last', no whole number"),
        ("1" + "0" * 400, "step out of range: 1000"),
    ],
)
def test_a_metric_line_whose_step_is_none_is_a_problem_with_its_line(
    tmp_path: Path, step: str, says: str
) -> None:
    records, (problem,) = read(tmp_path, f'[METRIC] {{"step": {step}, "reward": 0.7}}')
    assert records == []
    assert (problem.path, problem.line, problem.kind) == ("train.log", 2, "malformed")
    assert says in problem.message


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('[METRIC] {"step": 2, "reward": 0.', "it is not JSON"),
        ('[METRIC] {"reward": 0.7}', "there is no whole number from -1 to 2^53 under any of step"),
        ("[INFO] step 1e30 | reward=0.5 kl=0.3", "step out of range: 1e+30"),
        ("[INFO] step -3 | reward=0.5 kl=0.3", "step out of range: -3"),
        ("[INFO] step 2.5 | reward=0.5 kl=0.3", "the step is '2.5'"),
    ],
)
def test_a_marked_line_that_should_be_a_record_and_is_none_is_told(
    tmp_path: Path, line: str, says: str
) -> None:
    records, (problem,) = read(tmp_path, line)
    assert (records, problem.line) == ([], 2)
    assert says in problem.message


@pytest.mark.parametrize(
    "line", ["[INFO] step 1e30 of the plan", "[INFO] step-3 prompts", "[METRIC] flushing", "[INFO] started"]
)
def test_a_marked_line_of_prose_is_no_problem(tmp_path: Path, line: str) -> None:
    assert read(tmp_path, line) == ([], [])


def test_a_step_that_spells_a_whole_number_is_one(tmp_path: Path) -> None:
    records, problems = read(
        tmp_path, '[METRIC] {"step": 2.0, "reward": 0.7}', "[INFO] step 3 | reward=0.5 kl=0.3"
    )
    assert records == [(2, {"reward": 0.7}), (3, {"reward": 0.5, "kl": 0.3})]
    assert problems == []


def test_what_a_metric_line_holds_inside_an_object_is_kept(tmp_path: Path) -> None:
    records, problems = read(tmp_path, '[METRIC] {"step": 2, "timing": {"gen": 3.5, "update": 1.5}}')
    assert records == [(2, {"timing/gen": 3.5, "timing/update": 1.5})]
    assert problems == []


def test_values_that_are_no_numbers_are_told_once_per_name(tmp_path: Path) -> None:
    records, (first, second) = read(
        tmp_path,
        '[METRIC] {"step": 2, "reward": 0.7, "phase": "warm", "kl": null}',
        '[METRIC] {"step": 3, "reward": 0.8, "phase": "hot"}',
        '[METRIC] {"step": 4, "reward": 0.9, "tags": ["a"]}',
    )
    assert [values for _, values in records] == [{"reward": 0.7}, {"reward": 0.8}, {"reward": 0.9}]
    assert (first.line, first.kind, second.line) == (2, "not-a-number", 4)
    assert "phase (str), kl (null)" in first.message and "tags (list)" in second.message


def test_a_name_that_stands_twice_in_a_metric_line_is_told(tmp_path: Path) -> None:
    records, (problem,) = read(
        tmp_path, '[METRIC] {"step": 2, "kl": 0.1, "kl": 0.3}', '[METRIC] {"step": 3, "kl": 0.1, "kl": 0.3}'
    )
    assert [values["kl"] for _, values in records] == [0.3, 0.3]
    assert (problem.line, problem.kind) == (2, "repeat")
    assert problem.message.startswith("kl stands twice in one record")


def test_a_number_beyond_all_doubles_is_infinite(tmp_path: Path) -> None:
    records, problems = read(tmp_path, f'[METRIC] {{"step": 2, "reward": 0.7, "x": 1{"0" * 400}}}')
    assert (records, problems) == ([(2, {"reward": 0.7})], [])


def test_a_time_stamp_beyond_all_doubles_is_none(tmp_path: Path) -> None:
    records, _ = read(tmp_path, f'[METRIC] {{"step": 2, "reward": 0.7, "ts": 1{"0" * 400}}}')
    assert records == [(2, {"reward": 0.7})]
