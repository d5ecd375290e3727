"""Counts, and the command that prints them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sitegen.model import Severity
from tests.detection.__main__ import main
from tests.detection.scoring import Score
from tests.detection.trace import Label

LABEL = Label("made", ("KL-05",), (), 1, 2, "low", False, False, Severity.WARNING)


def test_recall_and_precision_count_what_was_found_against_what_was_there_and_what_was_said() -> None:
    score = Score("KL-05", injected=10, found=8, stray=1, alarms=1, healthy=20)
    assert score.missed == 2
    assert score.recall == 0.8
    assert score.precision == 0.8
    assert score.alarms_per_run == 0.05


def test_where_nothing_was_there_there_is_no_recall() -> None:
    score = Score("KL-05")
    assert (score.recall, score.precision, score.alarms_per_run, score.onset(50)) == (None, None, None, None)


def test_a_miss_counts_for_its_strength() -> None:
    score = Score("KL-05")
    score.count(LABEL, None, 100)
    assert score.by_strength == {"low": (1, 0)}


def test_onset_errors_are_shares_of_the_run_early_or_late() -> None:
    score = Score("KL-05", late=[-3.0, 1.0, 2.0])
    assert score.onset(50) == 2.0


def test_the_command_prints_the_tables_and_writes_the_scorecard(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "scorecard.json"
    words = ["--seeds", "dev", "--runs", "1", "--fast", "--only", "kl-jump", "--only", "one-step"]
    assert main([*words, "--json", str(file)]) == 0
    printed = capsys.readouterr().out
    assert "KL-05" in printed
    assert "as logged: " in printed
    card = json.loads(file.read_text(encoding="utf-8"))
    assert card["seeds"] == {"set": "dev", "first": 0, "last": 0}
    assert card["runs"] == {"incident": 3, "healthy": 1}
    assert card["rules"]["KL-05"]["injected"] == 3


def test_the_command_shows_one_run_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--show", "kl-jump-high-0001"]) == 0
    assert capsys.readouterr().out.startswith("kl-jump (high), steps ")
