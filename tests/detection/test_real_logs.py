"""Real public logs: the healthy ones raise no error, the sick ones are told for what they are."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from sitegen import rules
from sitegen.archive import Archive, update
from sitegen.model import Findings, Severity

pytestmark = pytest.mark.corpus

HEALTHY = (
    "001-verldata-qwen2_5-0_5b-bsz256_2-prompt1024-resp512-0_567.log",
    "004-verldata-gemma-2-2b-it-sft-0_411.log",
    "012-opd-dq9a4cex-output.log",
    "024-opd-bd2o9c4a-output.log",
    "030-opd-5qinw90x-output.log",
    "082-verl-accidental-tee-a.log",
    "092-verl071-one-metric-per-line.log",
    "113-luffy-on_pg_loss-nan-steps1-7.log",
)

# file, rules of which one must fire, earliest and latest onset (None = before step 1), lowest severity
SICK = (
    ("014-opd-gjvwlq13-output.log", {"LEN-02"}, 28, 42, Severity.WARNING),
    ("014-opd-gjvwlq13-output.log", {"GRD-02", "GRD-01", "GRD-05"}, 30, 42, Severity.WARNING),
    ("027-opd-dsx6uos2-output.log", {"RUN-01"}, None, None, Severity.CRITICAL),
    ("049-selfplay-grpo_7b_training_fixed.log", {"RUN-01"}, None, None, Severity.CRITICAL),
    ("084-tinyzero-westwood-part-of-logs.md", {"ENT-01"}, 383, 399, Severity.WARNING),
    ("094-verl-issue721-nan-step59.log", {"GRD-04"}, 59, 59, Severity.CRITICAL),
    ("095-verl-issue498-vfloss-nan-step1.log", {"GRD-04"}, 1, 1, Severity.CRITICAL),
    ("098-dapo17k-qwen3-8b-v07-step3-noprefix.log", {"LEN-03"}, 3, 3, Severity.WARNING),
)
FILES = (*HEALTHY, *dict.fromkeys(name for name, *_ in SICK))


@pytest.fixture(scope="module")
def findings(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Findings]:
    folder = tmp_path_factory.mktemp("real")
    for name in FILES:
        (folder / "runs" / name[:3]).mkdir(parents=True)
        shutil.copy(corpus / "logs" / name, folder / "runs" / name[:3] / name)
    update(folder / "runs", folder / "home", jobs=1)
    shelf = Archive(folder / "home")
    found = rules.evaluate(shelf, shelf.runs(), rules.catalog())
    return {one.partition("-")[0]: each for one, each in found.items()}


def test_every_log_is_a_run(findings: Mapping[str, Findings]) -> None:
    assert set(findings) == {name[:3] for name in FILES}


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_log_raises_no_error(name: str, findings: Mapping[str, Findings]) -> None:
    raised = [one for one in findings[name[:3]].incidents if one.severity >= Severity.ERROR]
    assert [(one.rule, one.first, one.message) for one in raised] == []


@pytest.mark.parametrize(("name", "codes", "earliest", "latest", "severity"), SICK)
def test_a_sick_log_is_told(
    name: str,
    codes: set[str],
    earliest: int | None,
    latest: int | None,
    severity: Severity,
    findings: Mapping[str, Findings],
) -> None:
    incidents = findings[name[:3]].incidents
    found = [one for one in incidents if one.rule in codes and one.severity >= severity]
    assert found, [(one.rule, one.severity.word, one.first) for one in incidents]
    onset = found[0].first
    if earliest is None or latest is None:
        assert onset is None
    else:
        assert onset is not None
        assert earliest <= onset <= latest
