"""What the picture of a page shows where a link to it unfolds."""

from __future__ import annotations

from collections import Counter

import numpy as np

from sitegen.charts import palette
from sitegen.charts.drawing import Curve, Part, Preview
from sitegen.model import Severity
from sitegen.pages import figures, report_figures, words
from sitegen.reports.shapes import ArchiveReport, RunReport, RunRow

_KEYS = report_figures.TREND_KEYS[:2]  # reward and KL, or the losses
_SIGNS = 400  # characters of any text


def of_run(report: RunReport, site: str) -> Preview:
    """Verdict, phases, reward and KL of a run; `site` is the name of the site."""
    row = report.row
    within = figures.frame(report)
    marks = () if within is None else tuple(one for one in within.marks if one.severity != "info")
    return Preview(
        title=words.clip(row.title, _SIGNS),
        fallback=row.id,
        badge=(str(row.status), palette.STATUSES[row.status]),
        verdict=words.clip(report.headline, _SIGNS),
        facts=tuple(words.clip(fact, 80) for fact in _facts(row, site)),
        first=None if within is None else within.first,
        last=None if within is None else within.last,
        spans=() if within is None else within.spans,
        marks=marks,
        curves=_curves(report),
    )


def of_site(archive: ArchiveReport, site: str) -> Preview:
    """How many runs there are, how they ended, and what was found."""
    counts = Counter(str(row.status) for row in archive.runs)
    serious = sum(row.severity > Severity.INFO for row in archive.incidents)
    told = f"{words.plural(len(archive.runs), 'run')}, {words.plural(serious, 'incident')}"
    ranked = [status for status in words.STATUSES if counts[status]]
    bar = tuple(
        Part(palette.STATUSES[status], f"{counts[status]} {status}", counts[status] / len(archive.runs))
        for status in ranked
    )
    facts = tuple(f"{counts[status]} {status}" for status in ranked)
    since = () if archive.now is None else (f"as of {words.date(archive.now)}",)
    return Preview(told, "", None, words.clip(site, _SIGNS), (*facts, *since), bar=bar)


def _facts(row: RunRow, site: str) -> tuple[str, ...]:
    best = f"best {words.number(row.best.value)} at step {row.best.step}" if row.best else ""
    steps = words.plural(row.steps, "step")
    if row.growing:
        steps = "no step yet" if row.last_step is None else f"still running, as of step {row.last_step}"
    return tuple(text for text in (best, steps, row.model or "", row.algorithm or "", site) if text)


def _curves(report: RunReport) -> tuple[Curve, ...]:
    found = []
    for keys in _KEYS:
        for view in report_figures.views(report, keys)[:1]:
            steps, values = report_figures.live(view)
            if len(steps) and np.isfinite(values).all():
                found.append(Curve(view.metric.title, view.metric.unit, view.metric.group, steps, values))
    return tuple(found)
