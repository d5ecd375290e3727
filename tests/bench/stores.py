"""Reading trackers' databases and folder stores: values per second, and the memory it takes.

`MlflowClient` is the yardstick where an interpreter has it: `SITEGEN_MLFLOW=path/to/python` names one (mlflow
or mlflow-skinny with sqlalchemy and alembic). It writes the database, too. Without it the reader has to do
ten times what the client did where it was measured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from sitegen import ingest
from sitegen.archive.discovery import discover
from sitegen.archive.walk import walk
from sitegen.ingest import Source
from tests.ingest import swan
from tests.ingest.mlflow import START, Kept, database

from .inputs import LEVELS
from .measure import Bench, Result
from .peak import own_peak_mb

NAME = "stores"
STEPS, LESS = 20_000, 10  # MlflowClient gets a tenth
CLIENT = 12_000  # values a second of MlflowClient, where it was measured first

# Run by the interpreter that has MLflow: FILE STEPS NAME… -> writes, reads back, prints values and seconds.
OFFICIAL = """
import json, sys, time
from mlflow import MlflowClient
from mlflow.entities import Metric
file, steps, *names = sys.argv[1:]
client = MlflowClient(f"sqlite:///{file}")
run = client.create_run(client.create_experiment("bench")).info.run_id
for step in range(int(steps)):
    values = [Metric(name, step / 7 + place, 1700000000000 + step, step) for place, name in enumerate(names)]
    client.log_batch(run, values)
began = time.perf_counter()
count = 0
for name in client.get_run(run).data.metrics:
    count += len(client.get_metric_history(run, name))
print(json.dumps({"values": count, "seconds": time.perf_counter() - began}))
"""


def run(bench: Bench) -> list[Result]:
    """MLflow against its client; the others in values a second; peak memory of each."""
    folder = bench.folder / "stores"
    steps = bench.size(STEPS, 400)
    makers: dict[str, Callable[[Path, int], None]] = {
        "mlflow": mlflow_db, "mlflow-files": mlflow_files, "trackio": trackio, "swanlab": swanlab,
        "csv": table,
    }  # fmt: skip
    results = [*_mlflow(folder / "client", steps // LESS)]
    for form, make in makers.items():
        place = folder / form
        if not place.exists():
            place.mkdir(parents=True)
            make(place, steps if form != "mlflow-files" else steps // 4)
        results += measured(form, place)
    return results


def measured(form: str, folder: Path) -> Iterator[Result]:
    """Speed and memory of one reader."""
    found = max(speed(lambda: read(folder, form)) for _ in range(2))
    size = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
    least = 10.0 * CLIENT if form == "mlflow" else None
    yield Result(form, found, "v/s", least, "up", f"{found:,.0f} values/s, {size / 1e6:.0f} MB")
    command = [sys.executable, "-m", "tests.bench.stores", form, str(folder)]
    held = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    yield Result(form, held["mb"], "MB", 300, "down", f"{held['values']:,} values")


def _mlflow(folder: Path, steps: int) -> Iterator[Result]:
    """Against MlflowClient on one and the same database, if it is there."""
    python = os.environ.get("SITEGEN_MLFLOW")
    if not python:
        return
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "mlruns.db"
    file.unlink(missing_ok=True)
    command = [python, "-c", OFFICIAL, str(file), str(steps), *LEVELS]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout
    theirs = json.loads(said.splitlines()[-1])
    client = theirs["values"] / theirs["seconds"]
    sources = sources_of(folder, "mlflow")
    ours = max(speed(lambda: counted(sources, "mlflow")) for _ in range(5))
    assert counted(sources, "mlflow") == theirs["values"]
    yield Result("mlflow", ours / client, "x", 10, "up", f"{ours:,.0f} values/s, MlflowClient {client:,.0f}")


def speed(work: Callable[[], int]) -> float:
    """Values a second."""
    began = time.perf_counter()
    return work() / (time.perf_counter() - began)


def read(folder: Path, form: str) -> int:
    """Values of all sources of a format below a folder, each batch dropped when it was counted."""
    return counted(sources_of(folder, form), form)


def sources_of(folder: Path, form: str) -> list[Source]:
    """As the archive hands them to their reader."""
    found = discover(folder, walk(folder), {}, {}, {})
    return [each.source for run in found.runs for each in run.inputs if each.format == form]


def counted(sources: list[Source], form: str) -> int:
    """Values of sources."""
    count = 0
    for each in sources:
        for batch in ingest.by_name(form).read(each):
            if batch.rows is not None:
                count += sum(int((column == column).sum()) for column in batch.rows.columns.values())
    return count


def rows(steps: int) -> Iterator[tuple[int, dict[str, float]]]:
    """Records of as many metrics as a run has."""
    return ((step, {name: step / 7 + place for place, name in enumerate(LEVELS)}) for step in range(steps))


def mlflow_db(folder: Path, steps: int) -> None:
    database(folder / "mlruns.db", Kept("r1", records=rows(steps))).close()


def mlflow_files(folder: Path, steps: int) -> None:
    place = folder / "mlruns/1/r1"
    for name in LEVELS:
        file = place / "metrics" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{START + step} {step / 7!r} {step}\n" for step in range(steps)))
    (place / "meta.yaml").write_text("run_id: r1\nrun_name: bench\n")


def trackio(folder: Path, steps: int) -> None:
    from tests.ingest.test_trackio import project

    project(folder / "bench.db", {"a": list(rows(steps))}).close()


def swanlab(folder: Path, steps: int) -> None:
    records = (
        swan.scalar(step, name, value) for step, row in rows(steps // 4) for name, value in row.items()
    )
    (folder / "run-1.swanlab").write_bytes(swan.log(records))


def table(folder: Path, steps: int) -> None:
    with (folder / "history.csv").open("w") as stream:
        stream.write(",".join(["step", *LEVELS]) + "\n")
        for step, row in rows(steps):
            stream.write(",".join(map(repr, [step, *row.values()])) + "\n")


if __name__ == "__main__":
    values = read(Path(sys.argv[2]), sys.argv[1])
    sys.stdout.write(json.dumps({"values": values, "mb": own_peak_mb()}))
