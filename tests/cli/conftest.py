"""A folder of small runs, written here line by line, and the command line as a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sitegen.cli.main import run


@dataclass(frozen=True)
class Answer:
    """What a command said."""

    status: int
    out: str
    err: str


Sitegen = Callable[..., Answer]


@pytest.fixture
def sitegen(
    capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Sitegen]:
    """Call the command line in an empty folder, without a terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SITEGEN_DEBUG", raising=False)

    def call(*arguments: object) -> Answer:
        capfdbinary.readouterr()
        status = run([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return Answer(status, out.decode(), err.decode())

    yield call


def console(scores: list[float], **more: list[float]) -> str:
    """Console output of a run: one line per step, with a score and what else is given."""
    lines = []
    for place, score in enumerate(scores):
        extra = "".join(f" - {name.replace('__', '/')}:{values[place]!r}" for name, values in more.items())
        lines.append(f"step:{place + 1} - critic/score/mean:{score!r}{extra}")
    return "\n".join(lines) + "\n"


def healthy(n: int = 60) -> str:
    """A score that climbs and stays."""
    return console([round(min(0.8, 0.2 + place * 0.02), 3) for place in range(n)])


def sick(n: int = 60) -> str:
    """A run whose process ran out of GPU memory."""
    return healthy(n) + (
        "Traceback (most recent call last):\n"
        '  File "/srv/verl/workers/fsdp_workers.py", line 1, in update_actor\n'
        "    loss.backward()\n"
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
    )


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """`runs/` with a healthy run, a crashed one and a file that is no log."""
    folder = tmp_path / "runs"
    for name, text in (("good", healthy()), ("bad", sick())):
        (folder / name).mkdir(parents=True)
        (folder / name / "train.log").write_text(text)
    (folder / "shopping.csv").write_text("milk,2\n")
    return folder
