"""The `/api/v1` documents: the fields of `sitegen check --format json`, and the tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

import orjson

from sitegen.errors import Problem
from sitegen.model import Incident, Leaderboard
from sitegen.reports import compare
from sitegen.reports.shapes import ArchiveReport, IncidentRow, NoteView, Place, RunReport, RunRow
from sitegen.reports.trajectories import CallView, TracesReport

VERSION = 1
ROOT = "api/v1/"


def dump(document: object) -> bytes:
    """JSON bytes; NaN and infinity become null, keys keep their order."""
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def run(report: RunReport) -> dict[str, object]:
    """One run as `sitegen check --format json` lists it, with the fields of its table row."""
    return run_row(report.row) | {
        "phases": [{"phase": str(p.phase), "segment": p.segment, "first": p.first, "last": p.last}
                   for p in report.phases],
        "incidents": [incident(i, report.notes) for i in report.incidents],
        "muted": [incident(m.incident, report.notes) | {"reason": m.reason} for m in report.muted],
        "notes": [note(n) for n in report.notes],
        "verdicts": {v.rule: str(v.outcome) for v in report.verdicts},
        "missing": {v.rule: list(v.missing) for v in report.verdicts if v.missing},
        "generations": [asdict(dumped) for dumped in report.run.generations],
        "traces": None if report.traces is None else traces(report.traces),
        "problems": [problem(p) for p in report.problems],
    }  # fmt: skip


def traces(found: TracesReport) -> dict[str, object]:
    """What the trajectories that a run traced count to, its tools, and the calls to look at."""
    return asdict(found.counts) | {
        "tools": [asdict(tool) | {"success_rate": tool.rate} for tool in found.tools],
        "failed_calls": [_call(call) for call in found.failed],
        "slowest_calls": [_call(call) for call in found.slowest],
    }


def _call(found: CallView) -> dict[str, object]:
    told: dict[str, object] = {"tool": found.tool, "step": found.step, "duration_s": found.duration_s}
    return told | ({"error": found.error} if found.error else {})


def run_row(row: RunRow) -> dict[str, object]:
    """A run of `runs.json`: the columns of the table `runs` that a row carries."""
    return {
        "run": row.id,
        "title": row.title,
        "status": str(row.status),
        "state": str(row.state),
        "headline": row.headline,
        "steps": row.steps,
        "last_step": row.last_step,
        "planned_steps": row.planned_steps,
        "growing": row.growing,
        "project": row.project,
        "experiment": row.experiment,
        "algorithm": row.algorithm,
        "model": row.model,
        "hardware": row.hardware,
        "tags": list(row.tags),
        "owner": row.owner,
        "started_at": row.started_at,
        "ended_at": row.ended_at,
        "wall_s": row.wall_s,
        "gpu_hours": row.gpu_hours,
        "throughput": row.throughput,
        "best": None if row.best is None else asdict(row.best),
        "counts": dict(sorted(row.counts.items())),
    }


def note(found: NoteView) -> dict[str, object]:
    """What a person wrote; `incident` is null for a note on the run."""
    return {
        "incident": found.anchor or None,
        "path": found.path,
        "text": found.text,
        "fixed_by": None if found.fixed is None else found.fixed.run,
        "changed": [] if found.fixed is None else [asdict(row) for row in found.fixed.differing],
    }


def incident(found: Incident, notes: Iterable[NoteView] = ()) -> dict[str, object]:
    """An incident with its advice, and whether one of `notes` explains it."""
    mine = [each for each in notes if each.anchor == found.anchor]
    return {
        "id": found.id,
        "rule": found.rule,
        "title": found.title,
        "severity": found.severity.word,
        "segment": found.segment,
        "first": found.first,
        "last": found.last,
        "open": found.open,
        "metric": found.metric,
        "value": found.value,
        "threshold": found.threshold,
        "message": found.message,
        "causes": list(found.causes),
        "advice": list(found.advice),
        "explained": bool(mine),
        "fixed_by": next((each.fixed.run for each in mine if each.fixed is not None), None),
    }


def incident_row(row: IncidentRow, similar: Sequence[str] = ()) -> dict[str, object]:
    """An incident of `incidents.json`; `similar` = ids of those of other runs that look like it."""
    return {
        "run": row.run,
        "id": row.id,
        "rule": row.rule,
        "title": row.title,
        "severity": row.severity.word,
        "first": row.first,
        "last": row.last,
        "open": row.open,
        "message": row.message,
        "happened_at": row.happened_at,
        "run_status": str(row.run_status),
        "model": row.model,
        "algorithm": row.algorithm,
        "project": row.project,
        "similar": list(similar),
        "explained": row.explained,
        "fixed_by": row.fixed_by,
    }


def problem(found: Problem) -> dict[str, object]:
    """A data problem."""
    return asdict(found)


def board(found: Leaderboard) -> dict[str, object]:
    """A leaderboard with its entries and what it leaves out."""
    return {
        "slug": found.slug,
        "title": found.title,
        "summary": found.summary,
        "group": found.group,
        "unit": found.unit,
        "better": found.better,
        "entries": [asdict(entry) for entry in found.entries],
        "left_out": [{"run": name, "why": why} for name, why in found.left_out],
    }


def place(found: Place) -> dict[str, object]:
    """A place that seeds may share: runs, their mean and the ends of its 95 % confidence interval."""
    told: dict[str, object] = {
        "rank": found.rank,
        "value": found.value,
        "runs": [one.run for one in found.entries],
    }
    sure = found.interval
    return told | ({"n": sure.n, "low": sure.low, "high": sure.high} if sure else {})


def documents(archive: ArchiveReport, similar: Mapping[str, Sequence[str]] = {}) -> dict[str, bytes]:
    """Site path -> bytes of all documents that span runs; `similar` maps ids of incidents to others."""
    out = {
        f"{ROOT}runs.json": {
            "version": VERSION,
            "now": archive.now,
            "runs": [run_row(r) for r in archive.runs],
        },
        f"{ROOT}incidents.json": {
            "version": VERSION,
            "incidents": [incident_row(i, similar.get(i.id, ())) for i in archive.incidents],
        },
    }
    for one in archive.leaderboards:
        places = [place(shared) for shared in archive.places.get(one.slug, ())]
        more = {"places": places} if places else {}
        out[f"{ROOT}leaderboards/{one.slug}.json"] = {"version": VERSION, "leaderboard": board(one) | more}
    return {path: dump(document) for path, document in out.items()}


def run_document(report: RunReport) -> bytes:
    """`/api/v1/runs/<run>.json`: the shape of `sitegen check` with one run, its setup and its seed group."""
    seeds = report.seeds
    more = {
        "setup": compare.setup(report.run),
        "seeds": None if seeds is None else {
            "seed": seeds.seed_of(report.run.id),
            "keys": list(seeds.keys),
            "runs": [{"run": one.run, "seed": one.seed} for one in seeds.members],
        },
    }  # fmt: skip
    return dump({"version": VERSION, "runs": [run(report) | more]})
