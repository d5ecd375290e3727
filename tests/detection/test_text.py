"""Rules say the same of a run whether it came as text through an archive or as Parquet from the simulator."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from sitegen import archive, rules
from sitegen.model import Findings
from tests.detection.simulate import by_name
from tests.detection.write import Shelf, console, file_log

CONSOLE = (
    "reward-collapse-medium-0001",
    "hacking-medium-0001",
    "gradient-nan-high-0001",
    "nan-for-good-medium-0001",
    "sft-nan-medium-0001",
    "step-gap-medium-0001",
    "step-rewind-medium-0001",
    "restart-loop-medium-0001",
    "gpu-oom-high-0002",
    "gpu-oom-at-start-medium-0001",
    "host-oom-medium-0001",
    "worker-killed-medium-0001",
    "nccl-timeout-high-0001",
    "disk-full-high-0001",
    "exception-medium-0001",
    "told-to-stop-medium-0001",
    "silent-end-medium-0001",
    "plain-0001",
    "resumed-0001",
    "fine-tuning-0001",
    "auxiliary-nan-0001",
    "handled-errors-0001",
    "validation-only-0001",
    "one-step-0001",
)
SIZE = (120, 1)
FILE_LOGGER = (
    "kl-jump-medium-0001",
    "rollout-gap-medium-0001",
    "truncation-medium-0001",
    "host-leak-high-0001",
)

Said = set[tuple[str, str, int | None, int | None]]


def said(found: Findings) -> Said:
    """Findings but for what rests on the configuration, which FileLogger does not write."""
    return {
        (one.rule, one.severity.word, one.first, one.last)
        for one in found.incidents
        if not one.rule.startswith("META")
    }


@pytest.fixture(scope="module")
def direct(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Findings]:
    folder = tmp_path_factory.mktemp("direct")
    shelf = Shelf(folder, [by_name(name, SIZE) for name in (*CONSOLE, *FILE_LOGGER)])
    return rules.evaluate(shelf, shelf.runs(), rules.catalog())


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Findings]:
    folder = tmp_path_factory.mktemp("read")
    for name in CONSOLE:
        _put(folder / "runs" / name / "train.log", console(by_name(name, SIZE)))
    for name in FILE_LOGGER:
        _put(folder / "runs" / name / "log.jsonl", file_log(by_name(name, SIZE)))
    home = folder / "home"
    archive.update(folder / "runs", home, jobs=1)
    shelf = archive.Archive(home)
    return rules.evaluate(shelf, shelf.runs(), rules.catalog())


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")


def test_every_run_is_read(read: Mapping[str, Findings]) -> None:
    assert set(read) == {*CONSOLE, *FILE_LOGGER}


@pytest.mark.parametrize("name", CONSOLE)
def test_console_text_leads_to_the_same_findings(
    name: str, direct: Mapping[str, Findings], read: Mapping[str, Findings]
) -> None:
    assert said(read[name]) == said(direct[name])


@pytest.mark.parametrize("name", FILE_LOGGER)
def test_file_logger_lines_lead_to_the_same_findings(
    name: str, direct: Mapping[str, Findings], read: Mapping[str, Findings]
) -> None:
    assert said(read[name]) >= {one for one in said(direct[name]) if not one[0].startswith(("RUN", "GRP"))}


def test_torn_lines_are_told_as_such(tmp_path: Path) -> None:
    _put(tmp_path / "runs" / "torn" / "train.log", console(by_name("torn-lines-high-0001", SIZE)))
    archive.update(tmp_path / "runs", tmp_path / "home", jobs=1)
    shelf = archive.Archive(tmp_path / "home")
    found = rules.evaluate(shelf, ["torn"], rules.catalog())["torn"]
    assert "LOG-04" in {one.rule for one in found.incidents}
