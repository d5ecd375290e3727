"""Reading trackers' files: values per second, against the tracker's own reader, and the memory it takes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from sitegen import ingest
from sitegen.ingest.source import Source
from tests.ingest.events import field
from tests.ingest.wandb_files import BLOCK, framed, item

from .inputs import LEVELS
from .measure import Bench, Result
from .peak import own_peak_mb

NAME = "trackers"
STEPS, LESS = 5000, 10  # the tracker's own reader gets a tenth


def run(bench: Bench) -> list[Result]:
    """Speed of each reader in values a second, TensorBoard's as a ratio too, and peak memory."""
    folder = bench.folder / "trackers"
    folder.mkdir(parents=True, exist_ok=True)
    return [*_tensorboard(bench, folder), *_wandb(bench, folder)]


def _tensorboard(bench: Bench, folder: Path) -> Iterator[Result]:
    steps = bench.size(STEPS, 200)
    large = events(folder / "events.out.tfevents.1.large", steps)
    small = events(folder / "events.out.tfevents.1.small", steps // LESS)
    rounds = [(speed(lambda: official(small)), speed(lambda: read("tensorboard", large))) for _ in range(3)]
    theirs, ours = (max(side) for side in zip(*rounds, strict=True))
    detail = f"{ours:,.0f} values/s, EventFileLoader {theirs:,.0f}, {large.stat().st_size / 1e6:.0f} MB"
    yield Result("tensorboard", ours, "v/s", 100_000, "up", detail)
    yield Result("tensorboard", ours / theirs, "x", 15, "up", detail)
    yield memory("tensorboard", large)


def _wandb(bench: Bench, folder: Path) -> Iterator[Result]:
    large = log(folder / "run-large.wandb", bench.size(STEPS, 200))
    ours = max(speed(lambda: read("wandb", large)) for _ in range(3))
    detail = f"{ours:,.0f} values/s, {large.stat().st_size / 1e6:.0f} MB"
    yield Result("wandb", ours, "v/s", 150_000, "up", detail)
    yield memory("wandb", large)


def speed(work: Callable[[], int]) -> float:
    """Values a second."""
    began = time.perf_counter()
    return work() / (time.perf_counter() - began)


def value(step: int, place: int) -> float:
    """Some number with all its digits."""
    return ((step * 7919 + place * 104729) % 1_000_003) / 1_000_003


def events(path: Path, steps: int) -> Path:
    """One event per value, written by TensorBoard's own code, as verl does."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.record_writer import RecordWriter

    with path.open("wb") as stream:
        writer = RecordWriter(stream)
        writer.write(Event(wall_time=1.7e9, file_version="brain.Event:2").SerializeToString())
        for step in range(steps):
            for place, tag in enumerate(LEVELS):
                summary = Summary(value=[Summary.Value(tag=tag, simple_value=value(step, place))])
                writer.write(Event(wall_time=1.7e9 + step, step=step, summary=summary).SerializeToString())
    return path


def log(path: Path, steps: int) -> Path:
    """One history record per step in the fields of W&B's core, and a picture of 10 MB among them."""

    def record(step: int) -> bytes:
        items = [item("", repr(value(step, place)), nested=(name,)) for place, name in enumerate(LEVELS)]
        items += [
            item("", str(step), nested=("_step",)),
            item("", repr(1.7e9 + step), nested=("_timestamp",)),
        ]
        return field(1, step) + field(
            2, b"".join(field(1, each) for each in items) + field(2, field(1, step))
        )

    records = [record(step) for step in range(steps)]
    path.write_bytes(framed(*records[: steps // 2], field(3, bytes(320 * BLOCK)), *records[steps // 2 :]))
    return path


def read(form: str, path: Path) -> int:
    """Values of a file, each batch dropped when it was counted."""
    count = 0
    for batch in ingest.by_name(form).read(Source(path.name, path)):
        if batch.rows is not None:
            count += sum(int((column == column).sum()) for column in batch.rows.columns.values())
    return count


def official(path: Path) -> int:
    """The same with TensorBoard's loader, and its way to a number."""
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
    from tensorboard.util import tensor_util

    count = 0
    for event in EventFileLoader(str(path)).Load():
        for each in event.summary.value:
            count += tensor_util.make_ndarray(each.tensor).size
    return count


def memory(form: str, path: Path) -> Result:
    """Most memory of a process that does nothing but read the file."""
    command = [sys.executable, "-m", "tests.bench.trackers", form, str(path)]
    held = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return Result(form, held["mb"], "MB", 300, "down", f"{held['values']:,} values")


if __name__ == "__main__":
    values = read(sys.argv[1], Path(sys.argv[2]))
    sys.stdout.write(json.dumps({"values": values, "mb": own_peak_mb()}))
