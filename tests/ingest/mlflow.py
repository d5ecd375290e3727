"""Writes databases and folder stores as MLflow lays them out."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

SCHEMA = """
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY);
CREATE TABLE experiments (experiment_id INTEGER PRIMARY KEY, name VARCHAR(256), lifecycle_stage VARCHAR(32));
CREATE TABLE runs (
    run_uuid VARCHAR(32) NOT NULL PRIMARY KEY, name VARCHAR(250), user_id VARCHAR(256), status VARCHAR(9),
    start_time BIGINT, end_time BIGINT, lifecycle_stage VARCHAR(20), experiment_id INTEGER);
CREATE TABLE metrics (
    key VARCHAR(250) NOT NULL, value FLOAT NOT NULL, timestamp BIGINT NOT NULL, run_uuid VARCHAR(32) NOT NULL,
    step BIGINT DEFAULT 0 NOT NULL, is_nan BOOLEAN DEFAULT 0 NOT NULL,
    PRIMARY KEY (key, timestamp, step, run_uuid, value, is_nan));
CREATE INDEX index_metrics_run_uuid ON metrics (run_uuid);
CREATE TABLE params (
    key VARCHAR(250), value VARCHAR(8000), run_uuid VARCHAR(32), PRIMARY KEY (key, run_uuid));
CREATE TABLE tags (key VARCHAR(250), value VARCHAR(8000), run_uuid VARCHAR(32), PRIMARY KEY (key, run_uuid));
INSERT INTO alembic_version VALUES ('dc11669786a5');
INSERT INTO experiments VALUES (0, 'Default', 'active'), (1, 'math', 'active');
"""
START = 1_767_225_600_000  # ms
BIG = 1.7976931348623157e308


@dataclass
class Kept:
    """One run: records of (step, values) a second apart."""

    id: str
    name: str = "grpo"
    records: Iterable[tuple[int, Mapping[str, float]]] = ()
    params: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    stage: str = "active"
    start: int = START
    listed: bool = True  # it has a row in `runs`


def database(file: Path, *runs: Kept, wal: bool = False) -> sqlite3.Connection:
    """A database with these runs, committed; the connection is left open for more."""
    file.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(file)
    if wal:
        connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(SCHEMA)
    for run in runs:
        add(connection, run)
    connection.commit()
    return connection


def add(connection: sqlite3.Connection, run: Kept) -> None:
    if run.listed:
        row = (run.id, run.name, "ann", "FINISHED", run.start, run.start + 60_000, run.stage, 1)
        connection.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    for i, (step, values) in enumerate(run.records):
        log(connection, run.id, run.start + 1000 * i, step, values)
    connection.executemany("INSERT INTO params VALUES (?, ?, ?)", [(*p, run.id) for p in run.params.items()])
    connection.executemany("INSERT INTO tags VALUES (?, ?, ?)", [(*t, run.id) for t in run.tags.items()])


def log(connection: sqlite3.Connection, run: str, time: int, step: int, values: Mapping[str, float]) -> None:
    """As MLflow stores it: NaN as a flag, infinity as the largest number."""
    rows = []
    for name, value in values.items():
        nan = value != value
        stored = 0.0 if nan else max(-BIG, min(BIG, value))
        rows.append((name, stored, time, run, step, nan))
    connection.executemany("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", rows)
