"""All rules over 1 000 runs of 500 steps."""

from __future__ import annotations

from sitegen import archive, rules

from . import inputs
from .measure import Bench, Result
from .peak import in_child

NAME = "rules"


def run(bench: Bench) -> list[Result]:
    """Seconds for all rules over all runs, their catalog and their cache included, and the peak memory."""
    runs = inputs.archive(bench.folder / "rules", bench.size(1000, 4), 500)
    home = bench.folder / "rules-home"
    archive.update(runs, home)
    found = in_child("rules", str(home))
    took, count = found.seconds["rules"], len(archive.Archive(home).runs())
    cards = len(rules.catalog())
    detail = (
        f"{cards} cards, {count} runs of 500 steps, {took:.1f} s ({found.cpu:.0f} s of all cores), "
        f"peak {found.peak_mb:.0f} MB"
    )
    return [
        Result(NAME, took / bench.scale, "s", 60.0, "down", detail),
        Result("rules memory", found.peak_mb, "MB", 1024.0, "down", "of all processes"),
    ]
