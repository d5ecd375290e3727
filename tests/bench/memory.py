"""Memory of a cold build, with all its processes."""

from __future__ import annotations

from .measure import Bench, Result

NAME = "memory"


def run(bench: Bench) -> list[Result]:
    """The most that the process tree held at once."""
    child = bench.cold.child
    return [Result(NAME, child.peak_mb, "MB", 1024, "down", f"most of it in {child.largest}")]
