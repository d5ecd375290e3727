"""The bundled rules raise nothing on healthy runs, however these are logged."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen import archive, rules
from sitegen.model import Findings, PhaseName, Severity
from tests.rules import healthy

SEEDS = range(30)


def findings(
    tmp_path: Path, *, rows: int = 300, decimals: int | None = None, stride: int = 1
) -> list[Findings]:
    for seed in SEEDS:
        path = tmp_path / "runs" / f"seed-{seed:02}" / "log.jsonl"
        healthy.write(path, healthy.series(seed, rows), decimals=decimals, stride=stride)
    home = tmp_path / "home"
    archive.update(tmp_path / "runs", home, jobs=1)
    shelf = archive.Archive(home)
    return list(rules.evaluate(shelf, shelf.runs(), rules.catalog()).values())


def alarms(found: list[Findings]) -> list[str]:
    return [
        f"{one.run}: {incident.rule} {incident.first}-{incident.last}: {incident.message}"
        for one in found
        for incident in one.incidents
        if incident.severity >= Severity.WARNING
    ]


@pytest.fixture(scope="module")
def in_full(tmp_path_factory: pytest.TempPathFactory) -> list[Findings]:
    """Every step with every digit."""
    return findings(tmp_path_factory.mktemp("full"))


@pytest.mark.slow
def test_a_healthy_run_raises_no_warning(in_full: list[Findings]) -> None:
    assert len(in_full) == len(SEEDS)
    assert alarms(in_full) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "logged",
    [
        pytest.param({"decimals": 3}, id="three decimals, as verl printed until 0.4"),
        pytest.param({"stride": 10, "rows": 600}, id="every tenth step"),
        pytest.param({"rows": 60}, id="sixty steps"),
    ],
)
def test_nor_does_it_when_it_is_logged_otherwise(tmp_path: Path, logged: dict[str, int]) -> None:
    found = findings(tmp_path, **logged)
    assert len(found) == len(SEEDS)
    assert alarms(found) == []


@pytest.mark.slow
def test_a_healthy_run_warms_up_climbs_and_converges(in_full: list[Findings]) -> None:
    for one in in_full:
        names = [phase.phase for phase in one.phases]
        assert names[0] is PhaseName.WARMUP
        assert PhaseName.CLIMB in names
        assert names[-1] in (PhaseName.CONVERGED, PhaseName.PLATEAU), (one.run, names)
        assert not {PhaseName.COLLAPSE, PhaseName.DIVERGING, PhaseName.DECLINE} & set(names), (one.run, names)


@pytest.mark.slow
def test_rules_about_what_the_runs_log_were_really_evaluated(in_full: list[Findings]) -> None:
    silent = {"REW-05", "KL-05", "KL-06", "ENT-01", "ENT-03", "GRD-02", "LEN-01", "THR-01", "MEM-03"}
    for one in in_full:
        clear = {verdict.rule for verdict in one.verdicts if verdict.outcome.value == "clear"}
        assert silent <= clear, (one.run, silent - clear)
