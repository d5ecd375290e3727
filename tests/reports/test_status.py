from __future__ import annotations

import pytest

from sitegen.model import Findings, Phase, PhaseName, Run, State, Status
from sitegen.reports import status
from tests.reports.made import findings, incident, run

OOM = incident("RUN-01", "critical", first=100, last=100, open=True)


@pytest.mark.parametrize(
    ("facts", "found", "expected"),
    [
        (run(), findings(), Status.HEALTHY),
        (run(), findings(incident(severity="info")), Status.HEALTHY),
        (run(), findings(incident(severity="warning")), Status.ATTENTION),
        (run(), findings(incident(severity="error")), Status.ATTENTION),
        (run(), findings(incident(severity="error", open=True)), Status.FAILED),
        (run(), findings(incident(severity="critical")), Status.FAILED),
        (run(), findings(OOM), Status.CRASHED),
        (run(growing=True), findings(incident()), Status.UNFINISHED),
        (run(finished=False, planned_steps=500), findings(incident()), Status.UNFINISHED),
        (run(finished=False, planned_steps=None), findings(), Status.HEALTHY),
        (run(finished=False, planned_steps=101), findings(), Status.HEALTHY),  # steps counted from 0
        (run(finished=False, steps=0, first_step=None, last_step=None), findings(), Status.UNFINISHED),
    ],
)
def test_the_first_outcome_that_applies(facts: Run, found: Findings, expected: Status) -> None:
    assert status.status(facts, found) == expected


def test_a_crash_counts_before_everything_else() -> None:
    found = findings(OOM, incident(severity="error", open=True))
    assert status.status(run(growing=True), found) == Status.CRASHED


def test_a_crash_that_the_run_survived_did_not_end_it() -> None:
    survived = incident("RUN-01", "critical", first=40, last=40)
    assert status.ending(run(), (survived,)) is None
    assert status.status(run(), findings(survived)) == Status.FAILED


def test_a_crash_before_the_first_step_ends_the_run() -> None:
    early = incident("RUN-01", "critical", first=None)
    facts = run(steps=0, first_step=None, last_step=None)
    assert status.ending(facts, (early,)) is early


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        (PhaseName.CRITIC_WARMUP, State.WARMING_UP),
        (PhaseName.WARMUP, State.WARMING_UP),
        (PhaseName.COLLAPSE, State.DIVERGING),
        (PhaseName.DIVERGING, State.DIVERGING),
        (PhaseName.DECLINE, State.DIVERGING),
        (PhaseName.CONVERGED, State.CONVERGED),
        (PhaseName.PLATEAU, State.LEARNING),
        (PhaseName.CLIMB, State.LEARNING),
        (PhaseName.EXPLORATION, State.LEARNING),
        (PhaseName.LEARNING, State.LEARNING),
    ],
)
def test_the_last_phase_is_the_state(last: PhaseName, expected: State) -> None:
    assert status.state((Phase(0, PhaseName.CLIMB, 1, 50), Phase(0, last, 51, 100))) == expected


def test_a_run_without_rows_is_still_warming_up() -> None:
    assert status.state(()) == State.WARMING_UP


def test_an_exception_is_not_why_where_the_log_names_the_cause_at_the_same_step() -> None:
    crash = incident("RUN-05", "critical", first=100, last=100, open=True)
    disk = incident("RUN-06", "error", first=100, last=100, open=True)
    restarts = incident("RUN-08", "error", first=100, last=100, open=True)
    assert status.ending(run(), (crash, restarts, disk)) is disk
    assert status.ending(run(), (crash, restarts)) is crash
