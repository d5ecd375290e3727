"""The weight of a run page of 60 metrics."""

from __future__ import annotations

import gzip
from pathlib import Path

from .measure import Bench, Result

NAME = "page"


def run(bench: Bench) -> list[Result]:
    """The heaviest run page of the site, packed and on disk; downloads are not counted."""
    pages = list(bench.cold.site.glob("runs/*/index.html"))
    heaviest = max(pages, key=lambda path: len(packed(path)))
    tells = f"heaviest of {len(pages)}: {heaviest.parent.name}"
    on_disk = max(path.stat().st_size for path in pages)
    return [
        Result("page gz", len(packed(heaviest)) / 1000, "KB", 60, "down", tells),
        Result("page disk", on_disk / 1000, "KB", 250, "down", tells),
    ]


def packed(path: Path) -> bytes:
    return gzip.compress(path.read_bytes(), 6)
