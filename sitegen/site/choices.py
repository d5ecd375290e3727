"""`/compare/runs.json`: what there is to compare, for the page that does it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import orjson

from sitegen.reports.shapes import ArchiveReport

NAME = "compare/runs.json"


def document(
    report: ArchiveReport, aliases: Mapping[str, Collection[str]], charted: Collection[str]
) -> bytes:
    """Runs, newest first, as [id, title, 1 where it has charts]; old names; removed runs and why."""
    taken = {row.id for row in report.runs}
    old = {alias: run for run in sorted(aliases) for alias in aliases[run] if alias not in taken}
    removed = {run: f"{date}: {why}" if why else date for run, date, why in report.removed}
    found = {
        "runs": [[row.id, row.title, int(row.id in charted)] for row in report.runs],
        "aliases": dict(sorted(old.items())),
        "removed": {run: why for run, why in sorted(removed.items()) if run not in taken},
    }
    return orjson.dumps(found)
