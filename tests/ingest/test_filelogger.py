"""verl's FileLogger: what is kept, what becomes a problem, and at which line."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from sitegen.errors import Problem
from sitegen.ingest import filelogger, jsonfaults, jsonl, jsonrows
from sitegen.ingest.source import Source


class Read:
    """Everything a source yields, joined."""

    def __init__(self, data: bytes, tmp_path: Path) -> None:
        file = tmp_path / "run.jsonl"
        file.write_bytes(data)
        self.rows: list[tuple[int, int, dict[str, float]]] = []  # step, line, finite values
        self.non_finite: list[tuple[int, str, str]] = []  # step, name, raw
        self.cut: list[int] = []  # steps
        self.problems: list[Problem] = []
        for batch in filelogger.read(Source("run.jsonl", file)):
            self.problems += batch.problems
            if batch.rows is None:
                continue
            rows = batch.rows
            for i, (step, line) in enumerate(zip(rows.steps.tolist(), rows.lines.tolist(), strict=True)):
                values = {k: float(v[i]) for k, v in rows.columns.items() if not math.isnan(v[i])}
                self.rows.append((step, line, values))
            self.non_finite += [(int(rows.steps[n.row]), n.name, n.raw) for n in rows.non_finite]
            self.cut += [int(rows.steps[i]) for i in rows.cut]

    @property
    def kinds(self) -> list[tuple[str, int | None]]:
        return [(problem.kind, problem.line) for problem in self.problems]


def record(step: int, **data: object) -> bytes:
    return json.dumps({"step": step, "data": data}).encode() + b"\n"


def test_records_keep_step_line_and_values(tmp_path: Path) -> None:
    found = Read(record(1, a=0.5, b=2) + record(2, a=0.25, b=3), tmp_path)
    assert found.rows == [(1, 1, {"a": 0.5, "b": 2.0}), (2, 2, {"a": 0.25, "b": 3.0})]
    assert found.problems == []


def test_records_of_different_names_leave_gaps_not_zeros(tmp_path: Path) -> None:
    found = Read(record(1, a=1.0) + record(2, b=2.0) + record(3, b=4.0, a=3.0), tmp_path)
    assert found.rows == [(1, 1, {"a": 1.0}), (2, 2, {"b": 2.0}), (3, 3, {"a": 3.0, "b": 4.0})]


def test_names_in_another_order_go_to_their_own_columns(tmp_path: Path) -> None:
    found = Read(record(1, a=1.0, b=2.0) + record(2, b=20.0, a=10.0), tmp_path)
    assert found.rows[1] == (2, 2, {"a": 10.0, "b": 20.0})


def test_nan_and_infinity_tokens_are_told_apart(tmp_path: Path) -> None:
    data = b'{"step":1,"data":{"a":NaN,"b":Infinity,"c":-Infinity,"d":1.5}}\n'
    found = Read(data, tmp_path)
    assert found.rows == [(1, 1, {"d": 1.5})]
    assert sorted(found.non_finite) == [(1, "a", "nan"), (1, "b", "inf"), (1, "c", "-inf")]


def test_null_is_a_value_that_was_not_finite(tmp_path: Path) -> None:
    found = Read(record(17, a=None, b=1.0) + record(18, a=2.0, b=1.0), tmp_path)
    assert found.non_finite == [(17, "a", "null")]
    assert found.rows == [(17, 1, {"b": 1.0}), (18, 2, {"a": 2.0, "b": 1.0})]


def test_a_metric_that_is_always_null_is_not_lost(tmp_path: Path) -> None:
    found = Read(record(1, a=None) + record(2, a=None), tmp_path)
    assert found.non_finite == [(1, "a", "null"), (2, "a", "null")]
    assert [step for step, *_ in found.rows] == [1, 2]


def test_a_number_too_large_for_a_double_is_infinite(tmp_path: Path) -> None:
    found = Read(b'{"step":1,"data":{"a":' + b"9" * 400 + b',"b":1e999,"c":1}}\n', tmp_path)
    assert sorted(found.non_finite) == [(1, "a", "inf"), (1, "b", "inf")]


def test_booleans_and_integers_are_numbers(tmp_path: Path) -> None:
    found = Read(record(1, a=True, b=False, c=7), tmp_path)
    assert found.rows == [(1, 1, {"a": 1.0, "b": 0.0, "c": 7.0})]


def test_text_and_lists_are_counted_not_stored(tmp_path: Path) -> None:
    found = Read(record(1, a="1.5", b=[1, 2], c=1) + record(2, a="x", b=[3], c=2), tmp_path)
    assert [values for *_, values in found.rows] == [{"c": 1.0}, {"c": 2.0}]
    assert found.kinds == [("not-a-number", None)]
    assert "a (str, 2 records, first in line 1)" in found.problems[0].message


def test_text_that_spells_nan_is_nan(tmp_path: Path) -> None:
    assert Read(record(1, a="NaN", b="-Infinity"), tmp_path).non_finite == [(1, "a", "nan"), (1, "b", "-inf")]


def test_objects_are_flattened_with_a_slash(tmp_path: Path) -> None:
    found = Read(record(1, actor={"lr": 1e-6, "kl": {"mean": 0.5}}, b=1), tmp_path)
    assert found.rows == [(1, 1, {"actor/lr": 1e-6, "actor/kl/mean": 0.5, "b": 1.0})]


def test_a_repeated_key_keeps_its_last_value(tmp_path: Path) -> None:
    assert Read(b'{"step":1,"data":{"a":1,"a":2}}\n', tmp_path).rows == [(1, 1, {"a": 2.0})]


@pytest.mark.parametrize("more", [b"", b',"b":NaN'])
def test_a_repeated_key_is_told_once_per_file(tmp_path: Path, more: bytes) -> None:
    lines = [b'{"step":%d,"data":{"a":1,"a":2%s}}\n' % (step, more) for step in (2, 3)]
    found = Read(record(1, a=1.0) + b"".join(lines), tmp_path)
    assert found.kinds == [("repeat", 2)]
    assert "a stands twice" in found.problems[0].message


@pytest.mark.parametrize("data", [b'{"a":{"x":1},"b":{"x":2}}', b'{"a":"\\"k\\":1 \\"k\\":2","b":"x\\":"}'])
def test_one_name_in_two_objects_or_in_a_text_is_no_repeat(tmp_path: Path, data: bytes) -> None:
    found = Read(b'{"step":1,"data":' + data + b"}\n", tmp_path)
    assert "repeat" not in [kind for kind, _ in found.kinds]


def test_a_torn_last_line_keeps_the_pairs_before_the_tear(tmp_path: Path) -> None:
    found = Read(record(1, a=1.0, b=2.0) + b'{"step": 2, "data": {"a": 3.0, "b": 4', tmp_path)
    assert found.rows == [(1, 1, {"a": 1.0, "b": 2.0}), (2, 2, {"a": 3.0})]
    assert found.cut == [2]
    assert found.kinds == [("truncated", 2)]


def test_a_last_line_torn_in_its_first_pair_leaves_no_record(tmp_path: Path) -> None:
    found = Read(record(1, a=1.0) + b'{"step": 2, "data": {"a": 3.', tmp_path)
    assert [step for step, *_ in found.rows] == [1]
    assert found.kinds == [("truncated", 2)]


def test_a_whole_last_line_without_line_end_is_a_record(tmp_path: Path) -> None:
    found = Read(record(1, a=1.0) + record(2, a=2.0).rstrip(b"\n"), tmp_path)
    assert [step for step, *_ in found.rows] == [1, 2]
    assert found.problems == []


def test_a_record_written_behind_a_torn_one_is_found(tmp_path: Path) -> None:
    found = Read(b'{"step": 5, "data": {"a": 1.0, "b": 2' + record(6, a=3.0, b=4.0), tmp_path)
    assert found.rows == [(5, 1, {"a": 1.0}), (6, 1, {"a": 3.0, "b": 4.0})]
    assert found.kinds == [("truncated", 1)]


def test_bad_lines_are_problems_with_their_line(tmp_path: Path) -> None:
    data = record(1, a=1.0) + b"oops\n" + b'{"step": "x", "data": {}}\n' + b'{"step": 3}\n' + b"[1]\n"
    found = Read(data + record(4, a=2.0), tmp_path)
    assert [step for step, *_ in found.rows] == [1, 4]
    assert found.kinds == [("malformed", n) for n in (2, 3, 4, 5)]
    assert "step" in found.problems[1].message and "data" in found.problems[2].message


def test_a_million_bad_lines_are_a_few_problems(tmp_path: Path) -> None:
    found = Read(record(1, a=1.0) + b"junk\n" * 5000, tmp_path)
    assert len(found.problems) == jsonfaults.SHOWN + 1
    assert "4980 more lines" in found.problems[-1].message


def test_empty_lines_and_zero_bytes_are_nothing(tmp_path: Path) -> None:
    found = Read(b"\n" + record(1, a=1.0) + b"\r\n" + b"\0" * 100, tmp_path)
    assert [line for _, line, _ in found.rows] == [2]
    assert found.problems == []


def test_crlf_line_ends_are_read(tmp_path: Path) -> None:
    assert Read(record(1, a=1.0).replace(b"\n", b"\r\n") * 2, tmp_path).problems == []


def test_a_step_written_as_a_float_is_a_step(tmp_path: Path) -> None:
    assert Read(b'{"step":3.0,"data":{"a":1}}\n', tmp_path).rows == [(3, 1, {"a": 1.0})]


@pytest.mark.parametrize("step", [b"true", b"null", b"1.5", b'"one"', b"1e300"])
def test_what_is_no_whole_number_is_no_step(tmp_path: Path, step: bytes) -> None:
    found = Read(b'{"step":' + step + b',"data":{"a":1}}\n', tmp_path)
    assert found.rows == []
    assert found.kinds == [("malformed", 1)]


@pytest.mark.parametrize("step", [2**63, 2**53 + 1, -2, -(2**63)])
def test_a_step_that_no_training_reaches_is_a_bad_line(tmp_path: Path, step: int) -> None:
    found = Read(record(1, a=1.0) + record(step, a=2.0), tmp_path)
    assert [step for step, *_ in found.rows] == [1]
    assert found.kinds == [("malformed", 2)]
    assert "2^53" in found.problems[0].message


@pytest.mark.parametrize("step", [-1, 0, 2**53])
def test_steps_at_the_edge_are_kept(tmp_path: Path, step: int) -> None:
    assert [step for step, *_ in Read(record(step, a=1.0), tmp_path).rows] == [step]


def test_nesting_without_end_does_not_break_the_reader(tmp_path: Path) -> None:
    deep = b'{"step":1,"data":{"a":' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"}}\n"
    found = Read(deep + record(2, a=1.0), tmp_path)
    assert found.rows[-1] == (2, 2, {"a": 1.0})
    assert found.problems


def test_broken_unicode_escapes_become_text_that_can_be_stored(tmp_path: Path) -> None:
    found = Read(b'{"step":1,"data":{"a\\ud800":1.0}}\n', tmp_path)
    (name,) = found.rows[0][2]
    assert name.encode("utf-8").decode() == name


def test_a_line_too_long_to_hold_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "MAX_LINE", 100)
    found = Read(record(1, a=1.0) + b"x" * 5000 + b"\n" + record(2, a=2.0), tmp_path)
    assert [(step, line) for step, line, _ in found.rows] == [(1, 1), (2, 3)]
    assert found.kinds == [("too-long", 2)]


def test_chunks_are_bounded(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    file.write_bytes(
        b"".join(record(i, **{f"name/{j}": i * 0.37 + j for j in range(50)}) for i in range(8000))
    )
    sizes = [len(batch.rows.steps) for batch in filelogger.read(Source("run.jsonl", file)) if batch.rows]
    assert sum(sizes) == 8000 and len(sizes) >= 2


def test_names_without_end_are_cut_off_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonfaults, "MAX_NAMES", 30)
    monkeypatch.setattr(jsonrows, "CELLS", 100)
    found = Read(b"".join(record(i, score=i * 0.5, **{f"uid_{i}": 1.0}) for i in range(100)), tmp_path)
    assert [values["score"] for *_, values in found.rows] == [i * 0.5 for i in range(100)]
    assert len({name for *_, values in found.rows for name in values}) == 30
    assert found.kinds == [("too-many", None)]
    assert "at least 30 were left out" in found.problems[0].message


@pytest.mark.parametrize(
    ("head", "ours"),
    [
        (b'{"step":1,"data":{"a":1}}\n', True),
        (b'{"data":{"a":1},"step":1}\n', True),
        (b'{"step":1,"data":{"' + b"x" * 70000, True),
        (b'torn tail}}\n{"step":2,"data":{"a":1}}\n{"step":3,"data":{"a":1}}\n', True),
        (b'{"step":1,"reward_mean":0.5}\n', False),
        (b'{"input":"q","output":"a","score":1,"step":1}\n', False),
        (b"step:1 - actor/lr:0.1\n", False),
        (b"[2, 3]\n", False),
        (b"", False),
    ],
)
def test_sniff(head: bytes, ours: bool) -> None:
    assert filelogger.sniff("any", head) is ours


@pytest.mark.corpus
def test_the_real_file_is_read_value_for_value(corpus: Path) -> None:
    file = corpus / "trackers/file/demo_proj/qwen2.5-7b-grpo_1.jsonl"
    expected = [json.loads(line) for line in file.read_text().splitlines()]
    (batch,) = filelogger.read(Source("demo.jsonl", file))
    assert batch.rows is not None
    assert batch.rows.steps.tolist() == [each["step"] for each in expected]
    for i, each in enumerate(expected):
        finite = {name: value for name, value in each["data"].items() if value is not None}
        found = {name: c[i] for name, c in batch.rows.columns.items() if not np.isnan(c[i])}
        assert found == finite
    nulls = {(i, name) for i, each in enumerate(expected) for name, v in each["data"].items() if v is None}
    assert {(n.row, n.name) for n in batch.rows.non_finite} == nulls


def test_a_name_with_bytes_that_are_no_text_is_told(tmp_path: Path) -> None:
    read = Read(b'{"step":1,"data":{"critic/re\xf7ards":0.5,"a":1.5}}\n', tmp_path)
    assert read.rows == [(1, 1, {"critic/re\ufffdards": 0.5, "a": 1.5})]
    assert [each.kind for each in read.problems] == ["damaged"]
