"""What runs leave on disk can be read back."""

from __future__ import annotations

import gzip
import json
import pprint
import re
import tomllib
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from .config import Config, printed
from .logger import Style
from .scenarios import SCENARIOS
from .stage import Scenario, produce, run_toml

CONFIG = Config(
    "p",
    "e",
    steps=6,
    digits=(3, 4),
    batch=8,
    train_prompts=32,
    max_response_length=16,
    test_freq=3,
    save_freq=2,
)
SCENARIO = Scenario(
    name="team/run",
    config=CONFIG,
    started=datetime(2026, 10, 1, 8, 0, 0),
    title="A run",
    owner="Team",
    notes="Notes.",
    tags=("a", "b"),
    files=("console", "jsonl"),
    style=Style(pid=7),
)
OLD = replace(SCENARIO, style=Style(process="main_task", pid=7, decimals=3), files=("console",))


def records(log: str) -> list[dict[str, str]]:
    """Step lines of a console log: everything up to the last colon of a piece is the name."""
    found = []
    for line in log.splitlines():
        match = re.search(r"step:(\d+) - (.*)", line)
        if match:
            pieces = (piece.rpartition(":") for piece in match[2].split(" - "))
            found.append({"step": match[1]} | {name: value for name, _, value in pieces})
    return found


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    produce(SCENARIO, folder)
    return folder


def number(text: str) -> float:
    return float(re.sub(r"np\.float64\((.*)\)", r"\1", text))


def test_console_and_file_hold_the_same_values(runs: Path) -> None:
    console = records((runs / "team/run/train.log").read_text())
    lines = (runs / "team/run/e.jsonl").read_text().splitlines()
    for row, line in zip(console, lines, strict=True):
        record = json.loads(line)
        assert int(row.pop("step")) == record["step"]
        assert {name: number(value) for name, value in row.items()} == record["data"]


def test_workers_values_are_printed_as_numpy_scalars_and_the_rest_plain(runs: Path) -> None:
    row = records((runs / "team/run/train.log").read_text())[1]
    assert row["actor/grad_norm"].startswith("np.float64(")
    assert not row["critic/score/mean"].startswith("np")
    assert row["training/global_step"] == "1"


def test_the_log_starts_with_a_validation_at_step_zero(runs: Path) -> None:
    first = records((runs / "team/run/train.log").read_text())[0]
    assert first["step"] == "0"
    assert set(first) == {
        "step",
        *(f"val-{kind}/tinyrl/{source}/{variable}/mean@1" for source in ("running_sum", "running_sum_long")
          for kind, variable in (("core", "acc"), ("aux", "reward"))),
    }  # fmt: skip


def test_every_line_of_the_trainer_has_rays_prefix(runs: Path) -> None:
    log = (runs / "team/run/train.log").read_text()
    assert "\x1b[36m(TaskRunner pid=7)\x1b[0m step:1 - " in log
    assert "Total training steps: 6" in log


def test_the_old_style_has_three_decimals_and_old_names(tmp_path: Path) -> None:
    produce(OLD, tmp_path)
    row = records((tmp_path / "team/run/train.log").read_text())[3]
    assert re.fullmatch(r"-?\d+\.\d{3}", row["actor/entropy_loss"])
    assert "val/test_score/tinyrl/running_sum" in row
    assert "training/global_step" not in row


def test_a_resumed_run_goes_back_to_its_checkpoint(tmp_path: Path) -> None:
    produce(replace(SCENARIO, stop_at=5, resume_after=timedelta(hours=1)), tmp_path)
    log = (tmp_path / "team/run/train.log").read_text()
    assert [row["step"] for row in records(log)] == ["0", "1", "2", "3", "4", "5", "4", "5", "6"]
    assert "Found checkpoint: checkpoints/p/e/global_step_4" in log
    assert "SIGTERM received" in log


def test_a_crash_ends_the_log_with_its_traceback(tmp_path: Path) -> None:
    produce(replace(SCENARIO, config=replace(CONFIG, gpu_memory_gb=44.0)), tmp_path)
    log = (tmp_path / "team/run/train.log").read_text()
    assert "torch.OutOfMemoryError: CUDA out of memory." in log
    assert log.rstrip().endswith("exit code 1")
    assert str(Path(__file__).parents[2]) not in log


def test_the_seed_dialect_has_flat_records_and_three_channels(tmp_path: Path) -> None:
    produce(replace(SCENARIO, files=("seed",), config=replace(CONFIG, steps=20)), tmp_path)
    folder = tmp_path / "team/run"
    rows = [json.loads(line) for line in (folder / "logs/metrics/e.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == list(range(1, 21))
    assert {"reward_mean", "kl_div", "actor_loss", "lr_actor", "tokens_per_sec"} <= set(rows[0])
    console = (folder / "console.log").read_text()
    assert console.startswith("[INFO] 2026-10-01 ")
    assert "[METRIC] {" in console
    assert "[DEBUG] 2026-10-01" in (folder / "logs/debug/20261001_080000.log").read_text()


def test_files_repeat_to_the_byte_packed_or_not(tmp_path: Path) -> None:
    packed = replace(SCENARIO, files=("console.gz", "jsonl"))
    for name in ("one", "two"):
        produce(packed, tmp_path / name)
    first, second = (
        {path.name: path.read_bytes() for path in (tmp_path / name / "team/run").iterdir()}
        for name in ("one", "two")
    )
    assert first == second
    assert len(records(gzip.decompress(first["train.log.gz"]).decode())) == 7


def test_the_bundled_archive_tells_whose_each_run_is() -> None:
    assert len({scenario.name for scenario in SCENARIOS}) == len(SCENARIOS) >= 9
    for scenario in SCENARIOS:
        assert '"' not in scenario.title + scenario.notes
        assert "\\" not in scenario.title + scenario.notes


def test_a_run_card_is_toml(runs: Path) -> None:
    card = tomllib.loads((runs / "team/run/run.toml").read_text())
    assert (card["title"], card["tags"], card["notes"].strip()) == ("A run", ["a", "b"], "Notes.")


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_the_bundled_archive_is_that_of_these_scenarios(scenario: Scenario, repo: Path) -> None:
    """Changed settings need runs trained with them: `make runs`."""
    folder = repo / "runs" / scenario.name
    assert (folder / "run.toml").read_text() == run_toml(scenario)
    log = folder / "train.log"
    packed = log.with_name("train.log.gz")
    if log.is_file() or packed.is_file():
        text = log.read_text() if log.is_file() else gzip.decompress(packed.read_bytes()).decode()
        prefix = scenario.style.prefix
        for line in pprint.pformat(printed(scenario.config)).splitlines():
            assert f"{prefix}{line}\n" in text


def test_the_bundled_archive_is_small(repo: Path) -> None:
    assert sum(path.stat().st_size for path in (repo / "runs").rglob("*") if path.is_file()) < 5_000_000
