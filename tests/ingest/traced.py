"""Writes traces of agent rollouts as MLflow stores them, in a database and in a file store."""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SCHEMA = """
CREATE TABLE trace_info (
    request_id VARCHAR(50) NOT NULL PRIMARY KEY, experiment_id INTEGER NOT NULL, timestamp_ms BIGINT NOT NULL,
    execution_time_ms BIGINT, status VARCHAR(50) NOT NULL);
CREATE TABLE trace_tags (
    key VARCHAR(250), value VARCHAR(8000), request_id VARCHAR(50), PRIMARY KEY (key, request_id));
CREATE TABLE trace_request_metadata (
    key VARCHAR(250), value VARCHAR(8000), request_id VARCHAR(50), PRIMARY KEY (key, request_id));
CREATE TABLE spans (
    trace_id VARCHAR(50) NOT NULL, experiment_id INTEGER NOT NULL, span_id VARCHAR(50) NOT NULL,
    parent_span_id VARCHAR(50), name TEXT, type VARCHAR(500), status VARCHAR(50) NOT NULL,
    start_time_unix_nano BIGINT NOT NULL, end_time_unix_nano BIGINT, content TEXT NOT NULL,
    PRIMARY KEY (trace_id, span_id));
"""
START = 1_767_225_600  # seconds


@dataclass(frozen=True)
class Spoken:
    """A span; times in seconds since START."""

    name: str
    span: int
    parent: int | None = None
    start: float = 0.0
    seconds: float | None = 0.5  # None = no end
    inputs: object = None
    outputs: object = None
    error: str = ""
    type: str = "UNKNOWN"
    attributes: Mapping[str, object] = field(default_factory=dict)
    events: Sequence[Mapping[str, object]] = ()

    def content(self) -> dict[str, object]:
        """As MLflow 3 writes it."""
        attributes = {key: json.dumps(value) for key, value in self.attributes.items()}
        attributes["mlflow.spanType"] = json.dumps(self.type)
        if self.inputs is not None:
            attributes["mlflow.spanInputs"] = json.dumps(self.inputs)
        if self.outputs is not None:
            attributes["mlflow.spanOutputs"] = json.dumps(self.outputs)
        code = "STATUS_CODE_ERROR" if self.error else "STATUS_CODE_OK"
        return {
            "trace_id": "AAAA",
            "span_id": coded(self.span),
            "parent_span_id": None if self.parent is None else coded(self.parent),
            "name": self.name,
            "start_time_unix_nano": nano(self.start),
            "end_time_unix_nano": None if self.seconds is None else nano(self.start + self.seconds),
            "events": list(self.events),
            "status": {"code": code, "message": self.error},
            "attributes": attributes,
        }


@dataclass(frozen=True)
class Rollout:
    """A trace with verl's tags."""

    id: str
    spans: Sequence[Spoken]
    step: int | None = 1
    sample: int = 0
    rollout: int = 0
    validate: bool = False
    experiment: str = "grpo"
    metadata: Mapping[str, str] = field(default_factory=dict)

    def tags(self) -> dict[str, str]:
        """What verl says of it."""
        found = {
            "sample_index": str(self.sample),
            "rollout_n": str(self.rollout),
            "validate": str(self.validate),
        }
        if self.step is not None:
            found["step"] = str(self.step)
        return found | ({"experiment_name": self.experiment} if self.experiment else {})


def nano(seconds: float) -> int:
    return int((START + seconds) * 1_000_000_000)


def coded(span: int) -> str:
    return base64.b64encode(span.to_bytes(8, "big")).decode()


def hexed(span: int) -> str:
    return f"{span:016x}"


def turn(
    at: int, error: str = "", tool: str = "CalcTool", start: float = 0.0, seconds: float = 0.2
) -> list[Spoken]:
    """A generation that calls a tool, and the call; below span 1."""
    return [
        Spoken("Server.generate", at, 1, start, 1.0, {"prompt_ids": [1, 2]}, {"response_text": f"call {at}"}),
        Spoken(
            f"{tool}.execute", at + 1, 1, start + 1.0, seconds,
            {"parameters": {"expr": "2+2"}}, None if error else [{"text": "4"}, 0.5, {}], error,
        ),
    ]  # fmt: skip


def whole(id: str, turns: Iterable[Spoken], seconds: float = 5.0, **about: object) -> Rollout:
    """A trajectory: the loop, and what happens in it."""
    return Rollout(id, [Spoken("ToolAgentLoop.run", 1, None, 0.0, seconds), *turns], **about)  # type: ignore[arg-type]


def add(connection: sqlite3.Connection, *traces: Rollout, group: int = 1, spans: bool = True) -> None:
    """Write traces into a database that `tests.ingest.mlflow.database` began."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'spans'").fetchone():
        connection.executescript(SCHEMA)
    for at, each in enumerate(traces):
        connection.execute(
            "INSERT INTO trace_info VALUES (?, ?, ?, 1, 'OK')", (each.id, group, START * 1000 + at)
        )
        tags = [(key, value, each.id) for key, value in each.tags().items()]
        connection.executemany("INSERT INTO trace_tags VALUES (?, ?, ?)", tags)
        said = [(key, value, each.id) for key, value in each.metadata.items()]
        connection.executemany("INSERT INTO trace_request_metadata VALUES (?, ?, ?)", said)
        rows = [_row(each, one, group) for one in each.spans] if spans else []
        connection.executemany("INSERT INTO spans VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    connection.commit()


def _row(trace: Rollout, one: Spoken, group: int) -> tuple[object, ...]:
    end = None if one.seconds is None else nano(one.start + one.seconds)
    return (
        trace.id, group, hexed(one.span),
        None if one.parent is None else hexed(one.parent), one.name, one.type,
        "ERROR" if one.error else "OK", nano(one.start), end, json.dumps(one.content()),
    )  # fmt: skip


def artifact(store: Path, trace: Rollout, tags: bool = False) -> Path:
    """A `traces.json` below `<store>/traces/`; with `tags`, all that a file store keeps."""
    folder = store / "traces" / trace.id
    (folder / "artifacts").mkdir(parents=True, exist_ok=True)
    if tags:
        (folder / "trace_info.yaml").write_text(f"request_id: {trace.id}\ntimestamp_ms: {START * 1000}\n")
        (folder / "tags").mkdir()
        for key, value in trace.tags().items():
            (folder / "tags" / key).write_text(value)
    file = folder / "artifacts" / "traces.json"
    file.write_text(json.dumps({"spans": [each.content() for each in trace.spans]}))
    return file
