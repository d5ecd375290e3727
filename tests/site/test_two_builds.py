"""Two builds of one archive at the same time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_the_second_waits_and_both_end_well(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "a"
    run.mkdir(parents=True)
    (run / "train.log").write_text("step:1 - critic/score/mean:0.5\nstep:2 - critic/score/mean:0.6\n")
    command = [sys.executable, "-m", "sitegen", "build", "runs", "-o", "site"]
    both = [
        subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        for _ in range(2)
    ]
    said = [one.communicate(timeout=200)[1] for one in both]
    assert [one.returncode for one in both] == [0, 0], said
    assert sum("another build holds" in text for text in said) == 1
    assert not (tmp_path / ".site.new").exists()
