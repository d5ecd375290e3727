"""Console logs to archive, against the barest loop that finds the same numbers, on one core each."""

from __future__ import annotations

from pathlib import Path

from . import inputs
from .jsonl import update
from .measure import Bench, Result, taken

NAME = "console"
FILES, STEPS = 4, 8000


def run(bench: Bench) -> list[Result]:
    """Speed of `archive.update` with one job over the speed of the loop."""
    runs = bench.folder / "console"
    paths = inputs.files(runs, "console", FILES, bench.size(STEPS, 100))
    megabytes = sum(path.stat().st_size for path in paths) / 1e6
    bare = taken(lambda: [split(path) for path in paths], times=3)
    home = bench.folder / "console-home"
    ours = taken(lambda: update(runs, home, jobs=1), times=3)
    detail = f"to archive {ours.speed(megabytes)}, bare loop {bare.speed(megabytes)}, {megabytes:.0f} MB"
    return [Result(NAME, bare.wall / ours.wall, "x", 0.5, "up", detail)]


def split(path: Path) -> float:
    """Split each line on ' - ', cut at the last colon, call float; a sum, so that nothing is left out."""
    total = 0.0
    with path.open() as lines:
        for line in lines:
            for piece in line.split(" - "):
                total += float(piece[piece.rindex(":") + 1 :])
    return total
