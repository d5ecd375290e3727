"""Traces of MLflow: spans of a database and of a file store, in both layouts, whole and damaged."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from sitegen.errors import Problem
from sitegen.ingest import mlflow_db, mlflow_tracefiles
from sitegen.ingest.source import Member, Source
from sitegen.ingest.tracespans import About, made
from sitegen.model import TraceSpan
from tests.ingest.mlflow import Kept, database
from tests.ingest.traced import START, Rollout, Spoken, add, artifact, hexed, nano, turn, whole


def parts(file: Path) -> list[str]:
    return [each.name for each in mlflow_db.parts(Source("mlruns.db", file))]


def read(file: Path, part: str, *members: Path) -> tuple[list[TraceSpan], list[Problem]]:
    """Spans and problems of a part; `members` lie beside the database."""
    beside = tuple(Member(str(each.relative_to(file.parent)), each, each.stat().st_size) for each in members)
    spans: list[TraceSpan] = []
    problems: list[Problem] = []
    for batch in mlflow_db.read(Source(f"mlruns.db#{part}", file, None, part, beside)):
        spans += batch.spans
        problems += batch.problems
    return spans, problems


def traced(file: Path, *traces: Rollout, runs: tuple[Kept, ...] = (), **how: bool) -> Path:
    connection = database(file, *runs)
    add(connection, *traces, **how)  # type: ignore[arg-type]
    connection.close()
    return file


def test_a_span_says_what_verl_says_of_its_trajectory(tmp_path: Path) -> None:
    file = traced(tmp_path / "db", whole("tr-1", turn(2), step=7, sample=3, rollout=1))
    assert parts(file) == ["traces-1-grpo"]
    (root, spoken, called), problems = read(file, "traces-1-grpo")
    assert (root.kind, spoken.kind, called.kind) == ("agent", "llm", "tool")
    assert (called.trace, called.step, called.sample, called.rollout) == ("tr-1", 7, 3, 1)
    assert (called.span, called.parent, called.tool) == (hexed(3), hexed(1), "CalcTool")
    assert (called.start_s, called.duration_s) == (START + 1.0, pytest.approx(0.2))
    assert called.arguments == '{"parameters": {"expr": "2+2"}}'
    assert called.status == "ok" and not problems


def test_a_call_that_raised_says_why(tmp_path: Path) -> None:
    file = traced(tmp_path / "db", whole("tr-1", turn(2, "RuntimeError: boom")))
    *_, called = read(file, "traces-1-grpo")[0]
    assert (called.status, called.error, called.result) == ("error", "RuntimeError: boom", "")


def test_a_span_without_an_end_is_open_and_has_no_duration(tmp_path: Path) -> None:
    file = traced(tmp_path / "db", Rollout("tr-1", [Spoken("X.execute", 1, seconds=None)]))
    ((span,), _) = read(file, "traces-1-grpo")
    assert (span.status, span.duration_s) == ("open", None)


def test_traces_are_called_as_the_run_that_was_open_when_they_were_made(tmp_path: Path) -> None:
    mine = whole("tr-1", turn(2), experiment="other", metadata={"mlflow.sourceRun": "r1"})
    file = traced(tmp_path / "db", mine, runs=(Kept("r1", "mine", [(1, {"x": 1.0})]),))
    assert [each.called for each in mlflow_db.parts(Source("db", file))] == ["math/mine", "math/mine"]


def test_traces_without_a_name_belong_to_the_only_run_of_their_experiment(tmp_path: Path) -> None:
    file = traced(
        tmp_path / "db", whole("tr-1", turn(2), experiment=""), runs=(Kept("r1", "mine", [(1, {"x": 1.0})]),)
    )
    assert parts(file) == ["r1", "traces-1-mine"]


def test_a_span_that_is_no_json_keeps_its_name_and_time(tmp_path: Path) -> None:
    file = traced(tmp_path / "db", whole("tr-1", turn(2)))
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE spans SET content = '{\"name' WHERE name = 'CalcTool.execute'")
    connection.close()
    spans, problems = read(file, "traces-1-grpo")
    assert (spans[-1].tool, spans[-1].duration_s, spans[-1].arguments) == ("CalcTool", pytest.approx(0.2), "")
    assert [each.kind for each in problems] == ["malformed"]


def test_spans_whose_trace_is_not_listed_are_read_and_told(tmp_path: Path) -> None:
    file = traced(tmp_path / "db", whole("tr-1", turn(2)))
    with sqlite3.connect(file) as connection:
        connection.execute("DELETE FROM trace_info")
        connection.execute("DELETE FROM trace_tags")
    connection.close()
    spans, problems = read(file, *parts(file))
    assert len(spans) == 3 and spans[0].step is None
    assert [each.kind for each in problems] == ["orphan"]


def test_spans_that_a_database_keeps_in_files_are_read_from_there(tmp_path: Path) -> None:
    trace = whole("tr-1", turn(2), step=5)
    file = traced(tmp_path / "db", trace, whole("tr-2", ()), spans=False)
    spans, problems = read(file, "traces-1-grpo", artifact(tmp_path / "mlruns" / "1", trace))
    assert [(each.name, each.step) for each in spans][-1] == ("CalcTool.execute", 5)
    assert [each.message for each in problems] == ["1 traces have no spans here"]


def test_traces_beside_a_database_that_does_not_list_them_are_read_and_told(tmp_path: Path) -> None:
    """The database says which run of the experiment they are of where there is but one."""
    lost = whole("tr-9", turn(2), step=5)
    database(tmp_path / "db", Kept("r1", "grpo", [(1, {"x": 1.0})])).close()
    file = artifact(tmp_path / "mlruns" / "1", lost)
    member = Member(str(file.relative_to(tmp_path)), file, file.stat().st_size)
    found = mlflow_db.parts(Source("mlruns.db", tmp_path / "db", members=(member,)))
    assert [(part.name, part.called) for part in found] == [
        ("r1", "math/grpo"),
        ("traces-1-grpo", "math/grpo"),
    ]
    spans, problems = read(tmp_path / "db", "traces-1-grpo", file)
    assert [each.name for each in spans][-1] == "CalcTool.execute"
    assert {each.step for each in spans} == {None}
    assert [each.kind for each in problems] == ["orphan"]


def test_traces_of_another_store_beside_a_database_say_themselves_whose_they_are(tmp_path: Path) -> None:
    database(tmp_path / "db", Kept("r1", "mine", [(1, {"x": 1.0})])).close()
    artifact(tmp_path / "mlruns/593", whole("tr-9", turn(2), step=7, experiment="theirs"), tags=True)
    empty = tmp_path / "mlruns/593/traces/tr-8/trace_info.yaml"
    empty.parent.mkdir(parents=True)
    empty.write_text("trace_id: tr-8\n")
    members = sorted(each for each in tmp_path.glob("mlruns/**/*") if each.is_file())
    beside = tuple(Member(str(each.relative_to(tmp_path)), each, each.stat().st_size) for each in members)
    found = mlflow_db.parts(Source("mlruns.db", tmp_path / "db", members=beside))
    assert [each.called for each in found] == ["math/mine", "", "593/theirs"]
    spans, problems = read(tmp_path / "db", "traces-593-theirs", *members)
    assert {(each.trace, each.step) for each in spans} == {("tr-9", 7)} and not problems
    nothing, (first, second) = read(tmp_path / "db", "traces-593", *members)
    assert not nothing
    assert (first.kind, second.kind) == ("orphan", "missing")


def test_a_digest_changes_with_the_traces_only(tmp_path: Path) -> None:
    def digests(file: Path) -> list[str]:
        return [mlflow_db.digest(Source(f"db#{part}", file, None, part)) for part in parts(file)]

    runs = (Kept("r1", "grpo", [(1, {"x": 1.0})]),)
    before = digests(traced(tmp_path / "a", whole("tr-1", turn(2)), runs=runs))
    after = digests(traced(tmp_path / "b", whole("tr-1", turn(2, "failed")), runs=runs))
    assert before[0] == after[0] and before[1] != after[1]


def test_the_layout_of_mlflow_2_is_read() -> None:
    raw = {
        "name": "search",
        "context": {"span_id": "0xab", "trace_id": "0x1"},
        "parent_id": "0x1",
        "start_time": nano(0),
        "end_time": nano(2),
        "status_code": "ERROR",
        "status_message": "no such page",
        "attributes": {"mlflow.spanType": '"TOOL"', "mlflow.spanInputs": '"a text"'},
        "events": [{"name": "exception", "attributes": {"exception.type": "KeyError"}}],
    }
    span = made(About("tr-1", {"step": "4"}), raw)
    assert (span.span, span.parent, span.kind, span.tool) == (hexed(0xAB), hexed(1), "tool", "search")
    assert (span.status, span.error, span.duration_s) == ("error", "no such page\nKeyError", 2.0)
    assert (span.arguments, span.step) == ("a text", 4)


@pytest.mark.parametrize("odd", [None, 7, "x", [], {"attributes": []}, -1, 1e400, 2**70])
def test_odd_fields_raise_nothing(odd: object) -> None:
    names = ("name", "span_id", "parent_span_id", "start_time", "end_time", "status", "events", "attributes")
    for name in names:
        made(About("t"), {"name": "x", "span_id": "y", name: odd})


def files(store: Path) -> Source:
    """The traces of a file store as the archive hands them out."""
    every = sorted(each for each in store.rglob("*") if each.is_file())
    listed = [Member(str(each.relative_to(store)), each, each.stat().st_size) for each in every]
    return Source(listed[0].path, listed[0].file, listed[0].size, "", tuple(listed[1:]))


def of_files(source: Source) -> tuple[list[TraceSpan], list[Problem]]:
    batches = list(mlflow_tracefiles.read(source))
    return [span for each in batches for span in each.spans], [p for each in batches for p in each.problems]


def test_a_file_store_has_tags_in_files(tmp_path: Path) -> None:
    artifact(tmp_path, whole("tr-1", turn(2), step=3), tags=True)
    artifact(tmp_path, whole("tr-2", turn(2), step=4, experiment="ppo"), tags=True)
    source = files(tmp_path)
    assert [each.called for each in mlflow_tracefiles.parts(source)] == ["grpo", "ppo"]
    spans, problems = of_files(replace(source, path=f"{source.path}#ppo", part="ppo"))
    assert {(each.trace, each.step) for each in spans} == {("tr-2", 4)} and not problems


@pytest.mark.parametrize("cut", [0.3, 0.5, 0.9])
def test_of_a_torn_file_what_precedes_is_kept(tmp_path: Path, cut: float) -> None:
    file = artifact(tmp_path, whole("tr-1", [each for at in range(2, 40, 2) for each in turn(at)]))
    text = file.read_text()
    file.write_text(text[: int(len(text) * cut)])
    spans, problems = of_files(files(tmp_path))
    assert 0 < len(spans) < 39 and spans[0].name == "ToolAgentLoop.run"
    assert [each.kind for each in problems] == ["damaged"]


def test_damage_in_the_middle_costs_the_spans_it_hit(tmp_path: Path) -> None:
    file = artifact(tmp_path, whole("tr-1", [each for at in range(2, 40, 2) for each in turn(at)]))
    text = file.read_text()
    at = text.index('"name": "CalcTool.execute"')
    file.write_text(text[:at] + "\x00garbage" + text[at + 20 :])
    spans, problems = of_files(files(tmp_path))
    assert len(spans) == 38
    assert "1 spans are no JSON" in problems[0].message


@pytest.mark.parametrize(
    "text", ["{}", "[]", '{"spans": 3}', '{"spans": [', '{"spans": [1, null, {"a": 1}]}', "{" * 5000]
)
def test_a_file_without_spans_has_none(tmp_path: Path, text: str) -> None:
    file = artifact(tmp_path, whole("tr-1", ()))
    file.write_text(text)
    assert of_files(files(tmp_path))[0] == []


def test_an_exported_file_anywhere_is_a_trace(tmp_path: Path) -> None:
    content = json.dumps({"spans": [Spoken("X.execute", 1).content()]})
    (tmp_path / "export.json").write_text(content)
    assert mlflow_tracefiles.sniff("export.json", content.encode())
    ((span,), _) = of_files(Source("export.json", tmp_path / "export.json"))
    assert (span.trace, span.tool) == ("export", "X")
