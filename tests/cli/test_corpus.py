"""What is said about real logs: the verdict that a person gives who reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Sitegen

pytestmark = pytest.mark.corpus


def checked(sitegen: Sitegen, corpus: Path, prefix: str) -> dict[str, Any]:
    """The run of the one log whose name begins with `prefix`."""
    (file,) = (corpus / "logs").glob(f"{prefix}*")
    (run,) = json.loads(sitegen("check", "-q", file, "-f", "json").out)["runs"]
    return dict(run)


@pytest.mark.parametrize(
    ("prefix", "headline"),
    [
        ("027-", "Crashed before the first step: CUDA out of memory in update_actor"),
        ("049-", "Crashed before the first step: CUDA out of memory in generate_sequences"),
        ("053-", "No training step was logged: resumed at step 105 of 105; in the debugger (Pdb)"),
    ],
)
def test_a_run_without_a_step_says_why(sitegen: Sitegen, corpus: Path, prefix: str, headline: str) -> None:
    run = checked(sitegen, corpus, prefix)
    assert (run["headline"], run["steps"]) == (headline, 0)


@pytest.mark.parametrize("prefix", ["014-", "101-"])
def test_a_collapse_is_dated_and_ranked(sitegen: Sitegen, corpus: Path, prefix: str) -> None:
    run = checked(sitegen, corpus, prefix)
    assert run["status"] == "failed" and run["state"] == "DIVERGING"
    assert run["headline"].startswith("Reward collapse from step 3")
    onsets = {one["rule"]: one["first"] for one in run["incidents"]}
    assert all(30 <= onsets[rule] <= 37 for rule in ("REW-05", "LEN-02", "GRD-02"))


def test_a_healthy_reference_run_has_nothing_to_act_on(sitegen: Sitegen, corpus: Path) -> None:
    run = checked(sitegen, corpus, "001-")
    assert run["status"] == "healthy" and run["headline"].startswith("Healthy: converged")
    assert {one["severity"] for one in run["incidents"]} <= {"info"}


@pytest.mark.parametrize(("prefix", "step"), [("094-", 59), ("095-", 1)])
def test_numbers_that_are_not_finite_fail_a_run(
    sitegen: Sitegen, corpus: Path, prefix: str, step: int
) -> None:
    run = checked(sitegen, corpus, prefix)
    assert run["status"] == "failed" and run["headline"].endswith(f"at step {step}")


@pytest.mark.parametrize("prefix", ["010-", "019-", "030-"])
def test_a_run_that_stopped_without_a_word_is_unfinished(sitegen: Sitegen, corpus: Path, prefix: str) -> None:
    assert checked(sitegen, corpus, prefix)["headline"].endswith("without a word")


def test_the_last_word_of_a_run_that_stopped_is_told(sitegen: Sitegen, corpus: Path) -> None:
    headline = "Stopped at step 67 of 80; BrokenPipeError at exit"
    assert checked(sitegen, corpus, "089-")["headline"] == headline


def test_supervised_fine_tuning_is_known_by_its_validation_loss(sitegen: Sitegen, corpus: Path) -> None:
    run = checked(sitegen, corpus, "004-")
    assert run["status"] == "healthy"
    assert run["best"]["label"] == "loss" and run["best"]["value"] == pytest.approx(0.411)


def test_every_log_of_the_corpus_gets_a_verdict(sitegen: Sitegen, corpus: Path) -> None:
    answer = sitegen("check", corpus / "logs", "-f", "json", "--fail-on", "never")
    runs = json.loads(answer.out)["runs"]
    assert answer.status == 0 and len(runs) >= 26
    assert [run["run"] for run in runs if not run["headline"]] == []
    assert "no-run: 088-sdpo-rollouts-1-row3.jsonl" in answer.err  # named, not passed over
