"""A choice of the trajectories that a run traced, and what all of its tool calls count to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from sitegen.model import Incident, Run
from sitegen.reports import onsets, spantree
from sitegen.reports.excerpts import Excerpt
from sitegen.reports.tracecounts import Call, Counts
from sitegen.reports.trajectories import (
    Around,
    CallView,
    SpanView,
    TracesReport,
    TrajectoryFacts,
    TrajectoryView,
)
from sitegen.reports.visible import excerpt, visible

EACH = 3  # trajectories of a role
LISTED = 12  # slowest and failed calls listed
SHOWN = 30  # trajectories at most
SPANS = 40  # of a trajectory; more are left out from its middle
MOST = 5000  # of a trajectory that are put in order
HEAD, TAIL = 500, 150  # characters of a text
PAGE = 600_000  # characters of all texts; beyond it they are cut to SHORT
SHORT = 120
_PARSED = 4 << 20  # characters of a result that is looked into
_LONGEST = 200  # characters of a name

Moment = tuple[
    tuple[str, ...], str, str
]  # anchors of incidents, trace before ("" = none), trace at the onset
Choice = Mapping[str, tuple[str, ...]]  # trace -> roles


def choose(run: Run, incidents: Sequence[Incident], path: Path) -> TracesReport | None:
    """The report on `path`, a traces.parquet; None where it holds nothing. `incidents` come worst first."""
    counts = Counts(path)
    facts = {each.trace: each for each in counts.traces()}
    if not facts or not run.traces:
        return None
    slowest, failed = counts.slowest()[:LISTED], counts.failed()[:LISTED]
    moments = _moments(incidents, list(facts.values()))
    chosen = _chosen(run.id, list(facts.values()), moments, slowest, failed)
    anchors = {trace: f"t{number}" for number, trace in enumerate(chosen, 1)}
    room = _Room()
    rows = _rows(path, {trace: counts.rows(trace) for trace in chosen})
    shown = tuple(
        _trajectory(anchors[trace], roles, facts[trace], rows[trace], counts.start(trace), room)
        for trace, roles in chosen.items()
    )
    errors = _errors(path, failed)
    return TracesReport(
        counts=run.traces[0],
        tools=counts.tools(),
        slowest=tuple(_call(each, anchors, "") for each in slowest),
        failed=tuple(_call(each, anchors, errors.get(each.row, "")) for each in failed),
        shown=shown,
        around=tuple(Around(named, anchors.get(before, ""), anchors[at]) for named, before, at in moments),
    )


def _moments(incidents: Sequence[Incident], traces: Sequence[TrajectoryFacts]) -> list[Moment]:
    """Of the worst onsets the incidents, the trajectory before, and the one at or after it."""
    steps: dict[int, TrajectoryFacts] = {}
    for each in sorted(traces, key=lambda one: (one.validation, -one.errors)):
        if each.step is not None:
            steps.setdefault(each.step, each)
    found = []
    for onset, ones in onsets.worst(incidents).items():
        last = max(onset if one.last is None else one.last for one in ones)
        at = min((step for step in steps if onset <= step <= last), default=None)
        before = max((step for step in steps if step < onset), default=None)
        if at is not None:
            named = tuple(one.anchor for one in ones)
            found.append((named, "" if before is None else steps[before].trace, steps[at].trace))
    return found


def _chosen(
    run: str,
    traces: Sequence[TrajectoryFacts],
    moments: Sequence[Moment],
    slow: Sequence[Call],
    failed: Sequence[Call],
) -> Choice:
    """Trajectories by step, with all roles that each of them has."""
    roles: dict[str, list[str]] = {}

    def take(role: str, found: Iterable[str]) -> None:
        for trace in found:
            if trace in roles or len(roles) < SHOWN:
                held = roles.setdefault(trace, [])
                held += [role] if role not in held else []

    for _, before, at in moments:
        take("before an incident", [before] if before else [])
        take("at an incident", [at])
    place = {each.trace: at for at, each in enumerate(traces)}
    known = [each.step for each in traces if each.step is not None]
    for role, wanted, key in _ROLES:
        found = [each for each in traces if wanted(each)]
        take(role, _first(found, key))
    for role, step in (("first step", min(known, default=None)), ("last step", max(known, default=None))):
        take(role, [each.trace for each in traces if step is not None and each.step == step][:EACH])
    take("random", _first(list(traces), lambda each: _lot(run, each.trace)))
    take("failed call", [each.trace for each in failed])
    take("slow call", [each.trace for each in slow])
    steps = {each.trace: -1 if each.step is None else each.step for each in traces}
    return {trace: tuple(roles[trace]) for trace in sorted(roles, key=lambda one: (steps[one], place[one]))}


Key = Callable[[TrajectoryFacts], Any]
_ROLES: tuple[tuple[str, Callable[[TrajectoryFacts], bool], Key], ...] = (
    ("failed", lambda each: each.errors > 0, lambda each: (-each.errors, each.step or 0)),
    ("slowest", lambda each: each.duration_s is not None, lambda each: -(each.duration_s or 0.0)),
    ("longest", lambda each: each.spans > 1, lambda each: -each.spans),
)


def _first(traces: list[TrajectoryFacts], key: Key) -> list[str]:
    return [each.trace for each in sorted(traces, key=key)[:EACH]]


def _lot(run: str, trace: str) -> bytes:
    """The same lot for a trajectory whenever it is drawn."""
    return hashlib.blake2b(f"{run}\0{trace}".encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _rows(path: Path, places: Mapping[str, tuple[int, int]]) -> dict[str, list[dict[str, Any]]]:
    """Spans of some trajectories by trace, at most MOST each, read from their row groups only."""
    found: dict[str, list[dict[str, Any]]] = {trace: [] for trace in places}
    with pq.ParquetFile(path) as file:
        for first, group in _groups(file):
            last = first + file.metadata.row_group(group).num_rows - 1
            if any(a <= last and b >= first for a, b in places.values()):
                for batch in file.iter_batches(512, row_groups=[group], use_threads=False):
                    _take(batch, found)
    return found


def _take(batch: Any, found: dict[str, list[dict[str, Any]]]) -> None:
    """Rows of chosen trajectories. Of one with too many spans, texts of its middle are not kept."""
    for at, trace in enumerate(batch.column("trace").to_pylist()):
        if trace in found:
            row = {
                name: batch.column(name)[at].as_py() for name in batch.schema.names if name != "attributes"
            }
            held = found[trace]
            if len(held) >= MOST:
                continue
            if len(held) >= SPANS and row["status"] != "error":
                row |= {"arguments": "", "result": "", "error": ""}
            row["result"] = _said(row["kind"], row["result"])
            for name in ("arguments", "result", "error"):
                row[name] = _bounded(row[name])
            held.append(row)


def _said(kind: str, result: str) -> str:
    """Of a generation the text, where verl traced it beside the tokens (`token2text`)."""
    if kind != "llm" or '"response_text"' not in result or len(result) > _PARSED:
        return result
    try:
        found = json.loads(result)
    except (ValueError, RecursionError):
        return result
    said = found.get("response_text") if isinstance(found, dict) else None
    return said if isinstance(said, str) else result


def _bounded(text: str) -> str | Excerpt:
    """A long text shortened at once, so that what waits stays small."""
    return text if len(text) <= HEAD else excerpt(text, HEAD, TAIL)


def _groups(file: Any) -> Iterator[tuple[int, int]]:
    """(first row, number) of the row groups."""
    first = 0
    for group in range(file.metadata.num_row_groups):
        yield first, group
        first += file.metadata.row_group(group).num_rows


def _errors(path: Path, calls: Sequence[Call]) -> dict[int, str]:
    """First lines of the errors of calls, by row."""
    wanted = sorted(call.row for call in calls)
    found: dict[int, str] = {}
    with pq.ParquetFile(path) as file:
        for first, group in _groups(file):
            here = [
                row - first for row in wanted if 0 <= row - first < file.metadata.row_group(group).num_rows
            ]
            if here:
                column = file.read_row_group(group, columns=["error"], use_threads=False).column("error")
                found |= {first + at: column[at].as_py() for at in here}
    return {row: visible(text.partition("\n")[0][:_LONGEST]) for row, text in found.items()}


class _Room:
    """What is left of a page."""

    def __init__(self) -> None:
        self.left = PAGE

    def excerpt(self, text: str | Excerpt) -> Excerpt | None:
        """The text as shown; None for no text."""
        if not text:
            return None
        made = text if isinstance(text, Excerpt) else excerpt(text, HEAD, TAIL)
        if self.left < 0:
            head = made.head[:SHORT]
            made = Excerpt(head, "", max(0, made.length - len(head)), made.length)
        self.left -= len(made.head) + len(made.tail)
        return made


def _trajectory(
    anchor: str,
    roles: tuple[str, ...],
    facts: TrajectoryFacts,
    rows: Sequence[Mapping[str, Any]],
    begun: float | None,
    room: _Room,
) -> TrajectoryView:
    """The spans in the order of the tree; of too many, the first ones and all errors, up to a limit."""
    every = spantree.ordered(rows)
    kept = every[:SPANS]
    kept += [one for one in every[SPANS:] if one[0]["status"] == "error"][: SPANS // 2]
    spans = tuple(_span(row, depth, note, begun, room) for row, depth, note in kept)
    return TrajectoryView(anchor, roles, facts, spans, facts.spans - len(kept))


def _span(row: Mapping[str, Any], depth: int, note: str, begun: float | None, room: _Room) -> SpanView:
    start = row["start_s"]
    return SpanView(
        name=visible(row["name"][:_LONGEST]),
        kind=row["kind"],
        status=row["status"],
        depth=depth,
        start_s=None if start is None or begun is None else start - begun,
        duration_s=row["duration_s"],
        arguments=room.excerpt(row["arguments"]),
        result=room.excerpt(row["result"]),
        error=room.excerpt(row["error"]),
        note=note,
    )


def _call(call: Call, anchors: Mapping[str, str], error: str) -> CallView:
    seconds = call.seconds or None
    return CallView(visible(call.tool[:_LONGEST]), call.step, seconds, error, anchors.get(call.trace, ""))
