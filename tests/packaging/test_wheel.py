"""The wheel, installed where there is no checkout, builds a site."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]

CONSOLE = "".join(
    f"step:{step} - actor/entropy:{1.0 - step / 100} - critic/score/mean:{step / 50} - timing_s/step:10.5\n"
    for step in range(1, 41)
)


@pytest.fixture(scope="module")
def sitegen(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `sitegen` command of a wheel in an environment of its own."""
    root = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", root, repo]
    subprocess.run(build, check=True, capture_output=True, timeout=120)
    (wheel,) = root.glob("*.whl")
    venv.create(root / "env", with_pip=True)
    python = root / "env" / "bin" / "python"
    install = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel]
    subprocess.run(install, check=True, timeout=600)
    return root / "env" / "bin" / "sitegen"


def build(sitegen: Path, folder: Path) -> Path:
    """Build `folder`/runs from `folder`, so that nothing of the checkout can be seen."""
    done = subprocess.run(
        [sitegen, "build", "runs", "-o", "site"], cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return folder / "site"


def test_it_builds_a_site_from_a_folder_of_logs(sitegen: Path, tmp_path: Path) -> None:
    run = tmp_path / "runs" / "first-try"
    run.mkdir(parents=True)
    (run / "train.log").write_text(CONSOLE)
    site = build(sitegen, tmp_path)
    assert "first-try" in (site / "runs" / "first-try" / "index.html").read_text()
    assert (site / "pagefind" / "pagefind.js").is_file()


def test_its_charts_come_alive(sitegen: Path, tmp_path: Path) -> None:
    run = tmp_path / "runs" / "first-try"
    run.mkdir(parents=True)
    (run / "train.log").write_text(CONSOLE)
    site = build(sitegen, tmp_path)
    assert "uPlot" in (site / "assets" / "lib" / "uplot.js").read_text()
    assert "assets/live.js" in (site / "runs" / "first-try" / "index.html").read_text()


def test_an_empty_folder_gives_a_site_that_says_how_to_add_a_run(sitegen: Path, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    assert "add a run" in (build(sitegen, tmp_path) / "index.html").read_text().lower()
