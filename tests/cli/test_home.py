"""Where the archive is kept when nobody says."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen.cli import options


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_beside_runs_of_this_folder() -> None:
    assert options.settings(None, Path("runs")).archive_home == Path.cwd() / ".sitegen"


def test_nothing_is_left_beside_logs_that_lie_elsewhere(tmp_path: Path) -> None:
    home = options.settings(None, tmp_path / "elsewhere" / "runs").archive_home
    assert home.parent == tmp_path / "cache" / "sitegen"


def test_logs_of_two_places_have_two_archives(tmp_path: Path) -> None:
    homes = {options.settings(None, tmp_path / place / "runs").archive_home for place in ("a", "b")}
    assert len(homes) == 2


def test_what_the_command_line_says_wins(tmp_path: Path) -> None:
    assert options.settings(None, tmp_path / "runs", Path("mine")).archive_home == Path("mine")
