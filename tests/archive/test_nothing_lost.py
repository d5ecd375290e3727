"""Whatever is logged, however often, in however many files: every value is found again."""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sitegen.archive.build import build
from sitegen.archive.planned import Input, RunPlan
from sitegen.archive.read import Archive
from sitegen.ingest.source import Source

NAMES = ("a", "A", "step", "b/c", "b/C")
VALUES = st.one_of(
    st.sampled_from([0.0, 1.0, -0.5, 0.123, 0.1234567, math.nan, math.inf, -math.inf]),
    st.floats(-1e6, 1e6, width=32),
)
RECORDS = st.lists(
    st.tuples(st.integers(0, 9), st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4)), max_size=14
)


def archived(sources: list[list[tuple[int, dict[str, float]]]], folder: Path) -> tuple[Archive, str]:
    inputs = []
    for i, records in enumerate(sources):
        file = folder / f"{i}.jsonl"
        file.write_text("".join(json.dumps({"step": s, "data": d}) + "\n" for s, d in records))
        inputs.append(Input(Source(f"r/{i}.jsonl", file, file.stat().st_size), "filelogger", ()))
    (folder / "archive").mkdir()
    build(RunPlan("r", "r", tuple(inputs)), folder / "archive")
    return Archive(folder), "r"


def alike(a: float, b: float) -> bool:
    """One value, written with different precision."""
    return (
        a == b
        or any(round(a, n) == b or round(b, n) == a for n in (3, 4, 6))
        or math.isclose(a, b, rel_tol=1.2e-7)
    )


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(RECORDS, min_size=1, max_size=3))
def test_every_value_is_a_cell_or_an_extra(sources: list[list[tuple[int, dict[str, float]]]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        archive, run = archived(sources, Path(name))
        columns = archive.columns(run)
        cells: dict[tuple[int, str], list[float]] = {}
        for row in pq.read_table(archive.steps(run)).to_pylist():
            for column, logged in columns.items():
                if row[column] is not None:
                    cells.setdefault((row["step"], logged), []).append(row[column])
        odd = {(r["step"], r["name"], r["raw"]) for r in pq.read_table(archive.extras(run)).to_pylist()}
        for row in pq.read_table(archive.extras(run)).to_pylist():
            if row["value"] is not None:
                cells.setdefault((row["step"], row["name"]), []).append(row["value"])
    for records in sources:
        for step, data in records:
            for name, value in data.items():
                if math.isfinite(value):
                    assert any(alike(value, found) for found in cells.get((step, name), []))
                else:
                    raw = "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
                    assert (step, name, raw) in odd


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(RECORDS, min_size=1, max_size=3))
def test_rows_are_in_order_and_each_step_lives_once(
    sources: list[list[tuple[int, dict[str, float]]]],
) -> None:
    with tempfile.TemporaryDirectory() as name:
        archive, run = archived(sources, Path(name))
        rows = pq.read_table(archive.steps(run), columns=["row", "segment", "step", "live"]).to_pylist()
        facts = archive.run(run)
    assert [row["row"] for row in rows] == list(range(len(rows)))
    order = [(row["segment"], row["step"]) for row in rows]
    assert order == sorted(set(order))
    live = [row["step"] for row in rows if row["live"]]
    assert sorted(live) == sorted({step for records in sources for step, _ in records})
    assert facts.steps == len(live)
    assert [(s.number, s.rows) for s in facts.segments] == [
        (n, sum(row["segment"] == n for row in rows)) for n in range(len(facts.segments))
    ]
