"""Trackio's database."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from sitegen.ingest import trackio
from sitegen.ingest.source import Source
from sitegen.model import TraceSpan
from tests.ingest.reading import Reading, gathered

SCHEMA = """
CREATE TABLE metrics (
    id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, timestamp TEXT NOT NULL,
    run_name TEXT NOT NULL, step INTEGER NOT NULL, metrics TEXT NOT NULL);
CREATE TABLE configs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, run_name TEXT NOT NULL,
    config TEXT NOT NULL, created_at TEXT NOT NULL, UNIQUE(run_id));
CREATE INDEX idx_metrics_run_step ON metrics(run_id, step);
"""
TIME = "2026-01-01T00:00:0{}+00:00"


def project(file: Path, runs: Mapping[str, list[tuple[int, object]]]) -> sqlite3.Connection:
    """A database with runs of (step, values or text); runs are called by their id in capitals."""
    connection = sqlite3.connect(file)
    connection.executescript(SCHEMA)
    for run, records in runs.items():
        for i, (step, values) in enumerate(records):
            text = values if isinstance(values, (str, bytes)) else json.dumps(values).encode()
            row = (run, TIME.format(i % 10), run.upper(), step, text)
            connection.execute(
                "INSERT INTO metrics (run_id, timestamp, run_name, step, metrics) VALUES (?, ?, ?, ?, ?)", row
            )
    connection.commit()
    return connection


def source(file: Path, part: str = "") -> Source:
    whole = Source(file.name, file, file.stat().st_size)
    return replace(whole, path=f"{file.name}#{part}", part=part) if part else whole


def found(file: Path, part: str = "a") -> Reading:
    return gathered(trackio.read(source(file, part)))


def test_records_come_in_the_order_in_which_they_were_logged(tmp_path: Path) -> None:
    records = [(s, {"loss": s + 0.5}) for s in (1, 2, 3, 2, 3)]
    project(tmp_path / "math.db", {"a": records}).close()
    reading = found(tmp_path / "math.db")
    assert reading.rows == records
    assert reading.times == [1767225600.0 + i for i in range(5)]


def test_what_is_not_finite_is_spelled_out_in_the_json(tmp_path: Path) -> None:
    values = {"a": "NaN", "b": "Infinity", "c": "-Infinity", "d": 1}
    project(tmp_path / "math.db", {"a": [(3, values)]}).close()
    reading = found(tmp_path / "math.db")
    assert sorted(reading.odd) == [(3, "a", "nan"), (3, "b", "inf"), (3, "c", "-inf")]
    assert reading.rows == [(3, {"d": 1.0})]


def test_configuration_and_facts(tmp_path: Path) -> None:
    connection = project(tmp_path / "math.db", {"a": [(1, {"x": 1})]})
    config = {"trainer": {"nnodes": 1, "logger": ["trackio"]}, "data": {"dir": None}, "_Username": "ann"}
    connection.execute(
        "INSERT INTO configs (run_id, run_name, config, created_at) VALUES ('a', 'A', ?, '')",
        (json.dumps(config),),
    )
    connection.commit()
    connection.close()
    reading = found(tmp_path / "math.db")
    assert reading.config == {"trainer.nnodes": "1", "trainer.logger": "['trackio']", "data.dir": "None"}
    assert reading.facts == {
        "user": "ann", "title": "A", "experiment": "A", "project": "math", "run_id": "a"
    }  # fmt: skip


def test_each_run_is_a_part_the_oldest_first(tmp_path: Path) -> None:
    project(tmp_path / "math.db", {"b": [(1, {"x": 1})], "a": [(1, {"x": 2})]}).close()
    assert [(part.name, part.called) for part in trackio.parts(source(tmp_path / "math.db"))] == [
        ("b", "math/B"),
        ("a", "math/A"),
    ]
    assert found(tmp_path / "math.db", "b").rows == [(1, {"x": 1.0})]


def test_old_versions_know_a_run_by_its_name(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "math.db")
    connection.executescript(
        "CREATE TABLE metrics (id INTEGER PRIMARY KEY, timestamp TEXT, run_name TEXT, step INT, metrics);"
        "INSERT INTO metrics VALUES (1, '2026-01-01T00:00:00', 'my/run', 1, '{\"x\": 0.5}');"
        "CREATE TABLE configs (id INTEGER PRIMARY KEY, run_name TEXT, config TEXT);"
        "INSERT INTO configs VALUES (1, 'my/run', '{\"lr\": 1e-06}');"
    )
    connection.close()
    (part,) = trackio.parts(source(tmp_path / "math.db"))
    reading = found(tmp_path / "math.db", part.name)
    assert (reading.rows, reading.config) == ([(1, {"x": 0.5})], {"lr": "1e-06"})
    assert reading.times == [1767225600.0]


def test_rows_that_are_no_record_are_told_and_the_others_kept(tmp_path: Path) -> None:
    project(
        tmp_path / "math.db",
        {"a": [(1, {"x": 1}), (2, '{"x": 2'), (3, "[3]"), (4, {"x": "text"}), (5, {"x": 5})]},
    ).close()
    reading = found(tmp_path / "math.db")
    assert [row for row in reading.rows if row[1]] == [(1, {"x": 1.0}), (5, {"x": 5.0})]
    assert sorted(reading.kinds) == ["malformed", "not-a-number", "truncated"]


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_a_torn_database_keeps_what_precedes_the_damage(tmp_path: Path, share: float) -> None:
    records = [(s, {"loss": s + 0.5}) for s in range(1, 900)]
    project(tmp_path / "math.db", {"a": records}).close()
    data = (tmp_path / "math.db").read_bytes()
    (tmp_path / "math.db").write_bytes(data[: int(len(data) * share)])
    asked = source(tmp_path / "math.db", "a")
    reading = gathered(trackio.read(asked))
    assert {problem.kind for problem in (*reading.problems, *asked.notes)} & {"truncated", "damaged"}
    assert reading.rows == records[: len(reading.rows)]


def test_flipped_bytes_never_raise(tmp_path: Path) -> None:
    project(tmp_path / "math.db", {"a": [(s, {"loss": s + 0.5}) for s in range(1, 400)]}).close()
    data = (tmp_path / "math.db").read_bytes()
    for place in range(7, len(data), len(data) // 40):
        (tmp_path / "math.db").write_bytes(data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
        trackio.parts(source(tmp_path / "math.db"))
        trackio.holds(source(tmp_path / "math.db"))
        found(tmp_path / "math.db")


def test_what_lies_in_the_write_ahead_log_only_is_read(tmp_path: Path) -> None:
    from sitegen.ingest.source import Member

    connection = sqlite3.connect(tmp_path / "math.db")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    writer = project(tmp_path / "math.db", {"a": [(1, {"x": 0.5})]})
    log = tmp_path / "math.db-wal"
    asked = replace(
        source(tmp_path / "math.db", "a"), members=(Member("math.db-wal", log, log.stat().st_size),)
    )
    assert trackio.holds(asked)
    assert gathered(trackio.read(asked)).rows == [(1, {"x": 0.5})]
    writer.close()


TRACES = """
CREATE TABLE traces (
    id TEXT PRIMARY KEY, run_id TEXT NOT NULL, timestamp TEXT NOT NULL, run_name TEXT NOT NULL,
    step INTEGER NOT NULL, key TEXT NOT NULL, trace_index INTEGER, messages TEXT NOT NULL,
    metadata TEXT NOT NULL);
