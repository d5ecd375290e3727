"""What the charts of a run page draw once they are alive: one compact file, and every value beside it.

`charts.bin`: the letters `sgc1`, two lengths of 4 bytes each (little-endian), and that many bytes: a zlib
stream of a JSON header, and one of the blobs whose sizes it names; then the exact chunks where they are few.
Otherwise those are `exact.bin`, of which a page fetches the parts it needs.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

import numpy as np
import orjson

from sitegen import charts
from sitegen.charts import axes, pack, rowplan
from sitegen.model import Floats, Series
from sitegen.pages import figures, thresholds
from sitegen.reports.shapes import MetricView, RunReport

MAIN, EXACT = "charts.bin", "exact.bin"
_MAGIC = b"sgc1"
_INLINE = 40_000  # bytes; exact values that take no more come with the first file


def files(report: RunReport) -> dict[str, bytes]:
    """Name -> bytes of the files of a run page's charts; empty where there is nothing to draw."""
    within = figures.frame(report)
    if within is None or not report.metrics or within.first == within.last:
        return {}
    plan = rowplan.plan(report.metrics[0].series)
    found = axes.axes({view.metric.key: view.series for view in report.metrics}, plan, report.clock)
    values = rowplan.matrix([view.series for view in report.metrics], plan)
    others = np.stack([one.values for one in found]) if found else np.zeros((0, values.shape[1]))
    exact = pack.exact(np.concatenate((values, others)))
    beside = sum(map(len, exact.chunks)) > _INLINE
    codes, blobs = _blobs(values, plan, beside)
    header = _shared(within, plan, found, exact, beside) | {
        "title": report.run.title,
        "metrics": _metrics(report, codes, exact),
        "blobs": [len(blob) for blob in blobs],
    }
    main = _main(header, blobs)
    tail = b"".join(exact.chunks)
    return {MAIN: main, EXACT: tail} if beside else {MAIN: main + tail}


def _main(header: Mapping[str, object], blobs: Sequence[bytes]) -> bytes:
    parts = (zlib.compress(orjson.dumps(header), 6), pack.squeezed(b"".join(blobs)))
    return b"".join((_MAGIC, *(len(part).to_bytes(4, "little") for part in parts), *parts))


def _blobs(values: Floats, plan: rowplan.Plan, beside: bool) -> tuple[Sequence[pack.Code], list[bytes]]:
    """Steps, and where the exact values lie in another file, a picture of them."""
    blobs = [pack.steps(plan.steps)]
    if not beside:
        return [""] * len(values), blobs
    made = pack.overview(values, plan)
    return made.codes, [*blobs, made.data]


def _shared(
    within: charts.Frame, plan: rowplan.Plan, found: Sequence[axes.Axis], exact: pack.Exact, beside: bool
) -> dict[str, object]:
    cuts = np.flatnonzero(np.diff(plan.segments, prepend=-1))
    lengths = np.diff(np.append(cuts, plan.live))
    return {
        "frame": [within.first, within.last],
        "pieces": [[one.segment, one.rows, one.per] for one in plan.pieces],
        "segments": [[int(plan.segments[at]), int(n)] for at, n in zip(cuts, lengths, strict=True)],
        "axes": [[one.key, one.label, one.unit] for one in found],
        "phases": [
            [span.phase, charts.phase_word(span.phase), span.first, span.last] for span in within.spans
        ],
        "marks": [[m.step, m.severity, m.label, m.title, m.href] for m in within.marks],
        "chunks": [len(chunk) for chunk in exact.chunks],
        "places": exact.places[len(exact.places) - len(found) :],
        "exact": EXACT if beside else "",
    }


def _metrics(report: RunReport, codes: Sequence[pack.Code], exact: pack.Exact) -> list[dict[str, object]]:
    ids = figures.anchors(view.series.name for view in report.metrics)
    return [
        {
            "id": ids[view.series.name],
            "name": view.series.name,
            "title": view.metric.title,
            "unit": view.metric.unit,
            "family": view.metric.group,
            "code": codes[k],
            "place": exact.places[k],
            "lost": _lost(view.series),
            "limits": _limits(view, report),
        }
        for k, view in enumerate(report.metrics)
    ]


def _lost(series: Series) -> dict[str, list[int]]:
    """Kind of what is no finite number -> its steps, each as the distance from the one before."""
    out: dict[str, list[int]] = {}
    for kind in sorted({raw for _, raw in series.non_finite}):
        steps = np.sort(np.array([step for step, raw in series.non_finite if raw == kind], dtype=np.int64))
        out[kind] = np.diff(steps, prepend=0).tolist()
    return out


def _limits(view: MetricView, report: RunReport) -> list[list[object]]:
    found = thresholds.of_metric(view, report.incidents)
    return [[one.label, one.steps, one.values] for one in found]
