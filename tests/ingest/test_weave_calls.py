"""Calls of W&B Weave, one per line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sitegen import ingest
from sitegen.ingest import weave_calls
from sitegen.ingest.source import Source
from sitegen.model import Batch, TraceSpan

ABOUT = {"step": 3, "sample_index": 7, "rollout_n": 1, "validate": False, "experiment_name": "agent"}


def call(
    id: str, name: str = "ToolAgentLoop.run", parent: str | None = None, **more: object
) -> dict[str, object]:
    """A call as the API streams it."""
    return {
        "id": id, "project_id": "team/math", "op_name": f"weave:///team/math/op/{name}:v0",
        "display_name": None, "trace_id": "t1", "parent_id": parent, "started_at": "2026-01-01T00:00:01.500Z",
        "ended_at": "2026-01-01T00:00:04Z", "exception": None, "inputs": {"x": 1}, "output": {"y": "4"},
        "attributes": {**ABOUT, "weave": {"client_version": "0.54.0"}}, "summary": {},
    } | more  # fmt: skip


def source(folder: Path, *calls: object, tail: str = "") -> Source:
    file = folder / "calls.jsonl"
    file.write_text("".join(f"{json.dumps(each)}\n" for each in calls) + tail)
    return Source("calls.jsonl", file, file.stat().st_size)


def read(folder: Path, *calls: object, tail: str = "") -> list[Batch]:
    return list(weave_calls.read(source(folder, *calls, tail=tail)))


def spans(folder: Path, *calls: object) -> list[TraceSpan]:
    return [each for batch in read(folder, *calls) for each in batch.spans]


def test_a_call_is_a_span_with_what_verl_says_of_it(tmp_path: Path) -> None:
    (one,) = spans(tmp_path, call("c1"))
    assert (one.trace, one.span, one.parent, one.name, one.kind) == (
        "t1",
        "c1",
        None,
        "ToolAgentLoop.run",
        "agent",
    )
    assert (one.step, one.sample, one.rollout, one.validation) == (3, 7, 1, False)
    assert (one.start_s, one.duration_s, one.status) == (1767225601.5, 2.5, "ok")
    assert (one.arguments, one.result, one.error) == ('{"x": 1}', '{"y": "4"}', "")
    assert one.attributes == {"experiment_name": "agent", "weave": {"client_version": "0.54.0"}}


def test_a_call_that_raised_and_one_without_an_end(tmp_path: Path) -> None:
    failed, lost = spans(
        tmp_path,
        call("c1", "CalcTool.execute", "c0", exception="RuntimeError: boom", output=None),
        call("c2", "Server.generate", "c0", ended_at=None, output=None),
    )
    assert (failed.tool, failed.status, failed.error) == ("CalcTool", "error", "RuntimeError: boom")
    assert (lost.kind, lost.status, lost.duration_s) == ("llm", "open", None)


def test_the_run_is_told_and_calls_of_others_are_not_read(tmp_path: Path) -> None:
    other = call("c2", attributes={**ABOUT, "experiment_name": "other"})
    batches = read(tmp_path, call("c1"), other, other)
    assert [each.span for batch in batches for each in batch.spans] == ["c1"]
    facts = {key: value for batch in batches for key, value in batch.facts.items()}
    assert facts == {"experiment": "agent", "title": "agent", "project": "math"}
    (problem,) = (each for batch in batches for each in batch.problems)
    assert problem.message == "calls of other experiments than agent were left out: 2 of other"


@pytest.mark.parametrize("tail", ['{"id": "c2", "op_na', "nonsense\n", "[1]\n"])
def test_what_is_no_call_is_told_and_the_others_are_read(tmp_path: Path, tail: str) -> None:
    batches = read(tmp_path, call("c1"), tail=tail)
    assert len([each for batch in batches for each in batch.spans]) == 1
    assert [each for batch in batches for each in batch.problems]


def test_it_is_found_by_content(tmp_path: Path) -> None:
    assert ingest.sniff(source(tmp_path, call("c1"))) is weave_calls
    assert ingest.sniff(source(tmp_path, call("c1", inputs={"x": "a" * 100_000}))) is weave_calls
    assert ingest.sniff(source(tmp_path, {"step": 1, "data": {"op_name": 1}})) is not weave_calls