"""


def test_validation_samples_are_in_the_table_of_traces(tmp_path: Path) -> None:
    connection = project(tmp_path / "math.db", {"a": [(1, {"x": 1.0})], "b": [(1, {"x": 2.0})]})
    connection.executescript(TRACES)
    for i, (run, index, score) in enumerate([("a", 1, 0.0), ("a", 0, 1.0), ("b", 0, 0.5), ("a", 2, None)]):
        spoken = [{"role": "user", "content": f"q{index}"}, {"role": "assistant", "content": f"a{index}"}]
        about = {"source": "validation_generations" if score is not None else "agent", "score": score}
        row = (str(i), run, TIME.format(1), run, 10, "val/generations", index, json.dumps(spoken))
        connection.execute("INSERT INTO traces VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, json.dumps(about)))
    connection.commit()
    reading = found(tmp_path / "math.db")
    assert [(s.step, s.input, s.output, s.score) for s in reading.samples] == [
        (10, "q0", "a0", 1.0), (10, "q1", "a1", 0.0),
    ]  # fmt: skip
    assert reading.kinds == ["unsupported"]
    before = (
        trackio.digest(source(tmp_path / "math.db", "a")),
        trackio.digest(source(tmp_path / "math.db", "b")),
    )
    connection.execute("UPDATE traces SET messages = '[]' WHERE id = '1'")
    connection.commit()
    after = (
        trackio.digest(source(tmp_path / "math.db", "a")),
        trackio.digest(source(tmp_path / "math.db", "b")),
    )
    assert before[0] != after[0] and before[1] == after[1]


ROLLOUTS = """
CREATE TABLE traces (
    id TEXT PRIMARY KEY, run_id TEXT NOT NULL, timestamp TEXT NOT NULL, run_name TEXT NOT NULL,
    step INTEGER NOT NULL, key TEXT NOT NULL, trace_index INTEGER, messages TEXT NOT NULL,
    metadata TEXT NOT NULL, search_text TEXT NOT NULL, spans TEXT NOT NULL DEFAULT '[]');
