from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from sitegen.cli import main
from sitegen.cli.main import VERBS, app
from sitegen.cli.screen import clean
from tests.cli.conftest import Sitegen


def test_help_names_every_verb_and_how_to_begin(sitegen: Sitegen) -> None:
    answer = sitegen("--help")
    assert answer.status == 0
    assert [verb for verb in VERBS if f"  {verb} " not in answer.out] == []
    assert "sitegen check train.log" in answer.out


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(sitegen: Sitegen, verb: str) -> None:
    answer = sitegen(verb, "--help")
    assert answer.status == 0 and answer.out.startswith(f"Usage: sitegen {verb}")


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_says_what_it_does(verb: str) -> None:
    command = app.get_command(click.Context(app), verb)
    assert command is not None and command.help
    silent = [
        p.name for p in command.params if isinstance(p, click.Option) and not (p.help or p.name == "form")
    ]
    assert silent == []


def test_an_unknown_verb_is_told_the_nearest(sitegen: Sitegen) -> None:
    answer = sitegen("chekc")
    assert (answer.status, answer.out) == (2, "")
    assert "Did you mean 'check'?" in answer.err


def test_an_unknown_option_is_a_usage_error(sitegen: Sitegen) -> None:
    assert sitegen("check", "--frobnicate", "x").status == 2


@pytest.mark.parametrize("verb", ["build", "serve", "ingest"])
def test_a_missing_folder_says_what_was_expected_and_what_to_do(sitegen: Sitegen, verb: str) -> None:
    answer = sitegen(verb)
    assert answer.status == 2
    assert "there is no folder 'runs'" in answer.err and "mkdir -p runs/my-run" in answer.err
    assert "Traceback" not in answer.err


def test_a_bug_is_one_line_that_says_so_and_where(sitegen: Sitegen, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a wheel came off")

    monkeypatch.setattr(app, "main", broken)
    answer = sitegen("check", "x")
    assert answer.status == 70
    assert "this is a bug in sitegen" in answer.err and "RuntimeError" in answer.err
    assert "Traceback" not in answer.err


def test_a_bug_shows_its_traceback_where_that_is_asked_for(
    sitegen: Sitegen, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a wheel came off")

    monkeypatch.setattr(app, "main", broken)
    monkeypatch.setenv("SITEGEN_DEBUG", "1")
    assert "Traceback" in sitegen("check", "x").err


def test_interrupting_is_no_error_of_the_program(sitegen: Sitegen, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "main", stopped)
    answer = sitegen("check", "x")
    assert answer.status == 130 and "interrupted" in answer.err


def test_a_reader_that_leaves_early_is_fine() -> None:
    command = f"{sys.executable} -c 'import sitegen.cli; sitegen.cli.main()' rules list | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("code")


def test_what_a_log_says_cannot_steer_a_terminal() -> None:
    assert clean("a\x1b[31mb\x07\u202ec\td\n") == "a\ufffd[31mb\ufffd\ufffdc\td\n"


def test_the_version_is_told() -> None:
    assert CliRunner().invoke(app, ["--version"]).output.startswith("sitegen, version ")


def test_the_module_is_the_entry_point(repo: Path) -> None:
    assert 'sitegen = "sitegen.cli:main"' in (repo / "pyproject.toml").read_text()
    assert callable(main)
