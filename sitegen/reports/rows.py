"""What cross-run pages know of a run and of an incident: a few numbers, small enough for thousands."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from sitegen.model import Floats, Incident, Run, Severity, Status
from sitegen.reports.curves import Curves
from sitegen.reports.shapes import IncidentRow, NoteView, RunReport

_SPARK = 60
_EVIDENCE_SPARK = 40
_SPARK_KEYS = ("score", "rewards", "train_loss")


def spark(curves: Curves, points: int = _SPARK) -> tuple[float | None, ...]:
    """The course of the score in at most `points` means; of the training loss where there is no score."""
    key = next((key for key in _SPARK_KEYS if curves.present(key)), None)
    return () if key is None else _reduced(curves.values(key), points)


def marks(run: Run, incidents: tuple[Incident, ...]) -> tuple[tuple[float, str], ...]:
    """(position 0-1 over the run's steps, severity word) of each incident of warning and worse."""
    first, last = run.first_step or 0, run.last_step or 0
    width = max(1, last - first)
    shown = [one for one in incidents if one.severity >= Severity.WARNING]
    places = [(0.0 if one.first is None else (one.first - first) / width, one) for one in shown]
    return tuple((round(min(1.0, max(0.0, place)), 4), one.severity.word) for place, one in places)


def counts(incidents: tuple[Incident, ...]) -> Mapping[str, int]:
    """Severity word -> incidents, worst first, without zeros."""
    found = Counter(incident.severity for incident in incidents)
    return {severity.word: found[severity] for severity in sorted(found, reverse=True)}


def incident_rows(report: RunReport, times: Mapping[int, float]) -> tuple[IncidentRow, ...]:
    """The run's incidents for the archive. `times` maps steps to Unix seconds where the logs say."""
    return tuple(
        _incident_row(report.run, report.status, one, times, report.notes) for one in report.incidents
    )


def _incident_row(
    run: Run, status: Status, incident: Incident, times: Mapping[int, float], notes: Iterable[NoteView]
) -> IncidentRow:
    mine = [note for note in notes if note.anchor == incident.anchor]
    values, onset = _evidence(incident)
    return IncidentRow(
        id=incident.id,
        run=run.id,
        run_title=run.title,
        run_status=status,
        model=run.model,
        algorithm=run.algorithm,
        project=run.project,
        rule=incident.rule,
        title=incident.title,
        severity=incident.severity,
        first=incident.first,
        last=incident.last,
        open=incident.open,
        message=incident.message,
        happened_at=_moment(run, incident, times),
        spark=values,
        onset=onset,
        changes=dict(_changes(incident)),
        explained=bool(mine),
        fixed_by=next((note.fixed.run for note in mine if note.fixed is not None), None),
    )


def _changes(incident: Incident) -> Iterator[tuple[str, float]]:
    """(metric, doublings) of what the evidence tells before and after; at most 4 either way."""
    for fact in incident.evidence.facts:
        if fact.before is not None and fact.after is not None and fact.before > 0 and fact.after > 0:
            doublings = math.log2(fact.after) - math.log2(fact.before)
            yield fact.metric, round(min(4.0, max(-4.0, doublings)), 3)


def _moment(run: Run, incident: Incident, times: Mapping[int, float]) -> float | None:
    said = next((line.time for line in incident.evidence.lines if line.time is not None), None)
    if incident.first is not None and incident.first in times:
        return times[incident.first]
    if said is not None:
        return said
    return run.ended_at if run.ended_at is not None else run.started_at


def _evidence(incident: Incident) -> tuple[tuple[float | None, ...], float]:
    """Values around the onset, and where in them the onset lies (0-1)."""
    evidence = incident.evidence
    values = np.array([np.nan if v is None else v for v in evidence.values], dtype=np.float64)
    if not np.isfinite(values).any():
        return (), 0.0
    before = sum(1 for step in evidence.steps if incident.first is not None and step < incident.first)
    return _reduced(values, _EVIDENCE_SPARK), round(before / max(1, len(values) - 1), 4)


def _reduced(values: Floats, points: int) -> tuple[float | None, ...]:
    pieces = np.array_split(values, min(points, len(values))) if len(values) else []
    return tuple(_mean(piece) for piece in pieces)


def _mean(piece: Floats) -> float | None:
    finite = piece[np.isfinite(piece)]
    if not len(finite):
        return None
    mean = float(f"{np.sum(finite / len(finite)):.5g}")  # a sum of large doubles would overflow
    return mean if np.isfinite(mean) else None
