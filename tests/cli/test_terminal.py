from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

PROGRAM = "from sitegen.cli.screen import Screen; Screen().line(('critical', 'critical'), ' text')"


def on_a_terminal(**environment: str) -> bytes:
    """What the program writes when its output is a terminal."""
    leader, follower = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", **environment}
    env = {name: value for name, value in env.items() if name != "NO_COLOR" or name in environment}
    subprocess.run([sys.executable, "-c", PROGRAM], stdout=follower, env=env, check=True)
    os.close(follower)
    written = os.read(leader, 4096)
    os.close(leader)
    return written


def test_a_terminal_gets_colour() -> None:
    assert b"\x1b[" in on_a_terminal()


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colour_where_it_is_not_wanted(environment: dict[str, str]) -> None:
    text = on_a_terminal(**environment)
    assert b"critical text" in text.replace(b"\x1b[1m", b"").replace(b"\x1b[0m", b"")
    assert b"\x1b[31m" not in text and b"31m" not in text


def test_no_colour_in_a_pipe() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True)
    assert done.stdout == b"critical text\n"
