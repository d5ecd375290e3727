"""`/badges/<run>.svg` and `/badges/<run>-best.svg`."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from sitegen.charts import palette
from sitegen.charts.badge import badge
from sitegen.model import Status
from sitegen.pages import words
from sitegen.pages.runs import is_address
from sitegen.reports.shapes import ArchiveReport, RunRow

FOLDER = "badges/"
_GONE = "#546e7a"


def documents(archive: ArchiveReport, aliases: Mapping[str, Iterable[str]]) -> dict[str, bytes]:
    """Site path -> SVG of all badges. Old names of a run (run -> `aliases`) show it, removed ones say so."""
    rows = {row.id: row for row in archive.runs}
    out = {_path(run): status(row) for run, row in rows.items()}
    out |= {f"{_path(run, '-best')}": best(row) for run, row in rows.items() if row.best and free(run, rows)}
    for run, date, _ in archive.removed:
        if is_address(run):
            out.setdefault(_path(run), badge("run", "removed", _GONE, f"{run}: removed on {date}"))
    for run in sorted(aliases):
        for alias in filter(is_address, aliases[run]):
            for more in ("", "-best"):
                if _path(run, more) in out:
                    out.setdefault(_path(alias, more), out[_path(run, more)])
    return {path: svg.encode() for path, svg in out.items()}


def free(run: str, runs: Container[str]) -> bool:
    """Whether `run` has an address for the badge of its best score: no run is called `<run>-best`."""
    return f"{run}-best" not in runs


def _path(run: str, more: str = "") -> str:
    return f"{FOLDER}{run}{more}.svg"


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
