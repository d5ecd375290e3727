"""The recipes in docs/publishing.md do what they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.publishing.test_workflows import actionlint, zizmor


@pytest.fixture(scope="module")
def guide(repo: Path) -> str:
    return (repo / "templates/docs/publishing.md").read_text()


def block(guide: str, title: str) -> str:
    found = re.search(rf"^\*{re.escape(title)}\*\n\n```\w+\n(.*?)^```", guide, re.S | re.M)
    assert found, f"no code block titled {title!r}"
    return found.group(1)


def git(*words: str, cwd: Path) -> str:
    return subprocess.run(["git", *words], cwd=cwd, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A clone of a bare repository with one commit; what a cluster would have."""
    git("init", "-q", "--bare", "-b", "main", "origin.git", cwd=tmp_path)
    git("clone", "-q", "origin.git", "clone", cwd=tmp_path)
    clone = tmp_path / "clone"
    git("config", "user.name", "cluster", cwd=clone)
    git("config", "user.email", "cluster@example.invalid", cwd=clone)
    (clone / "README").write_text("archive\n")
    git("add", "README", cwd=clone)
    git("commit", "-q", "-m", "start", cwd=clone)
    git("push", "-q", "-u", "origin", "HEAD:main", cwd=clone)
    return clone


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "outputs"
    (folder / "global_step_10" / "actor").mkdir(parents=True)
    (folder / "global_step_10" / "actor" / "weights.bin").write_bytes(b"0" * 100)
    (folder / "model.safetensors").write_bytes(b"0" * 100)
    (folder / "console.log").write_text("step:1 - critic/score/mean:0.5\n")
    return folder


def archive_run(guide: str, archive: Path, run_folder: Path, tmp_path: Path, sitegen: str = "") -> None:
    script = tmp_path / "archive-run.sh"
    script.write_text(block(guide, "archive-run.sh"))
    subprocess.run(
        ["bash", script, run_folder, "job-7"],
        check=True,
        env={**os.environ, "ARCHIVE": str(archive), "SITEGEN": sitegen},
        timeout=120,
    )


def test_a_run_is_pushed_without_its_checkpoints(
    guide: str, archive: Path, run_folder: Path, tmp_path: Path
) -> None:
    archive_run(guide, archive, run_folder, tmp_path)
    pushed = git("ls-tree", "-r", "--name-only", "main", cwd=tmp_path / "origin.git").split()
    assert pushed == ["README", "runs/job-7/console.log"]


def test_with_sitegen_an_export_is_pushed_and_replaced_when_the_log_has_grown(
    guide: str, archive: Path, run_folder: Path, tmp_path: Path
) -> None:
    sitegen = tmp_path / "sitegen"
    sitegen.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sitegen "$@"\n')
    sitegen.chmod(0o755)
    log = run_folder / "console.log"
    for steps in (3, 5):
        log.write_text("".join(f"step:{n} - critic/score/mean:0.{n}5\n" for n in range(1, steps + 1)))
        archive_run(guide, archive, run_folder, tmp_path, str(sitegen))
    pushed = git("ls-tree", "-r", "--name-only", "main", cwd=tmp_path / "origin.git").split()
    assert {"runs/job-7/run.json", "runs/job-7/steps.parquet", "runs/job-7/report.md"} <= set(pushed)
    assert not [name for name in pushed if name.endswith(".log")]
    assert '"last_step": 5' in git("show", "main:runs/job-7/run.json", cwd=tmp_path / "origin.git")


def test_a_second_call_without_news_does_nothing(
    guide: str, archive: Path, run_folder: Path, tmp_path: Path
) -> None:
    archive_run(guide, archive, run_folder, tmp_path)
    archive_run(guide, archive, run_folder, tmp_path)
    assert git("rev-list", "--count", "main", cwd=tmp_path / "origin.git").strip() == "2"


def test_a_push_of_somebody_else_is_taken_in_first(
    guide: str, archive: Path, run_folder: Path, tmp_path: Path
) -> None:
    git("clone", "-q", "origin.git", "other", cwd=tmp_path)
    other = tmp_path / "other"
    (other / "else").write_text("x\n")
    git("add", "else", cwd=other)
    git("-c", "user.name=o", "-c", "user.email=o@example.invalid", "commit", "-q", "-m", "else", cwd=other)
    git("push", "-q", cwd=other)
    archive_run(guide, archive, run_folder, tmp_path)
    pushed = git("ls-tree", "-r", "--name-only", "main", cwd=tmp_path / "origin.git").split()
    assert pushed == ["README", "else", "runs/job-7/console.log"]


@pytest.mark.parametrize("name", ["collect.yml", "runs.yml"])
def test_workflows_of_the_guide_pass_the_same_checks_as_ours(guide: str, tmp_path: Path, name: str) -> None:
    workflow = tmp_path / name
    workflow.write_text(block(guide, f"the archive's repository: .github/workflows/{name}"))
    assert actionlint([workflow]) == []
    done = zizmor([workflow])
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_action_named_in_the_guide_is_pinned(guide: str) -> None:
    used = re.findall(r"uses: ([^./$].*)", guide)
    assert len(used) == 6
    assert [use for use in used if not re.match(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", use)] == []


def test_the_guide_warns_that_a_site_may_be_public(guide: str) -> None:
    assert "may be public" in guide
