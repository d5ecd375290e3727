"""A muted finding, wherever findings are told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Sitegen

REASON = "the job was stopped on purpose, <b>see</b> the lab book"


@pytest.fixture
def muted(runs: Path) -> Path:
    """The crashed run of `runs`, whose fatal finding is muted."""
    (runs / "bad/run.toml").write_text(f'[mute]\n"RUN-01" = "{REASON}"\n')
    return runs / "bad"


def test_it_does_not_count_for_the_exit_status(sitegen: Sitegen, runs: Path) -> None:
    assert sitegen("check", runs / "bad").status == 1
    (runs / "bad/run.toml").write_text(f'[mute]\n"RUN-01" = "{REASON}"\n')
    assert sitegen("check", runs / "bad").status == 0


def test_the_text_shows_it_with_its_reason(sitegen: Sitegen, muted: Path) -> None:
    lines = sitegen("check", muted).out.splitlines()
    (line,) = [line for line in lines if line.startswith("  muted ")]
    assert "RUN-01" in line and line.endswith(f"(muted: {REASON})")
    assert "1 finding is muted by run.toml (RUN-01)." in lines[1]


def test_json_keeps_it_apart(sitegen: Sitegen, muted: Path) -> None:
    (run,) = json.loads(sitegen("check", muted, "--format", "json").out)["runs"]
    assert "RUN-01" not in [one["rule"] for one in run["incidents"]]
    assert [(one["rule"], one["reason"]) for one in run["muted"]] == [("RUN-01", REASON)]
    assert (run["verdicts"]["RUN-01"], run["status"]) == ("muted", "healthy")


def test_sarif_suppresses_it_with_the_reason(sitegen: Sitegen, muted: Path) -> None:
    results = json.loads(sitegen("check", muted, "--format", "sarif").out)["runs"][0]["results"]
    (result,) = [one for one in results if one["ruleId"] == "RUN-01"]
    assert [one["justification"] for one in result["suppressions"]] == [REASON]


def test_markdown_has_a_table_of_its_own_for_it(sitegen: Sitegen, muted: Path) -> None:
    text = sitegen("check", muted, "--format", "markdown").out
    assert "why it does not count" in text and "<b>" not in text


def test_the_report_has_a_section_for_it(sitegen: Sitegen, muted: Path) -> None:
    text = sitegen("report", muted).out
    assert "## Muted" in text and "RUN-01" in text.split("## Muted")[1] and "<b>" not in text


def test_queries_see_the_verdict_and_no_incident(sitegen: Sitegen, muted: Path, runs: Path) -> None:
    ask = "SELECT verdict, reason FROM verdicts WHERE run = 'bad' AND rule = 'RUN-01'"
    assert sitegen("query", ask, runs, "-f", "csv").out.splitlines()[1].startswith('"muted"')
    count = "SELECT count(*) AS n FROM incidents WHERE rule = 'RUN-01'"
    assert sitegen("query", count, runs, "-f", "csv").out.splitlines()[1] == "0"


def test_a_code_that_does_not_exist_is_told_with_the_nearest(sitegen: Sitegen, runs: Path) -> None:
    (runs / "bad/run.toml").write_text('presets = ["seeed000"]\n[mute]\n"RUN-1" = "why"\n')
    out = sitegen("check", runs / "bad").out
    assert "run.toml:3: mute: there is no rule RUN-1; nothing is muted. Did you mean RUN-01?" in out
    assert "run.toml: presets: no card knows seeed000; it changes nothing. Did you mean seed000?" in out


TOML = 'baseline = "nobody"\npresets = ["seeed000"]\n[mute]\nRUN-1 = "why"\n'


def test_what_a_run_toml_asks_in_vain_is_told_by_ingest_too(sitegen: Sitegen, runs: Path) -> None:
    (runs / "good/run.toml").write_text(TOML)
    out = sitegen("ingest", runs).out
    assert "good/run.toml:4: mute: there is no rule RUN-1; nothing is muted. Did you mean RUN-01?" in out
    assert "good/run.toml: presets: no card knows seeed000; it changes nothing. Did you mean seed000?" in out
    assert "good/run.toml: baseline: nobody is no run of this archive; the run is compared with none." in out
    assert sitegen("ingest", runs, "--strict").status == 1


def test_and_stands_in_the_table_of_problems(sitegen: Sitegen, runs: Path) -> None:
    (runs / "good/run.toml").write_text(TOML)
    ask = "SELECT run, kind, line FROM problems WHERE path = 'good/run.toml' ORDER BY kind, line"
    assert sitegen("query", ask, runs, "-f", "csv").out.splitlines()[1:] == [
        '"good","baseline",',
        '"good","run-toml",4',
        '"good","run-toml",',
    ]


def test_a_run_looked_at_alone_may_have_its_baseline_elsewhere(sitegen: Sitegen, runs: Path) -> None:
    (runs / "good/run.toml").write_text(TOML)
    assert "baseline: nobody" not in sitegen("check", runs / "good").out
    assert "baseline: nobody" in sitegen("check", runs).out


def test_a_wrong_card_does_not_keep_runs_from_being_read(sitegen: Sitegen, runs: Path) -> None:
    (runs / "good/run.toml").write_text(TOML)
    Path("cards").mkdir()
    Path("cards/OWN-01-x.md").write_text("# Nothing\n")
    Path("mkdocs.yml").write_text("site_name: x\nplugins:\n  - sitegen: {rules: [cards]}\n")
    answer = sitegen("ingest", runs)
    assert answer.status == 0 and "were not checked, a card is wrong" in answer.err
