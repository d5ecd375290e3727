"""Files that are called like a tracker's log and hold something else are none; damaged logs still are."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from sitegen import ingest
from sitegen.ingest.source import Source
from tests.ingest.events import event, file, scalar
from tests.ingest.wandb_files import BLOCK, framed, history

NAMES = ("run-abc.wandb", "backup.swanlab", "events.out.tfevents.1752817076.host.1.0")
RANDOM = random.Random(4).randbytes(3 * BLOCK)


def claimed(name: str, data: bytes, folder: Path) -> str | None:
    (folder / name).write_bytes(data)
    found = ingest.sniff(Source(f"run/{name}", folder / name))
    return found.NAME if found else None


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "data", [RANDOM, bytes(9000), b"I am a note, nothing else.\n" * 400], ids=["random", "zeros", "text"]
)
def test_what_holds_no_record_at_all_is_no_log(name: str, data: bytes, tmp_path: Path) -> None:
    assert claimed(name, data, tmp_path) is None


def test_a_log_of_w_and_b_that_lost_its_beginning_is_still_one(tmp_path: Path) -> None:
    log = framed(*(history(step, a=step, b="x" * 900) for step in range(1, 90)))
    assert len(log) > 2 * BLOCK
    assert claimed("run-abc.wandb", bytes(BLOCK) + log[BLOCK:], tmp_path) == "wandb"


def test_an_event_file_that_lost_its_beginning_is_still_one(tmp_path: Path) -> None:
    log = file(*(event(step, scalar("actor/lr", 0.1)) for step in range(1, 30)))
    assert claimed(NAMES[2], bytes(64) + log[64:], tmp_path) == "tensorboard"
