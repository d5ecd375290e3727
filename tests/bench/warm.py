"""A second build with nothing changed."""

from __future__ import annotations

from .measure import Bench, Result
from .sites import digests

NAME = "warm"


def run(bench: Bench) -> list[Result]:
    """Its seconds outside MkDocs and Pagefind over those of the cold one; and the files that differ."""
    cold, warm = bench.cold, bench.warm
    detail = f"{warm.ours:.1f} s of {cold.ours:.1f} s outside mkdocs and Pagefind; {warm.phases()}"
    first, second = digests(cold.site), digests(warm.site)
    other = sorted(path for path in first.keys() | second.keys() if first.get(path) != second.get(path))
    told = f"{len(first)} files" + (
        f"; not the same: {', '.join(other[:5])}" if other else ", all the same bytes"
    )
    return [
        Result(NAME, warm.ours / cold.ours, "x", 0.1, "down", detail),
        Result("warm=cold", len(other), "", 0, "down", told),
    ]
