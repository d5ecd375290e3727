"""One run of 60 steps through every tracker: what each of them keeps, and what it is known to lose.

The truth is what verl's FileLogger wrote, for values that are not finite what the console printed.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sitegen import ingest
from sitegen.archive import discovery, walk
from tests.ingest.reading import Reading, gathered

Value = tuple[int, str, float]
Odd = tuple[int, str, str]


def source_of(folder: Path, form: str) -> ingest.Source:
    """The only source of a format below a folder, as the archive would hand it to its reader."""
    found = discovery.discover(folder, walk.walk(folder), {}, {}, {})
    (source,) = (each.source for run in found.runs for each in run.inputs if each.format == form)
    return source


def read(folder: Path, form: str) -> Reading:
    source = source_of(folder, form)
    reading = gathered(ingest.by_name(form).read(source))
    reading.problems += source.notes
    return reading


def values(reading: Reading) -> list[Value]:
    return [(step, name, value) for step, row in reading.rows for name, value in row.items()]


@dataclass(frozen=True)
class Truth:
    """Finite values and others, in the order in which they were logged."""

    finite: list[Value]
    odd: list[Odd]
    records: list[tuple[int, dict[str, float]]]


@pytest.fixture(scope="module")
def truth(corpus: Path) -> Truth:
    logged = read(corpus / "trackers" / "file", "filelogger")
    printed = read(corpus / "trackers" / "console", "console")
    assert {(step, name) for step, name, _ in logged.odd} == {(step, name) for step, name, _ in printed.odd}
    return Truth(values(logged), printed.odd, logged.rows)


def mlflow_name(name: str) -> str:
    """The two names that nobody can change back."""
    return name.replace("//", "/").replace("aime+2024|x", "aime_2024_x")


def firsts(found: Iterable[Value]) -> list[Value]:
    """Without what was logged again to a step."""
    kept: dict[tuple[int, str], Value] = {}
    for each in found:
        kept.setdefault(each[:2], each)
    return list(kept.values())


@dataclass(frozen=True)
class Tracker:
    """A row of the table of losses."""

    folder: str
    form: str
    renamed: Callable[[str], str] = str
    repeats_dropped: bool = False
    odd_is_zero: bool = False
    told: frozenset[str] = field(default_factory=frozenset)  # kinds of problems that the reader reports


TRACKERS = [
    Tracker("mlflow_sqlite", "mlflow", mlflow_name, told=frozenset({"cut"})),
    Tracker("mlflow_files", "mlflow-files", mlflow_name, told=frozenset({"cut"})),
    Tracker("trackio", "trackio"),
    Tracker("swanlab", "swanlab", repeats_dropped=True),
    Tracker("clearml", "clearml", odd_is_zero=True, told=frozenset({"lossy"})),
    Tracker("csv_wide", "csv"),
    Tracker("csv_long", "csv", mlflow_name),
]


@pytest.fixture(scope="module")
def folders(corpus: Path, truth: Truth, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Where each tracker's files lie; what the corpus does not have is written from the truth."""
    made = tmp_path_factory.mktemp("made")
    for name, write in (("clearml", clearml), ("csv_wide", wide), ("csv_long", long)):
        (made / name).mkdir()
        write(made / name, truth)
    there = {each.name: each for each in (corpus / "trackers").iterdir()}
    return there | {each.name: each for each in made.iterdir()}


def all_records(truth: Truth) -> list[tuple[int, dict[str, float]]]:
    """The records with the values that are not finite put back."""
    odd = {(step, name): float(raw) for step, name, raw in truth.odd}
    return [
        (step, {**row, **{name: value for (at, name), value in odd.items() if at == step}})
        for step, row in truth.records
    ]


def clearml(folder: Path, truth: Truth) -> None:
    """As ClearML writes a session offline: NaN and infinities as 0.0, and a line in its log that says so."""
    events = []
    for i, (step, row) in enumerate(all_records(truth)):
        for name, value in row.items():
            metric, variant = name.split("/", 1)
            event = {"timestamp": 1767225600000 + i, "type": "training_stats_scalar", "task": "offline-1"}
            kept = value if abs(value) < float("inf") else 0.0
            events.append({**event, "iter": step, "metric": metric, "variant": variant, "value": kept})
    said = "NaN value encountered. Reporting it as '0.0'"
    log = [{"timestamp": 1, "type": "log", "task": "offline-1", "msg": said}]
    (folder / "metrics.jsonl").write_text(json.dumps(events) + "\n")
    (folder / "log.jsonl").write_text(json.dumps(log) + "\n")
    (folder / "task.json").write_text(json.dumps({"id": "offline-1", "name": "demo"}))


