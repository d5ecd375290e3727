"""SwanLab's log and what lies beside it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from sitegen import ingest
from sitegen.ingest import swanlab
from sitegen.ingest.source import Member, Source
from tests.ingest import swan
from tests.ingest.reading import Reading, gathered


def found(folder: Path, data: bytes, beside: dict[str, str] | None = None) -> Reading:
    file = folder / "run-1.swanlab"
    file.write_bytes(data)
    members = []
    for name, text in (beside or {}).items():
        (folder / "files").mkdir(exist_ok=True)
        place = folder / "files" / name
        place.write_text(text)
        members.append(Member(f"r/files/{name}", place, place.stat().st_size))
    source = Source("r/run-1.swanlab", file, len(data), members=tuple(members))
    if data:
        assert ingest.sniff(source) is swanlab
    return gathered(swanlab.read(source))


RECORDS = {1: {"a/b": 0.5, "c": 0.0}, 2: {"a/b": 0.75, "c": -1.5}}


def test_values_of_one_step_are_one_record_and_an_absent_number_is_zero(tmp_path: Path) -> None:
    reading = found(tmp_path, swan.log(swan.steps(RECORDS)))
    assert reading.rows == list(RECORDS.items())
    assert reading.times == [1767225600.0] * 2
    assert reading.problems == []


def test_step_zero_and_what_is_not_finite(tmp_path: Path) -> None:
    values = [("a", math.nan), ("b", math.inf), ("c", -math.inf), ("d", 1e-300)]
    reading = found(tmp_path, swan.log(swan.scalar(0, name, value) for name, value in values))
    assert reading.rows == [(0, {"d": 1e-300})]
    assert sorted(reading.odd) == [(0, "a", "nan"), (0, "b", "inf"), (0, "c", "-inf")]


def test_facts_configuration_and_metadata(tmp_path: Path) -> None:
    config = (
        "trainer:\n  desc: ''\n  sort: 0\n  value:\n    nnodes: 1\n    logger:\n    - swanlab\n    d: null\n"
    )
    metadata = {
        "git": {"commit": "d" * 40, "remote_url": "https://host.example/r.git"},
        "runtime": {"python_version": "3.11.7", "command": "python main.py"},
        "hardware": {"accelerators": [{"devices": [{"name": "NVIDIA H100 80GB HBM3"}] * 8}]},
    }
    records = [swan.start("math", "grpo", "1"), *swan.steps(RECORDS), swan.finish(2, "boom")]
    beside = {"config.yaml": config, "swanlab-metadata.json": json.dumps(metadata)}
    reading = found(tmp_path, swan.log(records), beside)
    assert reading.config == {"trainer.nnodes": "1", "trainer.logger": "['swanlab']", "trainer.d": "None"}
    assert reading.facts == {
        "project": "math", "experiment": "grpo", "title": "grpo", "run_id": "1",
        "tracker_status": "CRASHED", "tracker_error": "boom", "commit": "d" * 40,
        "first_time": "1767225600.0", "last_time": "1767225660.0",
        "remote": "https://host.example/r.git", "python": "3.11.7", "command": "python main.py",
        "gpu": "H100", "gpus": "8",
    }  # fmt: skip


def test_lines_that_were_printed_are_looked_at_and_their_steps_are_not_logged_twice(tmp_path: Path) -> None:
    lines = ["step:1 - a/b:0.5", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"]
    reading = found(tmp_path, swan.log([*swan.steps(RECORDS), *map(swan.printed, lines)]))
    assert reading.rows == list(RECORDS.items())
    assert "cuda_oom" in [kind for _, kind, _ in reading.marks()]


def test_readings_of_the_machine_are_told(tmp_path: Path) -> None:
    records = [
        swan.column("gpu.0", True), swan.scalar(7, "gpu.0", 1.5), swan.scalar(9, "__swanlab__.cpu", 2.5),
        *swan.steps(RECORDS),
    ]  # fmt: skip
    reading = found(tmp_path, swan.log(records))
    assert reading.rows == list(RECORDS.items())
    assert reading.kinds == ["left-out"]


def test_a_log_without_values_is_told(tmp_path: Path) -> None:
    assert found(tmp_path, swan.HEADER).kinds == ["empty"]


def test_another_version_is_told_and_read_as_far_as_it_makes_sense(tmp_path: Path) -> None:
    reading = found(tmp_path, swan.log(swan.steps(RECORDS), b":SWL\xd6\xe1\x03"))
    assert reading.kinds == ["wrong-version"]
    assert reading.rows == list(RECORDS.items())


MANY = swan.log(swan.scalar(step, "a/b", step + 0.5) for step in range(3000))


@pytest.mark.parametrize("size", [0, 3, 7, 20, 40_000, len(MANY) - 3])
def test_a_torn_log_keeps_what_precedes_the_tear(tmp_path: Path, size: int) -> None:
    reading = found(tmp_path, MANY[:size])
    assert reading.rows == [(step, {"a/b": step + 0.5}) for step in range(len(reading.rows))]
    assert reading.problems
    assert len(reading.rows) > (2900 if size > 100_000 else 0) or size < 100


def test_a_flipped_bit_costs_its_record_and_is_told_with_its_place(tmp_path: Path) -> None:
    for place in range(7, len(MANY), len(MANY) // 23):
        reading = found(tmp_path, MANY[:place] + bytes([MANY[place] ^ 4]) + MANY[place + 1 :])
        assert "damaged" in reading.kinds or "truncated" in reading.kinds
        assert all(row == {"a/b": step + 0.5} for step, row in reading.rows)
        assert len(reading.rows) > 2000


def test_a_config_that_is_none_is_told_with_its_path(tmp_path: Path) -> None:
    bomb = "a: &x [1,1]\nb:\n  value: [*x,*x]\n"
    reading = found(tmp_path, swan.log(swan.steps(RECORDS)), {"config.yaml": bomb})
    assert [(p.kind, p.path) for p in reading.problems] == [("malformed", "r/files/config.yaml")]


OLD = b":SWL\xd6\xe1\x01"  # SwanLab before 0.8


def record(kind: str, **data: object) -> bytes:
    return json.dumps({"model_type": kind, "data": data}).encode() + b"\n"


def value(step: int, name: str, number: object) -> bytes:
    metric = {"index": step, "data": number, "create_time": f"2026-01-01T00:00:{step:02}+00:00"}
    return record("Scalar", metric=metric, key=name, step=step, epoch=1)


BETWEEN = "\n            \n            ---\n            \n            "
SPOKEN = f"\n            input: q{BETWEEN}output: a{BETWEEN}score: 0.5\n            "
OLD_LOG = [
    record("Header", backup_type="DEFAULT", create_time="2026-01-01T00:00:00+00:00"),
    record("Project", name="math", workspace=None),
    record("Experiment", id="abc", name="grpo", tags=[]),
    record("Log", message="torch.OutOfMemoryError: CUDA out of memory.", epoch=1, level="INFO"),
    record("Column", key="__swanlab__.cpu.pct", cls="SYSTEM"),
    value(1, "actor/lr", 0.1),
    value(1, "x", "NaN"),
    value(1, "__swanlab__.cpu.pct", 99.0),
    value(2, "actor/lr", 0.30000000000000004),
    record("Media", key="val/generations", step=2, buffers_name=None, metric={"data": [SPOKEN]}),
    record("Media", key="image", step=2, buffers_name=["x.png"], metric={"data": ["x.png"]}),
    record("Footer", success=False, create_time="2026-01-01T01:00:00+00:00"),
]


def test_a_log_of_version_1_is_read(tmp_path: Path) -> None:
    reading = found(tmp_path, swan.log(OLD_LOG, OLD))
    assert reading.rows == [(1, {"actor/lr": 0.1}), (2, {"actor/lr": 0.30000000000000004})]
    assert reading.odd == [(1, "x", "nan")]
    assert reading.times == [1767225601.0, 1767225602.0]
    assert [(s.kind, s.step, s.input, s.output, s.score) for s in reading.samples] == [
        ("validation", 2, "q", "a", 0.5)
    ]
    facts = {"project": "math", "experiment": "grpo", "run_id": "abc", "tracker_status": "CRASHED"}
    assert facts.items() <= reading.facts.items()
    assert [line.kind for line in reading.log] == ["cuda_oom"]
    assert reading.kinds == ["left-out", "unsupported"]


def test_a_log_of_version_1_that_is_torn_keeps_what_precedes_the_tear(tmp_path: Path) -> None:
    data = swan.log([*OLD_LOG, b"no json", value(3, "actor/lr", 0.5), value(4, "actor/lr", 0.7)], OLD)
    reading = found(tmp_path, data[:-20])
    assert reading.steps == [1, 2, 3]
    assert {"malformed", "truncated"} <= set(reading.kinds)
