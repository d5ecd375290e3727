"""Outcome and state of a run, exactly in the order of the contract."""

from __future__ import annotations

from collections.abc import Sequence

from sitegen.model import Findings, Incident, Phase, PhaseName, Run, Severity, State, Status

_STATES = {
    PhaseName.CRITIC_WARMUP: State.WARMING_UP,
    PhaseName.WARMUP: State.WARMING_UP,
    PhaseName.COLLAPSE: State.DIVERGING,
    PhaseName.DIVERGING: State.DIVERGING,
    PhaseName.DECLINE: State.DIVERGING,
    PhaseName.CONVERGED: State.CONVERGED,
}

_UNCAUGHT = "RUN-05"
_SYMPTOMS = ("RUN-04", "RUN-07", "RUN-08")  # a hang, an early end, a restart loop: not why


def status(run: Run, findings: Findings) -> Status:
    """The first that applies: crashed, failed, unfinished, attention, healthy."""
    incidents = findings.incidents
    if ending(run, incidents) is not None:
        return Status.CRASHED
    if any(fatal(incident) for incident in incidents):
        return Status.FAILED
    if unfinished(run):
        return Status.UNFINISHED
    if any(incident.severity >= Severity.WARNING for incident in incidents):
        return Status.ATTENTION
    return Status.HEALTHY


def state(phases: Sequence[Phase]) -> State:
    """What the last phase maps to; a run without a single row is still warming up."""
    return _STATES.get(phases[-1].phase, State.LEARNING) if phases else State.WARMING_UP


def ending(run: Run, incidents: Sequence[Incident]) -> Incident | None:
    """The RUN incident that ended the run: a critical one after which nothing was logged any more.

    An uncaught exception is how most causes end; where the log names one at the same step, that is it.
    """
    last = next((incident for incident in incidents if _ends(run, incident)), None)
    if last is None or last.rule != _UNCAUGHT:
        return last
    named = (one for one in incidents if one.rule.startswith("RUN-") and one.severity >= Severity.ERROR)
    return next((one for one in named if one.rule not in (_UNCAUGHT, *_SYMPTOMS) and _same(one, last)), last)


def _same(one: Incident, other: Incident) -> bool:
    return one.segment == other.segment and one.first == other.first and one.open == other.open


def _ends(run: Run, incident: Incident) -> bool:
    if not incident.rule.startswith("RUN-") or incident.severity < Severity.CRITICAL:
        return False
    last = incident.last if incident.last is not None else incident.first
    return incident.open or run.last_step is None or (last is not None and last >= run.last_step)


def fatal(incident: Incident) -> bool:
    """Whether this incident alone makes a run failed."""
    return incident.severity == Severity.CRITICAL or (incident.open and incident.severity == Severity.ERROR)


def unfinished(run: Run) -> bool:
    """Still growing, stopped before its configured total without a word, or never logged a step."""
    if run.growing:
        return True
    if run.finished:
        return False
    if run.last_step is None:
        return True
    # Steps count from 0 or from 1, so the last of n is n-1 or n.
    return run.planned_steps is not None and run.last_step + 1 < run.planned_steps
