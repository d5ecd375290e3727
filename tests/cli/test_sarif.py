"""SARIF: valid, on the line of the log or of the run's YAML, with paths of the repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from sitegen.cli import sarif
from sitegen.cli.whereabouts import Checked
from sitegen.reports import assemble
from tests.cli.conftest import Sitegen, sick
from tests.reports import made

LEVELS = {"none", "note", "warning", "error"}


def faults(document: Any) -> list[str]:
    """What SARIF 2.1.0 and GitHub's code scanning ask for and `document` lacks."""
    found = [] if document["version"] == "2.1.0" else ["version"]
    found += [] if set(document) == {"$schema", "version", "runs"} else ["properties of the log"]
    for run in document["runs"]:
        rules = run["tool"]["driver"]["rules"]
        found += [] if run["tool"]["driver"]["name"] else ["no name"]
        found += [] if len({rule["id"] for rule in rules}) == len(rules) else ["a rule stands twice"]
        found += [rule["id"] for rule in rules if not rule["shortDescription"]["text"]]
        for result in run["results"]:
            found += [] if rules[result["ruleIndex"]]["id"] == result["ruleId"] else ["ruleIndex"]
            found += [] if result["level"] in LEVELS and result["message"]["text"] else ["level or message"]
            related = result.get("relatedLocations", [])
            found += [] if all(one["message"]["text"] and one["id"] >= 0 for one in related) else ["related"]
            for place in (*result["locations"], *related):
                uri = place["physicalLocation"]["artifactLocation"]["uri"]
                found += [] if uri and not uri.startswith(("/", "file:", "..")) and "\\" not in uri else [uri]
                found += [] if place["physicalLocation"]["region"]["startLine"] >= 1 else ["line"]
            marks = result.get("partialFingerprints", {})
            found += [] if all(isinstance(one, str) for one in marks.values()) else ["fingerprint"]
            states = [one["kind"] for one in result.get("suppressions", [])]
            found += [] if set(states) <= {"inSource", "external"} else ["suppression"]
    return found


def document(sitegen: Sitegen, *arguments: object) -> Any:
    return json.loads(sitegen("check", *arguments, "-f", "sarif", "--fail-on", "never").out)


def place(result: Any) -> tuple[str, int]:
    physical = result["locations"][0]["physicalLocation"]
    return unquote(physical["artifactLocation"]["uri"]), physical["region"]["startLine"]


def result(document: Any, rule: str) -> Any:
    return next(one for one in document["runs"][0]["results"] if one["ruleId"] == rule)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a run that ran out of memory, its configuration, and a run.toml with a fault."""
    (tmp_path / ".git").mkdir()
    run = tmp_path / "archive" / "runs" / "my team" / "bad"
    (run / ".hydra").mkdir(parents=True)
    (run / "train.log").write_text(sick(60))
    (run / ".hydra/config.yaml").write_text(
        "data:\n  train_batch_size: 64\nactor_rollout_ref:\n  actor:\n    use_dynamic_bsz: false\n"
        "    ppo_micro_batch_size_per_gpu: 8\n  rollout:\n    gpu_memory_utilization: 0.9\n"
    )
    (run / "run.toml").write_text('title = "T"\ntag = "x"\n')
    return tmp_path


def test_it_is_valid_whatever_is_checked(sitegen: Sitegen, repository: Path, runs: Path) -> None:
    for path in (repository / "archive/runs", repository / "archive/runs/my team/bad/train.log", runs):
        assert faults(document(sitegen, path)) == []


def test_a_crash_is_on_the_line_of_its_log_in_the_repository(sitegen: Sitegen, repository: Path) -> None:
    for path in ("archive/runs", "archive/runs/my team", "archive/runs/my team/bad"):
        found = result(document(sitegen, repository / path), "RUN-01")
        file, line = place(found)
        assert file == "archive/runs/my team/bad/train.log"
        assert "OutOfMemoryError" in (repository / file).read_text().splitlines()[line - 1]


def test_the_line_of_the_yaml_that_sets_what_the_advice_names_is_beside_it(
    sitegen: Sitegen, repository: Path
) -> None:
    found = result(document(sitegen, repository / "archive/runs"), "RUN-01")
    [related] = found["relatedLocations"]
    physical = related["physicalLocation"]
    file = repository / unquote(physical["artifactLocation"]["uri"])
    assert file.name == "config.yaml"
    line = file.read_text().splitlines()[physical["region"]["startLine"] - 1]
    assert line.split(":")[0].strip() in found["message"]["text"]


def test_a_finding_about_a_metric_is_on_the_record_of_its_onset(sitegen: Sitegen, tmp_path: Path) -> None:
    run = tmp_path / "repo" / "runs" / "nan"
    run.mkdir(parents=True)
    (tmp_path / "repo/.git").mkdir()
    lines = [
        "a line before",
        *(f"step:{n} - critic/score/mean:0.5 - actor/grad_norm:0.1" for n in range(1, 41)),
    ]
    lines[30] = "step:30 - critic/score/mean:0.5 - actor/grad_norm:nan"
    (run / "train.log").write_text("\n".join(lines) + "\n")
    found = result(document(sitegen, tmp_path / "repo/runs"), "GRD-04")
    assert place(found) == ("runs/nan/train.log", 31)


def test_a_fault_of_what_people_write_is_a_result_with_its_line(sitegen: Sitegen, repository: Path) -> None:
    (repository / "archive/runs/my team/bad/incidents").mkdir()
    (repository / "archive/runs/my team/bad/incidents/RUN-10-1.md").write_text("Nothing.\n")
    found = document(sitegen, repository / "archive/runs")
    assert place(result(found, "problem/run-toml")) == ("archive/runs/my team/bad/run.toml", 2)
    assert "Did you mean tags?" in result(found, "problem/run-toml")["message"]["text"]
    assert place(result(found, "problem/note")) == ("archive/runs/my team/bad/incidents/RUN-10-1.md", 1)


def test_the_card_of_a_rule_is_linked_where_the_site_is_known(sitegen: Sitegen, repository: Path) -> None:
    found = document(sitegen, repository / "archive/runs", "--site-url", "https://team.example/x")
    rule = next(one for one in found["runs"][0]["tool"]["driver"]["rules"] if one["id"] == "RUN-01")
    assert rule["helpUri"] == "https://team.example/x/rules/RUN-01/"


def test_outside_of_a_repository_paths_start_at_this_folder(sitegen: Sitegen, runs: Path) -> None:
    assert place(result(document(sitegen, runs / "bad"), "RUN-01"))[0] == "runs/bad/train.log"


def test_a_path_with_blanks_is_an_address() -> None:
    lines = (made.replaced(made.line("cuda_oom", "x"), path="my run/tr#in.log"),)
    sick_one = made.incident(evidence=made.moved(lines=lines))
    found = Checked(
        assemble.report(made.run(), made.findings(sick_one), {}, (), ()), Path("/srv/x"), Path("runs")
    )
    text = json.loads(sarif.document([found]))["runs"][0]["results"][0]["locations"][0]
    assert text["physicalLocation"]["artifactLocation"]["uri"] == "my%20run/tr%23in.log"
