"""The environment with the trackers' own packages, which `make trackers` installs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def interpreter() -> Path:
    """Its interpreter, or the one that SITEGEN_TRACKERS names. Absent it is a skip, in CI a failure."""
    python = Path(os.environ.get("SITEGEN_TRACKERS") or Path(sys.prefix) / "trackers" / "bin" / "python")
    if not python.is_file():
        if os.environ.get("CI") == "true":
            pytest.fail("the trackers' packages are missing; `make trackers` installs them")
        pytest.skip("no environment with the trackers' packages: `make trackers` installs it")
    return python


def run(
    script: Path, *arguments: object, stdin: str = "", cwd: Path | None = None, **environment: str
) -> str:
    """What a script prints that runs there, in `environment` and little else."""
    kept = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
    done = subprocess.run(
        [str(interpreter()), str(script), *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**kept, "no_proxy": "*", **environment},
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
