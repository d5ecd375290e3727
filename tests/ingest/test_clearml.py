"""ClearML's offline sessions."""

from __future__ import annotations

import contextlib
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from sitegen import ingest
from sitegen.ingest import clearml, hocon
from sitegen.ingest.source import Member, Source, SourceTooLarge
from tests.ingest.reading import Reading, gathered

TASK = {
    "id": "offline-1",
    "name": "grpo 1",
    "project_name": "demo/proj",
    "script": {"version_num": "c" * 40, "repository": "https://host.example/r.git", "branch": None},
    "configuration": {"Hyperparameters": {"value": 'trainer {\n  nnodes = 1\n  logger = ["console"]\n}\n'}},
    "hyperparams": {"General": {"a/b": {"value": "True"}}, "Args": {"lr": {"value": "1e-06"}}},
}


def scalar(step: object, name: str, value: object, time: int = 1767225600000) -> dict[str, object]:
    metric, variant = name.split("/", 1)
    return {
        "timestamp": time, "type": "training_stats_scalar", "task": "offline-1", "iter": step,
        "metric": metric, "variant": variant, "value": value, "method": "get",
    }  # fmt: skip


def files(*batches: list[dict[str, object]], log: str = "", task: object = TASK) -> dict[str, bytes]:
    lines = [{"timestamp": 1, "type": "log", "task": "offline-1", "level": "info", "msg": log}]
    return {
        "metrics.jsonl": "".join(json.dumps(batch) + "\n" for batch in batches).encode(),
        "task.json": json.dumps(task).encode(),
        "log.jsonl": (json.dumps(lines) + "\n").encode(),
    }


def in_folder(folder: Path, content: Mapping[str, bytes]) -> Source:
    for name, data in content.items():
        (folder / name).write_bytes(data)
    members = tuple(Member(name, folder / name, len(data)) for name, data in content.items())
    return Source("metrics.jsonl", folder / "metrics.jsonl", len(content["metrics.jsonl"]), members=members)


