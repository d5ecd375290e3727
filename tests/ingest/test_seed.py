"""Flat METRIC records and [DEBUG] files."""

from __future__ import annotations

import math
from pathlib import Path
from types import ModuleType

import pytest

from sitegen import ingest
from sitegen.ingest import seed_debug, seed_metrics, trackers
from sitegen.ingest.source import Source


def read(form: ModuleType, text: str, tmp_path: Path):  # type: ignore[no-untyped-def]
    """(records as (step, time, values), problems) of a text."""
    file = tmp_path / "a.log"
    file.write_text(text, encoding="utf-8")
    records, problems = [], []
    for batch in form.read(Source("a.log", file)):
        problems += batch.problems
        if batch.rows is not None:
            for i, step in enumerate(batch.rows.steps.tolist()):
                time = float(batch.rows.times[i])
                values = {k: float(v[i]) for k, v in batch.rows.columns.items() if not math.isnan(v[i])}
                records.append((step, None if math.isnan(time) else time, values))
    return records, problems


def test_flat_records_keep_their_names(tmp_path: Path) -> None:
    text = '{"step": 1, "epoch": 0, "reward_mean": 0.5, "lr_actor": 1e-6}\n'
    records, problems = read(seed_metrics, text, tmp_path)
    assert records == [(1, None, {"epoch": 0.0, "reward_mean": 0.5, "lr_actor": 1e-6})]
    assert problems == []


def test_the_mark_before_the_object_is_skipped(tmp_path: Path) -> None:
    text = '[METRIC] {"step": 1, "a": 2}\n2026-01-05 10:00:00 [METRIC] {"step": 2, "a": 3}\n'
    records, problems = read(seed_metrics, text, tmp_path)
    assert records == [(1, None, {"a": 2.0}), (2, None, {"a": 3.0})]
    assert problems == []


@pytest.mark.parametrize(
    "key", ["global_step", "_step", "training/global_step", "iteration", "current_steps"]
)
def test_other_trainers_call_the_step_otherwise(tmp_path: Path, key: str) -> None:
    records, _ = read(seed_metrics, f'{{"{key}": 7, "loss": 0.5}}\n', tmp_path)
    assert records == [(7, None, {"loss": 0.5})]


@pytest.mark.parametrize(
    "stamp", ["1767607200", "1767607200000", '"2026-01-05T10:00:00Z"', '"2026-01-05T12:00:00+02:00"']
)
def test_time_stamps_become_unix_seconds(tmp_path: Path, stamp: str) -> None:
    records, _ = read(seed_metrics, f'{{"step": 1, "timestamp": {stamp}, "a": 1}}\n', tmp_path)
    assert records == [(1, 1767607200.0, {"a": 1.0})]


def test_a_metric_called_time_stays_a_metric(tmp_path: Path) -> None:
    records, _ = read(seed_metrics, '{"step": 1, "time": 3.5}\n', tmp_path)
    assert records == [(1, None, {"time": 3.5})]


def test_a_record_without_a_step_is_a_problem(tmp_path: Path) -> None:
    records, problems = read(seed_metrics, '{"step": 1, "a": 1}\n{"epoch": 1, "a": 1}\n', tmp_path)
    assert len(records) == 1
    assert [(p.kind, p.line) for p in problems] == [("malformed", 2)]


@pytest.mark.parametrize(
    ("line", "step", "values"),
    [
        ("[DEBUG] step=100 grad_norm=0.42 reward_std=0.31", 100, {"grad_norm": 0.42, "reward_std": 0.31}),
        ("[DEBUG] step: 100, grad_norm: 4.2e-1; std: .31", 100, {"grad_norm": 0.42, "std": 0.31}),
        ("[DEBUG] step 100 response min=9 max=64", 100, {"response/min": 9, "response/max": 64}),
        ("[DEBUG] step=3 len min=9 grad_norm=0.5", 3, {"len/min": 9, "grad_norm": 0.5}),
        ("[DEBUG] step=3 timing: gen=3.2 update=1.5", 3, {"timing/gen": 3.2, "timing/update": 1.5}),
        ("[DEBUG] step=3 the gradient was clipped grad_norm=3.0", 3, {"grad_norm": 3.0}),
        ('[DEBUG] {"step": 3, "grad_norm": 3.0}', 3, {"grad_norm": 3.0}),
        ("[DEBUG] step=3 file=run_3.log version=1.2.3 share=40% n=4", 3, {"n": 4}),
    ],
)  # fmt: skip
def test_debug_pairs(tmp_path: Path, line: str, step: int, values: dict[str, float]) -> None:
    records, problems = read(seed_debug, line + "\n", tmp_path)
    assert records == [(step, None, values)]
    assert problems == []


