"""What the charts of a run page draw once they are alive: one compact file, and every value beside it.

`charts.bin`: the letters `sgc1`, two lengths of 4 bytes each (little-endian), and that many bytes: a zlib
stream of a JSON header, and one of the steps and the pictures that come first; then the chunks of exact
values where they are few. Otherwise those are `exact.bin`, of which a page fetches the parts it needs.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import orjson

from sitegen import charts
from sitegen.charts import axes, pack, picture, rowplan
from sitegen.model import Floats, Series, Severity
from sitegen.pages import evidence, figures, thresholds
from sitegen.reports.shapes import MetricView, RunReport

MAIN, EXACT = "charts.bin", "exact.bin"
_MAGIC = b"sgc1"
_INLINE = 40_000  # bytes; exact values that take no more come with the first file
_LATER = 24_000  # bytes; a picture of the folded charts that takes no more comes with it, too
_FIRST = 12  # metrics, where none is in the overview


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
    chunks, beside = list(exact.chunks), sum(map(len, exact.chunks)) > _INLINE
    drawn = _pictures(report, values, plan, chunks) if beside else _Pictures()
    header = _shared(within, plan, found, exact) | {
        "title": report.run.title,
        "metrics": _metrics(report, drawn.codes, exact),
        "moments": _moments(report, within),
        "pictures": drawn.parts,
        "chunks": [len(chunk) for chunk in chunks],
        "exact": EXACT if beside else "",
    }
    main = _main(header, pack.steps(plan.steps) + drawn.inline)
    tail = b"".join(chunks)
    return {MAIN: main, EXACT: tail} if beside else {MAIN: main + tail}


def _main(header: Mapping[str, object], body: bytes) -> bytes:
    parts = (zlib.compress(orjson.dumps(header), 3), pack.squeezed(body))
    return b"".join((_MAGIC, *(len(part).to_bytes(4, "little") for part in parts), *parts))


@dataclass(frozen=True, slots=True)
class _Pictures:
    """Pictures of all metrics.

    Args:
        codes: metric -> how its numbers were rounded.
        parts: what the header says of each picture.
        inline: bytes of those that come with the first file.
    """

    codes: Mapping[int, picture.Code] = field(default_factory=dict)
    parts: Sequence[Mapping[str, object]] = ()
    inline: bytes = b""


def _pictures(report: RunReport, values: Floats, plan: rowplan.Plan, chunks: list[bytes]) -> _Pictures:
    """The overview comes first; what is in folds is a chunk of its own after `chunks`, unless small."""
    first = [k for k, view in enumerate(report.metrics) if view.overview] or list(range(len(values)))[:_FIRST]
    later = [k for k in range(len(values)) if k not in set(first)]
    made = [(which, picture.picture(values[which], plan)) for which in (first, later) if which]
    inline, codes = b"", dict[int, picture.Code]()
    parts: list[Mapping[str, object]] = []
    for part, (which, one) in enumerate(made):
        squeezed = pack.chunk(b"", one.data) if part else b""
        apart = len(squeezed) > _LATER
        parts.append({"of": which, "size": one.size, "chunk": len(chunks) if apart else -1})
        chunks += [squeezed] if apart else []
        inline += b"" if apart else one.data
        codes |= dict(zip(which, one.codes, strict=True))
    return _Pictures(codes, parts, inline)


def _shared(
    within: charts.Frame, plan: rowplan.Plan, found: Sequence[axes.Axis], exact: pack.Exact
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
        "places": exact.places[len(exact.places) - len(found) :],
    }


def _metrics(
    report: RunReport, codes: Mapping[int, picture.Code], exact: pack.Exact
) -> list[dict[str, object]]:
    ids = figures.anchors(view.series.name for view in report.metrics)
    return [
        _found_by(view)
        | {
            "id": ids[view.series.name],
            "name": view.series.name,
            "title": view.metric.title,
            "unit": view.metric.unit,
            "family": view.metric.group,
            "code": codes.get(k, ""),
            "place": exact.places[k],
            "lost": _lost(view.series),
            "limits": _told(thresholds.of_metric(view, report.incidents)),
        }
        for k, view in enumerate(report.metrics)
    ]


def _moments(report: RunReport, within: charts.Frame) -> dict[str, object]:
    """Anchor of an incident that has a chart -> its thresholds, and the range that its y axis must reach."""
    serious = [one for one in report.incidents if one.severity > Severity.INFO]
    made = ((one.anchor, evidence.moment(one, report, within)) for one in serious)
    return {
        anchor: [_told(one.limits), [min(one.show), max(one.show)] if one.show else []]
        for anchor, one in made
        if one is not None
    }


def _told(limits: Sequence[charts.Limit]) -> list[list[object]]:
    return [[one.label, one.steps, one.values] for one in limits]


def _found_by(view: MetricView) -> dict[str, object]:
    """What pages of several runs need to find the metric again: its key, and whether it is a telling one."""
    told: dict[str, object] = {} if view.metric.key == view.series.name else {"key": view.metric.key}
    return told | ({"first": True} if view.overview else {})


def _lost(series: Series) -> dict[str, list[int]]:
    """Kind of what is no finite number -> its steps, each as the distance from the one before."""
    out: dict[str, list[int]] = {}
    for kind in sorted({raw for _, raw in series.non_finite}):
        steps = np.sort(np.array([step for step, raw in series.non_finite if raw == kind], dtype=np.int64))
        out[kind] = np.diff(steps, prepend=0).tolist()
    return out
