"""A whole cold build, against plain `mkdocs build` of the same text and tables."""

from __future__ import annotations

from .measure import Bench, Result
from .peak import in_child
from .plain import write

NAME = "cold"


def run(bench: Bench) -> list[Result]:
    """Seconds of the one over seconds of the other."""
    cold = bench.cold
    folder = bench.folder / "plain"
    pages = write(cold.site, folder)
    plain = in_child("plain", str(folder))
    theirs = plain.seconds["whole"]
    detail = (
        f"{cold.whole:.1f} s ({cold.child.cpu:.0f} s of all cores), plain mkdocs {theirs:.1f} s "
        f"({plain.cpu:.0f} s) for {pages} pages; {cold.phases()}"
    )
    return [Result(NAME, cold.whole / theirs, "x", 4.0, "down", detail)]