def zipped(folder: Path, content: Mapping[str, bytes]) -> Source:
    with zipfile.ZipFile(folder / "s.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return Source("s.zip", folder / "s.zip", (folder / "s.zip").stat().st_size)


def found(source: Source) -> Reading:
    assert ingest.sniff(source) is clearml
    return gathered(clearml.read(source))


SOME = [
    [scalar(1, "actor/a", 0.5), scalar(1, "val-core/x/acc/mean@4", 0.25), scalar(2, "actor/a", 0.75)],
    [scalar(1, "actor/a", 1.5, 1767225660000)],
]
READ = [(1, {"actor/a": 0.5, "val-core/x/acc/mean@4": 0.25}), (2, {"actor/a": 0.75}), (1, {"actor/a": 1.5})]


@pytest.mark.parametrize("packed", [False, True])
def test_a_session_is_read_from_its_folder_and_from_its_zip(tmp_path: Path, packed: bool) -> None:
    reading = found((zipped if packed else in_folder)(tmp_path, files(*SOME)))
    assert reading.rows == READ
    assert reading.times[0] == 1767225600.0
    assert reading.config == {
        "trainer.nnodes": "1", "trainer.logger": "['console']", "a.b": "True", "Args.lr": "1e-06"
    }  # fmt: skip
    told = {key: reading.facts[key] for key in ("title", "project", "run_id", "commit", "remote")}
    assert told == {
        "title": "grpo 1", "project": "demo/proj", "run_id": "offline-1", "commit": "c" * 40,
        "remote": "https://host.example/r.git",
    }  # fmt: skip
    assert reading.problems == []


def test_zeros_are_doubted_where_the_log_says_that_values_were_not_finite(tmp_path: Path) -> None:
    log = "INFO - NaN value encountered. Reporting it as '0.0'. Use clearml.Logger.set_reporting_nan_value"
    reading = found(in_folder(tmp_path, files([scalar(1, "a/b", 0.0), scalar(2, "a/b", 0.5)], log=log)))
    assert reading.kinds == ["lossy"]
    assert "1 zeros" in reading.problems[0].message
    calm = found(in_folder(tmp_path, files([scalar(1, "a/b", 0.0)])))
    assert calm.problems == []


def test_lines_of_the_log_that_matter_are_kept(tmp_path: Path) -> None:
    log = "hello\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
    reading = found(in_folder(tmp_path, files(*SOME, log=log)))
    assert "cuda_oom" in [kind for _, kind, _ in reading.marks()]
    assert reading.rows == READ


def test_readings_of_the_machine_and_plots_are_told(tmp_path: Path) -> None:
    events = [
        scalar(1, "a/b", 0.5),
        scalar(30, ":monitor:gpu/gpu_0", 0.5),
        {**scalar(1, "a/p", 0), "type": "plot"},
    ]
    reading = found(in_folder(tmp_path, files(events)))
    assert reading.rows == [(1, {"a/b": 0.5})]
    assert reading.kinds == ["left-out", "unsupported"]


def test_a_torn_line_keeps_the_events_before_the_tear(tmp_path: Path) -> None:
    content = files(*SOME)
    content["metrics.jsonl"] = content["metrics.jsonl"][:-120]
    whole, torn = files(SOME[0], SOME[0]), in_folder(tmp_path, content)
    assert found(torn).rows == READ[:2]
    whole["metrics.jsonl"] = whole["metrics.jsonl"][:-60]
    reading = found(in_folder(tmp_path, whole))
    assert reading.rows == [*READ[:2], READ[0]]
    assert [(p.kind, p.line) for p in reading.problems] == [("truncated", 2)]


def test_foreign_events_and_tasks_are_told(tmp_path: Path) -> None:
    events = [scalar("x", "a/b", 0.5), scalar(1, "a/b", "text"), scalar(2, "a/b", 0.5)]
    reading = found(in_folder(tmp_path, files(events, task=[1])))
    assert reading.rows[-1] == (2, {"a/b": 0.5})
    assert sorted(reading.kinds) == ["malformed", "malformed", "not-a-number"]


def test_a_value_that_lost_its_name_or_kind_is_told(tmp_path: Path) -> None:
    nameless = {key: value for key, value in scalar(2, "a/b", 2.0).items() if key != "variant"}
    reading = found(in_folder(tmp_path, files([scalar(1, "a/b", 1.0), nameless, {"type": "log"}])))
    assert reading.rows == [(1, {"a/b": 1.0})]
    assert [(each.kind, each.message) for each in reading.problems] == [
        ("malformed", "the line is no step record: an event lacks its variant"),
        ("unsupported", "events that are no values were not read: log (1)"),
    ]


@pytest.mark.parametrize("cut", [30, 200, 400])
def test_a_torn_zip_is_a_problem(tmp_path: Path, cut: int) -> None:
    whole = zipped(tmp_path, files(*SOME))
    whole.file.write_bytes(whole.file.read_bytes()[:cut])
    source = Source("s.zip", whole.file, cut)
    assert gathered(clearml.read(source)).kinds == ["damaged"]


def test_flipped_bytes_of_a_zip_never_raise(tmp_path: Path) -> None:
    source = zipped(tmp_path, files(*SOME))
    data = source.file.read_bytes()
    for place in range(0, len(data), 3):
        source.file.write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
        clearml.holds(source)
        with contextlib.suppress(SourceTooLarge):
            gathered(clearml.read(source))


def test_a_zip_bomb_is_refused(tmp_path: Path) -> None:
    content = files(*SOME)
    content["metrics.jsonl"] = b"[" + b" " * (130 << 20) + b"]"
    with pytest.raises(SourceTooLarge):
        gathered(clearml.read(zipped(tmp_path, content)))


def test_other_zips_are_not_claimed(tmp_path: Path) -> None:
    assert not clearml.holds(zipped(tmp_path, {"notes.txt": b"x"}))


def test_hocon_as_clearml_writes_it() -> None:
    text = (
        'a {\n  b = 1\n  "c.d" = "q\\"uo\\nte"\n  e = null\n  f = [1.5, "x", {g = true}]\n  h {}\n}\n'
        'i = """long\n"text" """\nj : 1e-06\nk = http://host/x?y=1\nl = []\n'
    )
    assert hocon.parse(text) == {
        "a": {"b": 1, "c.d": 'q"uo\nte', "e": None, "f": [1.5, "x", {"g": True}], "h": {}},
        "i": 'long\n"text" ', "j": 1e-06, "k": "http:", "l": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    "text", ["", "}", "{", "a = [", "a { b", "]=[,", "a = " + "[" * 1000, "{" * 5000, '"']
)
def test_broken_hocon_never_raises(text: str) -> None:
    assert isinstance(hocon.parse(text), dict)


def plot(step: int, *columns: tuple[str, list[object]]) -> dict[str, object]:
    """A table as ClearML makes it of a data frame."""
    values = [list(cells) for _, cells in columns]
    kept = {
        "type": "table",
        "header": {"values": [[name] for name, _ in columns]},
        "cells": {"values": values},
    }
    text = json.dumps({"data": [kept], "layout": {}})
    return {"type": "plot", "task": "offline-1", "iter": step, "metric": "Validation", "plot_str": text}


def test_a_table_of_validation_samples_is_read_and_other_plots_are_told(tmp_path: Path) -> None:
    table = plot(7, ("step", [7, 7]), ("input", ["q", "r"]), ("output", ["a", "b"]), ("score", [0.5, "nan"]))
    other = plot(8, ("x", [1]), ("y", [2]))
    reading = found(in_folder(tmp_path, files([scalar(1, "a/b", 1.0), table], [other])))
    assert [(s.kind, s.step, s.input, s.output, s.score) for s in reading.samples] == [
        ("validation", 7, "q", "a", 0.5), ("validation", 7, "r", "b", None),
    ]  # fmt: skip
    assert reading.rows == [(1, {"a/b": 1.0})]
    assert [(p.kind, p.message[:8]) for p in reading.problems] == [("unsupported", "1 plots,")]
