"""Traces in the archive: whose they are, every span, what they count to, without secrets, bounded."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sitegen import archive
from sitegen.model import Traced
from tests.archive.conftest import Made, curve
from tests.ingest.mlflow import Kept, database
from tests.ingest.test_trackio import operation, project, traced
from tests.ingest.test_weave_calls import call
from tests.ingest.traced import Rollout, Spoken, add, artifact, turn, whole

SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"


def store(made: Made, *traces: Rollout, path: str = "agent/mlruns.db", runs: tuple[Kept, ...] = ()) -> None:
    connection = database(made.runs / path, *runs)
    add(connection, *traces)
    connection.close()


def spans(made: Made, run: str = "agent") -> list[dict[str, object]]:
    file = made.archive.traces(run)
    assert file is not None
    found: list[dict[str, object]] = pq.read_table(file).to_pylist()
    return found


def counted(made: Made, name: str) -> dict[int, float]:
    (run,) = made.ids()
    series = made.archive.series(run)[name]
    pairs = zip(series.steps.tolist(), series.values.tolist(), strict=True)
    return {step: value for step, value in pairs if value == value}


def test_tool_calls_are_counted_by_step_and_tool(made: Made) -> None:
    store(
        made,
        whole("tr-1", [*turn(2), *turn(4, "boom"), *turn(6, tool="Search")], step=1),
        whole("tr-2", turn(2), step=2),
        whole("tr-3", turn(2, "boom"), step=2, validate=True),
    )
    assert counted(made, "traces/tool_calls") == {1: 3, 2: 1}
    assert counted(made, "traces/tool_success_rate") == {1: pytest.approx(2 / 3), 2: 1}
    assert counted(made, "traces/tool/CalcTool/success_rate") == {1: 0.5, 2: 1}
    assert counted(made, "traces/tool/Search/calls") == {1: 1}
    assert counted(made, "traces/tool_time_s") == {1: pytest.approx(0.6), 2: pytest.approx(0.2)}
    assert counted(made, "traces/val/tool_success_rate") == {2: 0}
    assert made.run().traces == (Traced(3, 13, 5, 2, 1, 2),)


def test_an_export_of_weave_joins_the_run_that_its_calls_name(made: Made) -> None:
    config = "{'trainer': {'project_name': 'p', 'experiment_name': 'agent'}}"
    made.console("agent/train.log", [config, *curve(1, 6)])
    lines = [
        call("c1"),
        call("c2", "CalcTool.execute", "c1"),
        call("c3", "CalcTool.execute", "c1", exception="boom"),
    ]
    made.file("agent/weave.jsonl", "".join(json.dumps(each) + "\n" for each in lines))
    assert made.run().traces == (Traced(1, 3, 2, 1, 3, 3),)
    assert made.run().formats == ("console", "weave")
    assert counted(made, "traces/tool_success_rate") == {3: 0.5}


def test_a_tracer_without_times_counts_no_seconds(made: Made) -> None:
    connection = project(made.runs / "p.db", {"a": [(step, values) for step, values in curve(1, 6)]})
    traced(connection, *map(operation, ("Server.generate", "CalcTool.execute", "ToolAgentLoop.run")))
    connection.close()
    assert counted(made, "traces/tool_calls") == {3: 1}
    assert not [name for name in made.archive.series(made.run().id) if name.endswith("time_s")]
    assert made.run().sources[0].records == 6


def test_a_call_without_an_end_is_neither_success_nor_failure(made: Made) -> None:
    store(made, whole("tr-1", [*turn(2), Spoken("CalcTool.execute", 9, 1, seconds=None)]))
    assert counted(made, "traces/tool_success_rate") == {1: 1}
    assert counted(made, "traces/tool_calls") == {1: 2}


def test_traces_and_values_of_one_run_are_one_run(made: Made) -> None:
    values = [(step, {"critic/score/mean": 0.1 * step}) for step in range(1, 6)]
    store(made, whole("tr-1", turn(2), step=3), runs=(Kept("r1", "grpo", values),))
    run = made.run()
    assert (run.id, run.steps, len(run.segments)) == ("agent", 5, 1)
    assert counted(made, "traces/tool_calls") == {3: 1}
    assert [each.records for each in run.sources] == [5, 3]


def test_traces_join_the_log_in_their_folder(made: Made) -> None:
    made.console("agent/train.log", [(step, {"critic/score/mean": 0.01 * step}) for step in range(1, 9)])
    store(made, whole("tr-1", turn(2), step=3))
    assert made.run().steps == 8


def test_each_run_of_a_database_has_its_own_traces(made: Made) -> None:
    one, two = (Kept(f"r{i}", f"n{i}", [(1, {"x": 0.25 * i}), (2, {"x": 0.5})]) for i in (1, 2))
    traces = (whole(f"tr-{i}", turn(2), experiment=f"n{i}") for i in (1, 2))
    store(made, *traces, runs=(one, two))
    assert [spans(made, run)[0]["trace"] for run in made.ids()] == ["tr-1", "tr-2"]


def test_a_trace_that_two_sources_hold_is_kept_once(made: Made) -> None:
    trace = whole("tr-1", turn(2))
    made.file("agent/run.toml", 'title = "one run"\n')
    store(made, trace)
    artifact(made.runs / "agent" / "exported" / "1", trace)
    assert [each.records for each in made.run().sources] == [3, 3]
    assert len(spans(made)) == 3
    assert counted(made, "traces/tool_calls") == {1: 1}


def test_the_artifacts_of_a_database_are_no_run(made: Made) -> None:
    trace = whole("tr-1", turn(2))
    store(made, trace)
    artifact(made.runs / "agent" / "mlruns" / "1", trace)
    assert made.ids() == ["agent"]
    assert len(spans(made)) == 3


def test_secrets_are_taken_out_of_every_text(made: Made) -> None:
    spoken = Spoken(
        "T.execute", 2, 1, inputs={"api_key": SECRET}, outputs=f"token {SECRET}", error=f"bad {SECRET}"
    )
    store(made, whole("tr-1", [spoken]))
    (problem,) = (each for each in made.run().problems if each.kind == "redacted")
    assert "openai-key" in problem.message
    assert SECRET not in str(spans(made))


def test_the_same_traces_give_the_same_bytes(made: Made) -> None:
    store(made, whole("tr-1", turn(2)), whole("tr-2", turn(2, "boom")))
    made.update()
    file = made.archive.traces("agent")
    assert file is not None
    before = file.read_bytes()
    archive.update(made.runs, made.home.with_name("again"))
    assert (made.home.with_name("again") / "archive/agent/traces.parquet").read_bytes() == before


def test_a_traces_file_that_was_damaged_is_made_again(made: Made) -> None:
    store(made, whole("tr-1", turn(2)))
    made.update()
    file = made.archive.traces("agent")
    assert file is not None
    file.write_bytes(b"")
    (made.runs / "agent" / "mlruns.db").touch()
    made.update()
    assert len(spans(made)) == 3


_MEASURED = """
import resource, sys
from pathlib import Path
from sitegen import archive
import sitegen.archive.build, sitegen.ingest
start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
archive.update(Path(sys.argv[1]), Path(sys.argv[2]), jobs=1)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start) >> 10)
"""


def test_a_hundred_thousand_spans_are_read_in_bounded_memory(made: Made) -> None:
    text = {"prompt_ids": list(range(150))}
    turns = [Spoken("Server.generate", 2 + at, 1, at, 0.5, text, text) for at in range(99)]
    store(made, *(whole(f"tr-{n:04}", turns, step=n // 10) for n in range(1000)))
    asked = [sys.executable, "-c", _MEASURED, str(made.runs), str(made.home)]
    used = int(subprocess.run(asked, check=True, capture_output=True, text=True).stdout)
    assert made.archive.run("agent").traces[0].spans == 100_000
    assert used < 200  # MB; the database has 150


@pytest.mark.corpus
def test_the_traces_of_verl_are_read(made: Made, corpus: Path) -> None:
    archive.update(corpus / "trackers" / "mlflow_traces", made.home)
    (run,) = made.archive.runs()
    found = made.archive.run(run)
    assert found.traces == (Traced(4, 25, 5, 1, 1, 2),)
    assert (found.project, found.experiment) == ("demo_proj", "qwen2.5-7b-grpo_1")
    failed = [span for span in spans(made, run) if span["status"] == "error"]
    assert [(span["tool"], span["step"]) for span in failed] == [("CalcTool", 2)]
    assert "tool exploded" in str(failed[0]["error"])
    assert made.archive.series(run)["traces/tool_success_rate"].values.tolist() == pytest.approx([1, 2 / 3])
