from __future__ import annotations

import json
from pathlib import Path

import pytest

from sitegen.cli import findings
from sitegen.reports import assemble
from sitegen.reports.shapes import RunReport
from tests.cli.conftest import Sitegen, healthy
from tests.reports import made


def test_a_healthy_log_passes(sitegen: Sitegen, runs: Path) -> None:
    answer = sitegen("check", runs / "good")
    assert answer.status == 0
    assert answer.out.startswith("healthy    good  ")


def test_a_crash_is_told_with_cause_step_and_place(sitegen: Sitegen, runs: Path) -> None:
    answer = sitegen("check", runs / "bad" / "train.log")
    assert answer.status == 1
    assert "Crashed after step 60: CUDA out of memory in update_actor" in answer.out
    assert "critical  RUN-01" in answer.out


def test_a_folder_of_runs_is_checked_run_by_run(sitegen: Sitegen, runs: Path) -> None:
    answer = sitegen("check", runs, "-f", "json")
    assert [run["run"] for run in json.loads(answer.out)["runs"]] == ["bad", "good"]


def test_nothing_is_written_beside_the_logs(sitegen: Sitegen, runs: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    sitegen("check", runs)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("level", "status"), [("info", 1), ("warning", 1), ("error", 1), ("critical", 1), ("never", 0)]
)
def test_the_level_that_fails_can_be_chosen(sitegen: Sitegen, runs: Path, level: str, status: int) -> None:
    assert sitegen("check", runs / "bad", "--fail-on", level).status == status


def test_a_remark_fails_only_where_that_is_asked_for(sitegen: Sitegen, runs: Path) -> None:
    found = json.loads(sitegen("check", runs / "good", "-f", "json").out)["runs"][0]["incidents"]
    assert {incident["severity"] for incident in found} == {"info"}  # metadata is missing
    assert sitegen("check", runs / "good", "--fail-on", "warning").status == 0
    assert sitegen("check", runs / "good", "--fail-on", "info").status == 1


def test_json_has_the_fields_of_the_contract(sitegen: Sitegen, runs: Path) -> None:
    document = json.loads(sitegen("check", runs / "bad", "-f", "json").out)
    assert document["version"] == 1
    (run,) = document["runs"]
    assert {"run", "status", "state", "steps", "phases", "incidents", "verdicts", "problems"} <= set(run)
    assert (run["status"], run["steps"]) == ("crashed", 60)
    assert {"phase", "first", "last"} <= set(run["phases"][0])
    incident = next(one for one in run["incidents"] if one["rule"] == "RUN-01")
    wanted = {"id", "rule", "severity", "first", "last", "metric", "value", "threshold", "message", "advice"}
    assert wanted <= set(incident)
    assert incident["id"] == f"{run['run']}/RUN-01-1"
    assert run["verdicts"]["RUN-01"] == "fired" and run["verdicts"]["CRI-01"] == "not_applicable"


def test_a_log_that_nobody_can_read_says_what_was_expected(sitegen: Sitegen, tmp_path: Path) -> None:
    Path("notes.txt").write_text("milk\n")
    answer = sitegen("check", "notes.txt")
    assert answer.status == 2 and "Expected verl's console output" in answer.err


def test_a_path_without_anything_says_so(sitegen: Sitegen) -> None:
    answer = sitegen("check", "nowhere.log")
    assert answer.status == 2 and "there is nothing at 'nowhere.log'" in answer.err


def test_results_can_go_to_a_file(sitegen: Sitegen, runs: Path) -> None:
    assert sitegen("check", runs / "bad", "-o", "out/findings.txt").out == ""
    assert "RUN-01" in Path("out/findings.txt").read_text()


def report(**changes: object) -> RunReport:
    sick = made.incident(message="norm | <b> 5", evidence=made.moved(lines=(made.line("cuda_oom", "x", 31),)))
    return assemble.report(made.run(**changes), made.findings(sick), {}, (), (made.rule(),))


def test_text_names_problems_with_their_place() -> None:
    from sitegen.errors import Problem

    text = findings.text([report(problems=(Problem("a.log", 3, "truncated", "cut"),))]).plain().decode()
    assert "  truncated a.log:3: cut" in text


def test_the_same_log_gives_the_same_words(sitegen: Sitegen, tmp_path: Path) -> None:
    Path("a.log").write_text(healthy())
    assert sitegen("check", "a.log").out == sitegen("check", "a.log").out


def test_settings_of_a_site_without_a_page_of_its_own_are_heard(sitegen: Sitegen, runs: Path) -> None:
    Path("mkdocs.yml").write_text("site_name: t\nplugins:\n  - sitegen:\n      muted: [RUN-01]\n")
    assert "RUN-01" not in sitegen("check", runs / "bad").out
    Path("mkdocs.yml").write_text("site_name: t\nplugins:\n  - sitegen:\n      mutet: [RUN-01]\n")
    answer = sitegen("check", runs / "bad")
    assert answer.status == 2 and "unknown key 'mutet'. Did you mean 'muted'?" in answer.err


def test_incidents_alike_take_one_line() -> None:
    spikes = [
        made.incident("GRD-01", "info", first=at, id=f"demo/GRD-01-{n}", value=float(n))
        for n, at in enumerate((20, 40, 60), start=1)
    ]
    two = [made.incident("KL-05", "error", first=at, id=f"demo/KL-05-{at}") for at in (30, 80)]
    report = assemble.report(made.run(), made.findings(*spikes, *two), {}, (), [])
    text = findings.text([report]).plain().decode()
    assert text.count("GRD-01") == 1 and text.count("KL-05") == 2
    assert (
        "GRD-01  steps 60-70: Gradient norm 5.0 exceeds 1.0 (also 2 times, at steps 20-30, steps 40-50)"
        in text
    )
