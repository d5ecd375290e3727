"""What the bundled rules say about real logs, log by log: each finding was looked at in the data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from sitegen import archive, rules
from sitegen.model import Findings, Incident, PhaseName, Severity

pytestmark = [pytest.mark.corpus, pytest.mark.slow]

#: Number of the log -> rule -> worst severity, warnings and up. Logs that are not named here must be silent.
EXPECTED: Mapping[str, Mapping[str, str]] = {
    # answers shrink from 970 to 9 tokens around step 36, gradients grow 18-fold, the score falls
    "014": {
        "LEN-02": "error",
        "REW-05": "critical",
        "KL-05": "error",
        "GRD-01": "error",
        "GRD-02": "error",
        "KL-06": "error",
        "ENT-03": "error",
        "ACT-01": "warning",
        "ACT-04": "warning",
    },
    # 40 steps without a gain; the decline at the end is within noise and is not called one
    "019": {"REW-06": "warning"},
    "027": {"RUN-01": "critical"},
    # four times as long, a fifth cut off, while the score improves a little
    "030": {"LEN-01": "warning", "LEN-03": "warning"},
    "049": {"RUN-01": "critical"},
    # entropy 0.005 with a flat score; then the disk was full and the checkpoint could not be written
    "084": {"ENT-01": "warning", "RUN-05": "critical", "RUN-06": "error"},
    "094": {"GRD-04": "critical"},
    "095": {"GRD-04": "critical"},
    "098": {"LEN-03": "warning"},
}
SAME_RUN = {"101": "014", "103": "019"}  # exported histories of runs above
HEALTHY = ("001", "004", "012", "024", "082", "087", "091", "092")


@pytest.fixture(scope="module")
def found(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Findings]:
    """Findings by the number of the log; TensorBoard folders are not read yet."""
    home = tmp_path_factory.mktemp("home")
    archive.update(corpus / "logs", home, jobs=1)
    shelf = archive.Archive(home)
    return {run[:3]: said for run, said in rules.evaluate(shelf, shelf.runs(), rules.catalog()).items()}


def worst(findings: Findings) -> dict[str, str]:
    """Rule -> severity of its worst incident, warnings and up."""
    grades: dict[str, Severity] = {}
    for incident in findings.incidents:
        if incident.severity >= Severity.WARNING:
            grades[incident.rule] = max(grades.get(incident.rule, incident.severity), incident.severity)
    return {rule: grade.word for rule, grade in grades.items()}


def incident(findings: Findings, rule: str) -> Incident:
    return next(one for one in findings.incidents if one.rule == rule)


def test_each_log_gets_the_findings_that_its_data_hold(found: dict[str, Findings]) -> None:
    expected = {log: dict(EXPECTED.get(SAME_RUN.get(log, log), {})) for log in found}
    assert {log: worst(findings) for log, findings in found.items()} == expected


@pytest.mark.parametrize("log", HEALTHY)
def test_healthy_logs_raise_nothing_but_remarks(found: dict[str, Findings], log: str) -> None:
    assert worst(found[log]) == {}


def test_the_collapse_is_dated_within_a_few_steps(found: dict[str, Findings]) -> None:
    onsets = {rule: incident(found["014"], rule).first for rule in ("LEN-02", "REW-05", "KL-05", "GRD-02")}
    assert all(onset is not None and 30 <= onset <= 38 for onset in onsets.values()), onsets
    assert all(incident(found["014"], rule).open for rule in ("LEN-02", "REW-05", "GRD-02"))


def test_the_collapse_ends_in_the_phase_of_that_name(found: dict[str, Findings]) -> None:
    assert found["014"].phases[-1].phase is PhaseName.COLLAPSE


def test_a_nan_in_an_auxiliary_metric_is_a_remark(found: dict[str, Findings]) -> None:
    assert incident(found["113"], "GRD-04").severity is Severity.INFO


def test_the_healthy_reference_run_climbs_and_converges(found: dict[str, Findings]) -> None:
    names = [phase.phase for phase in found["001"].phases]
    assert names[0] is PhaseName.WARMUP
    assert names[1] is PhaseName.CLIMB
    assert names[-1] is PhaseName.CONVERGED


@pytest.mark.parametrize("log", ["004", "012"])
def test_fine_tuning_has_no_reward_and_no_phases(found: dict[str, Findings], log: str) -> None:
    assert found[log].phases == ()
    silent = {verdict.rule: verdict for verdict in found[log].verdicts}
    assert silent["REW-05"].outcome.value == "not_applicable"
    assert silent["REW-05"].missing == ("score",)


@pytest.mark.parametrize("log", ["087", "089", "091", "092"])
def test_a_log_of_one_step_is_not_called_clear_of_what_needs_a_window(
    found: dict[str, Findings], log: str
) -> None:
    outcomes = {verdict.rule: verdict.outcome.value for verdict in found[log].verdicts}
    assert {outcomes[rule] for rule in ("REW-05", "GRD-02", "ENT-03", "LEN-01")} == {"not_applicable"}