"""


def operation(op: str, sample: int = 0, error: str = "", **more: object) -> dict[str, object]:
    """What verl says of an operation that it traced."""
    about: dict[str, object] = {"op": op, "backend": "trackio", "experiment_name": "a", "step": 3}
    about |= {"sample_index": sample, "rollout_n": 1, "validate": False, "inputs": {"x": 1}}
    return about | ({"status": "error", "exception_type": error} if error else {"status": "success"}) | more


def traced(connection: sqlite3.Connection, *operations: dict[str, object], run: str = "a") -> None:
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'traces'").fetchone():
        connection.executescript(ROLLOUTS)
    for about in operations:
        said = {"exception_type": about.get("exception_type"), "exception": "sandbox is down"}
        spoken = about.pop(
            "messages", [{"role": "system", "content": f"verl rollout trace operation: {about}"}]
        )
        messages = [*spoken, {"role": "assistant", "content": json.dumps(said)}]  # type: ignore[misc]
        n = connection.execute("SELECT count(*) FROM traces").fetchone()[0]
        row = (str(n), run, TIME.format(1), run.upper(), 9, f"rollout_trace/{about.get('op')}",
               json.dumps(messages), json.dumps(about))  # fmt: skip
        connection.execute("INSERT INTO traces VALUES (?, ?, ?, ?, ?, ?, NULL, ?, ?, '', '[]')", row)
    connection.commit()


def spans(file: Path, part: str = "a") -> list[TraceSpan]:
    return [each for batch in trackio.read(source(file, part)) for each in batch.spans]


def test_operations_of_one_answer_are_one_trajectory(tmp_path: Path) -> None:
    connection = project(tmp_path / "math.db", {"a": [(1, {"loss": 0.5})]})
    calls = [operation("CalcTool.execute", s, output=[{"text": "4"}, 0.5, {}]) for s in (0, 1)]
    loops = [operation("ToolAgentLoop.run", s, output={"response_text": "so 4"}) for s in (0, 1)]
    traced(connection, *calls, *loops)
    connection.close()
    found = spans(tmp_path / "math.db")
    assert [(each.name, each.kind, each.step, each.sample, each.rollout) for each in found] == [
        ("CalcTool.execute", "tool", 3, 0, 1), ("CalcTool.execute", "tool", 3, 1, 1),
        ("ToolAgentLoop.run", "agent", 3, 0, 1), ("ToolAgentLoop.run", "agent", 3, 1, 1),
    ]  # fmt: skip
    assert len({each.trace for each in found}) == 2
    assert [each.parent for each in found[:2]] == [each.span for each in found[2:]]
    assert (found[0].status, found[0].arguments) == ("ok", '{"x": 1}')
    assert found[0].result == '[{"text": "4"}, 0.5, {}]'
    assert found[0].start_s is found[0].duration_s is None  # Trackio keeps no times


def test_messages_that_went_in_are_among_the_arguments(tmp_path: Path) -> None:
    connection = project(tmp_path / "math.db", {"a": [(1, {"loss": 0.5})]})
    traced(connection, operation("ToolAgentLoop.run", messages=[{"role": "user", "content": "2+2?"}]))
    connection.close()
    (found,) = spans(tmp_path / "math.db")
    assert found.arguments == '{"messages": [{"role": "user", "content": "2+2?"}], "x": 1}'


def test_an_operation_that_raised_tells_its_exception(tmp_path: Path) -> None:
    connection = project(tmp_path / "math.db", {"a": [(1, {"loss": 0.5})]})
    traced(connection, operation("CalcTool.execute", error="RuntimeError"))
    connection.close()
    (found,) = spans(tmp_path / "math.db")
    assert (found.status, found.error, found.result) == ("error", "RuntimeError: sandbox is down", "")


def test_a_worker_that_only_traces_is_a_part_called_like_the_run(tmp_path: Path) -> None:
    connection = project(tmp_path / "math.db", {"a": [(1, {"loss": 0.5})]})
    traced(connection, operation("ToolAgentLoop.run"), run="w")
    connection.close()
    assert [(part.name, part.called) for part in trackio.parts(source(tmp_path / "math.db"))] == [
        ("a", "math/A"), ("w", "math/W"),
    ]  # fmt: skip
    assert [each.name for each in spans(tmp_path / "math.db", "w")] == ["ToolAgentLoop.run"]


def test_traces_of_anything_else_are_told(tmp_path: Path) -> None:
    connection = project(tmp_path / "math.db", {"a": [(1, {"loss": 0.5})]})
    traced(connection, {"mine": True})
    connection.close()
    problems = found(tmp_path / "math.db").problems
    assert [p.message for p in problems] == [
        "1 traces that are neither validation samples nor verl's rollouts are not read"
    ]