def wide(folder: Path, truth: Truth) -> None:
    """As pandas writes a table of records."""
    records = all_records(truth)
    names = list(dict.fromkeys(name for _, row in records for name in row))
    with (folder / "history.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["", "_step", *names])
        for i, (step, row) in enumerate(records):
            writer.writerow([i, step, *(repr(row[name]) if name in row else "" for name in names)])


def long(folder: Path, truth: Truth) -> None:
    """As MLflow's metrics come out of its database."""
    with (folder / "metrics.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["run_id", "key", "value", "step", "timestamp"])
        rows = [
            (name, step, value, 1767225600000 + i)
            for i, (step, row) in enumerate(all_records(truth))
            for name, value in row.items()
        ]
        for name, step, value, time in sorted(rows, key=lambda each: each[0]):
            writer.writerow(["r1", mlflow_name(name.replace("@", "_at_")), repr(value), step, time])


@pytest.mark.corpus
@pytest.mark.parametrize("tracker", TRACKERS, ids=lambda each: each.folder)
def test_every_value_is_there_but_for_what_the_tracker_lost(
    tracker: Tracker, truth: Truth, folders: Mapping[str, Path]
) -> None:
    reading = read(folders[tracker.folder], tracker.form)
    finite = [(step, tracker.renamed(name), value) for step, name, value in truth.finite]
    odd = [(step, tracker.renamed(name), raw) for step, name, raw in truth.odd]
    if tracker.repeats_dropped:
        finite = firsts(finite)
    if tracker.odd_is_zero:
        finite += [(step, name, 0.0) for step, name, _ in odd]
        odd = []
    assert Counter(values(reading)) == Counter(finite)
    assert sorted(reading.odd) == sorted(odd)
    assert set(reading.kinds) == tracker.told


@pytest.mark.corpus
@pytest.mark.parametrize(
    "tracker", [each for each in TRACKERS if not each.repeats_dropped], ids=lambda each: each.folder
)
def test_records_come_in_the_order_in_which_they_were_logged(
    tracker: Tracker, truth: Truth, folders: Mapping[str, Path]
) -> None:
    steps = [step for step, _ in truth.records]
    found = read(folders[tracker.folder], tracker.form).steps
    assert [step for i, step in enumerate(found) if i == 0 or found[i - 1] != step] == [
        step for i, step in enumerate(steps) if i == 0 or steps[i - 1] != step
    ]


@pytest.mark.corpus
def test_all_trackers_together_are_one_run(corpus: Path, folders: Mapping[str, Path], tmp_path: Path) -> None:
    from sitegen import archive

    runs = tmp_path / "runs"
    for tracker in TRACKERS:
        for file in sorted(each for each in folders[tracker.folder].rglob("*") if each.is_file()):
            place = runs / "a" / tracker.folder / file.relative_to(folders[tracker.folder])
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.read_bytes())
    archive.update(runs, tmp_path / "home")
    found = archive.Archive(tmp_path / "home")
    (name,) = found.runs()
    run = found.run(name)
    assert {tracker.form for tracker in TRACKERS} == set(run.formats) - {"sample-table"}
    assert [(s.first, s.last) for s in run.segments] == [(0, 40), (38, 61)]


@pytest.mark.corpus
def test_beside_the_console_log_no_metric_of_mlflow_has_two_names(
    corpus: Path, truth: Truth, tmp_path: Path
) -> None:
    from sitegen import archive

    for name in ("mlflow_sqlite/mlruns.db", "console/stdout.log"):
        place = tmp_path / "runs/a" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes((corpus / "trackers" / name).read_bytes())
    archive.update(tmp_path / "runs", tmp_path / "home")
    summary = archive.Archive(tmp_path / "home").run("a").summary
    assert {one.name for one in summary} == {name for _, name, _ in truth.finite}
