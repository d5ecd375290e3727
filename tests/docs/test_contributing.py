"""What CONTRIBUTING.md shows works as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

from sitegen import rules


def test_the_card_written_from_scratch_passes_its_own_cases(repo: Path, tmp_path: Path) -> None:
    text = (repo / "CONTRIBUTING.md").read_text()
    found = re.search(r"^````markdown\n(.*?)^````$", text, re.S | re.M)
    assert found
    (tmp_path / "LEN-20-prompts-cut.md").write_text(found.group(1))
    catalog = rules.catalog([tmp_path])
    results = rules.test(catalog, ["LEN-20"])
    assert [(one.name, one.message) for one in results] == [
        ("one prompt in five is cut", ""),
        ("a few odd prompts", ""),
    ]


def test_every_make_target_named_exists(repo: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (repo / "Makefile").read_text(), re.M))
    for file in ("README.md", "CONTRIBUTING.md"):
        named = set(re.findall(r"^ {4}make ([a-z]+)|`make ([a-z]+)`", (repo / file).read_text(), re.M))
        assert {a or b for a, b in named} <= targets, file
