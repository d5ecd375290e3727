"""`/badges/<run>.svg` and `/badges/<run>-best.svg`."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sitegen.charts import palette
from sitegen.charts.badge import badge
from sitegen.model import Status
from sitegen.pages import words
from sitegen.reports.shapes import RunRow

FOLDER = "badges/"


def documents(rows: Iterable[RunRow]) -> dict[str, bytes]:
    """Site path -> SVG of all badges."""
    found = tuple(rows)
    out = {f"{FOLDER}{row.id}.svg": status(row).encode() for row in found}
    out |= {
        f"{FOLDER}{row.id}-best.svg": best(row).encode()
        for row in found
        if row.best is not None and f"{FOLDER}{row.id}-best.svg" not in out
    }
    return out


def shadowed(runs: Collection[str]) -> frozenset[str]:
    """Runs whose badge of the best score has no address: another run is called `<run>-best`."""
    known = frozenset(runs)
    return frozenset(run for run in known if f"{run}-best" in known)


def status(row: RunRow) -> str:
    """The run's status; of one that is still being written, as of which step."""
    word = str(row.status)
    if row.growing:
        step = "no step yet" if row.last_step is None else f"step {row.last_step}"
        word = f"{'running' if row.status is Status.UNFINISHED else word}, as of {step}"
    return badge("run", word, palette.STATUSES[row.status], f"{row.title}: {word}")


def best(row: RunRow) -> str:
    """The best score and of what."""
    assert row.best is not None
    value = words.number(row.best.value)
    said = f"{row.title}: best {row.best.label} {value} at step {row.best.step}"
    return badge(f"best {row.best.label}", value, palette.SCORE, said)
