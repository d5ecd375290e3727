"""All rules over 1 000 runs of 500 steps."""

from __future__ import annotations

from sitegen import archive, rules

from . import inputs
from .measure import Bench, Result
from .peak import in_child

NAME = "rules"


def run(bench: Bench) -> list[Result]:
    """Milliseconds per run and the peak memory; neither has a target."""
    runs = inputs.archive(bench.folder / "rules", bench.size(1000, 4), 500)
    home = bench.folder / "rules-home"
    archive.update(runs, home)
    found = in_child("rules", str(home))
    took, count = found.seconds["rules"], len(archive.Archive(home).runs())
    cards = len(rules.catalog())
    detail = (
        f"a run: {cards} cards, {count} runs, {took:.1f} s ({found.cpu:.0f} s of all cores), "
        f"peak {found.peak_mb:.0f} MB"
    )
    return [Result(NAME, 1000 * took / count, "ms", None, "down", detail)]
