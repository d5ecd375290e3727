"""The bundled runs broke in ways we know: each has its finding, near the step where it began.

The runs are really trained (`tests/tinyrl`), so the onsets below are not those of a drawn curve: they were
read from the logs by hand, and the windows say how late a reader may be told.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from sitegen import rules
from sitegen.archive import Archive, update
from sitegen.model import Findings, Incident, Severity

HEALTHY = (
    "abacus-grpo-baseline",
    "abacus-grpo-checker-fixed",
    "abacus-grpo-long-resumed",
    "lantern-dapo-clip-higher",
    "lantern-grpo-600-steps",
    "lantern-ppo-critic",
)

# run, rule, first and last acceptable onset, lowest severity
EXPECTED = (
    ("abacus-grpo-lr-sweep-hot", "ENT-01", 60, 90, Severity.WARNING),  # rigid long before
    ("abacus-grpo-lr-sweep-hot", "GRD-01", 113, 118, Severity.ERROR),  # three steps to blow up
    ("abacus-grpo-lr-sweep-hot", "KL-05", 113, 118, Severity.ERROR),
    ("abacus-grpo-lr-sweep-hot", "REW-05", 114, 124, Severity.CRITICAL),
    ("abacus-grpo-lr-sweep-hot", "LEN-03", 114, 130, Severity.ERROR),
    ("abacus-grpo-no-kl-lenient-checker", "KL-05", 100, 115, Severity.ERROR),  # blank answers spread from 100
    ("abacus-grpo-no-kl-lenient-checker", "VAL-02", 120, 120, Severity.WARNING),  # the next evaluation
    ("abacus-grpo-no-kl-lenient-checker", "VAL-01", 120, 160, Severity.ERROR),
    ("abacus-grpo-no-kl-lenient-checker", "REW-03", 100, 180, Severity.ERROR),
    ("abacus-grpo-entropy-bonus", "ENT-03", 50, 95, Severity.ERROR),  # the bonus wins from about 60
    ("abacus-grpo-entropy-bonus", "KL-06", 50, 110, Severity.ERROR),
    ("abacus-grpo-entropy-bonus", "REW-05", 75, 120, Severity.CRITICAL),
    ("abacus-grpo-entropy-bonus", "LEN-03", 85, 130, Severity.WARNING),
    ("lantern-ppo-critic-lr-ramp", "CRI-01", 82, 105, Severity.ERROR),
    ("lantern-grpo-fp16-logits", "GRD-04", 52, 52, Severity.CRITICAL),
    ("lantern-grpo-fp16-logits", "REW-05", 52, 60, Severity.CRITICAL),
    ("lantern-grpo-think-longer", "LEN-01", 60, 125, Severity.WARNING),
    ("lantern-grpo-think-longer", "RUN-01", 132, 133, Severity.CRITICAL),
    ("lantern-grpo-too-hard", "GRP-02", 1, 10, Severity.ERROR),
    ("lantern-grpo-too-hard", "REW-06", 40, 150, Severity.WARNING),
    ("lantern-grpo-too-easy", "GRP-01", 20, 100, Severity.INFO),
    ("abacus-grpo-long-resumed", "LOG-02", 151, 151, Severity.INFO),
)


@pytest.fixture(scope="module")
def findings(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Findings]:
    home = tmp_path_factory.mktemp("tinyrl") / ".sitegen"
    read = update(repo / "runs", home)
    assert not read.problems
    return rules.evaluate(Archive(home), read.runs, rules.catalog())


def test_the_archive_holds_every_run_named_here(findings: Mapping[str, Findings]) -> None:
    named = {*HEALTHY, *(run for run, *_ in EXPECTED)}
    assert set(findings) == named


@pytest.mark.parametrize("run", HEALTHY)
def test_a_healthy_run_raises_nothing(run: str, findings: Mapping[str, Findings]) -> None:
    raised = [incident for incident in findings[run].incidents if incident.severity >= Severity.WARNING]
    assert [(incident.rule, incident.first, incident.message) for incident in raised] == []


@pytest.mark.parametrize(("run", "rule", "earliest", "latest", "severity"), EXPECTED)
def test_a_sick_run_is_told_from_the_step_where_it_began(
    run: str, rule: str, earliest: int, latest: int, severity: Severity, findings: Mapping[str, Findings]
) -> None:
    found = [incident for incident in findings[run].incidents if incident.rule == rule]
    assert found, f"{rule} did not fire; what did: {[incident.rule for incident in findings[run].incidents]}"
    onset = found[0].first
    assert onset is not None
    assert earliest <= onset <= latest
    assert worst(found) >= severity


def worst(incidents: list[Incident]) -> Severity:
    return max(incident.severity for incident in incidents)


@pytest.mark.parametrize("run", sorted({run for run, *_, severity in EXPECTED if severity >= Severity.ERROR}))
def test_a_sick_run_begins_in_good_health(run: str, findings: Mapping[str, Findings]) -> None:
    """Nothing at warning or above before the earliest cause, but for runs that never had a signal."""
    earliest = min(first for name, _, first, _, _ in EXPECTED if name == run)
    early = [
        (incident.rule, incident.first)
        for incident in findings[run].incidents
        if incident.severity >= Severity.WARNING and (incident.first or 0) < earliest
    ]
    assert early == []