@pytest.mark.parametrize(
    "line", ["2026-01-05 10:00:00,500 [DEBUG] step=1 a=2", "[DEBUG] 2026-01-05 10:00:00.5 step 1 a=2"]
)
def test_debug_lines_carry_their_time(tmp_path: Path, line: str) -> None:
    records, _ = read(seed_debug, line, tmp_path)
    assert records == [(1, 1767607200.5, {"a": 2.0})]


def test_a_debug_line_without_step_belongs_to_the_last_one(tmp_path: Path) -> None:
    records, _ = read(seed_debug, "[DEBUG] step=5 a=1\n[DEBUG] b=2\n", tmp_path)
    assert records == [(5, None, {"a": 1.0}), (5, None, {"b": 2.0})]


def test_numbers_before_the_first_step_are_a_problem(tmp_path: Path) -> None:
    records, problems = read(seed_debug, "[DEBUG] a=1\n[DEBUG] step=5 a=2\n", tmp_path)
    assert [step for step, *_ in records] == [5]
    assert [(p.kind, p.line) for p in problems] == [("malformed", 1)]


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b'{"step": 1, "reward_mean": 0.5}\n', "seed-metrics"),
        (b'[METRIC] {"step": 1, "reward_mean": 0.5}\n', "seed-metrics"),
        (b"[DEBUG] step=1 grad_norm_actor=0.5\n", "seed-debug"),
        (b'{"step": 1, "data": {"a": 1}}\n', "filelogger"),
        (b'{"input": "q", "output": "a", "score": 1.0, "step": 1}\n', "generations"),
        (b":W&B\xe1\xbe\x00", "wandb"),
        (b":SWL\xd6\xe1\x02", "swanlab"),
        (b"SQLite format 3\0\x10\x00", "tracker"),
        (b"\x48" + b"\0" * 7 + b"\xfe\x92\x48\x9d\x09" + b"\0" * 8 + b"\x1a\x0dbrain.Event:2", "tensorboard"),
    ],
)
def test_formats_are_told_apart_by_content(tmp_path: Path, head: bytes, name: str) -> None:
    file = tmp_path / "some.txt"
    file.write_bytes(head)
    form = ingest.sniff(Source("some.txt", file))
    assert form is not None and name == form.NAME


@pytest.mark.parametrize(
    "data", [b"", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"\x80\x04\x95pickle" * 50, b"\xff\xd8\xff\xe0JFIF"]
)
def test_what_is_no_log_is_claimed_by_nobody(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x").write_bytes(data)
    assert ingest.sniff(Source("x", tmp_path / "x")) is None


def test_a_tracker_says_honestly_that_it_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "other.db").write_bytes(b"SQLite format 3\0\x10\x00")
    (batch,) = trackers.read(Source("other.db", tmp_path / "other.db"))
    (problem,) = batch.problems
    assert batch.rows is None
    assert (problem.path, problem.kind) == ("other.db", "unsupported")
    assert "SQLite" in problem.message and "not read yet" in problem.message


def test_a_time_stamp_beyond_all_doubles_is_none(tmp_path: Path) -> None:
    records, _ = read(seed_metrics, f'{{"step": 1, "ts": 1{"0" * 400}, "a": 2}}\n', tmp_path)
    assert [(step, time, values["a"]) for step, time, values in records] == [(1, None, 2.0)]
