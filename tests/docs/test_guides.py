"""The guides in other languages say what the English ones say: same headings, anchors, commands and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown import Markdown

from sitegen.language import ENGLISH, LANGUAGES

GUIDES = ("add-a-run.md", "charts.md", "publishing.md")
OTHERS = [(code, name) for code in LANGUAGES if code != ENGLISH for name in GUIDES]
_FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_SPAN = re.compile(r"`([^`\n]+)`")


def pair(repo: Path, code: str, name: str) -> tuple[str, str]:
    folder = repo / "templates"
    return (folder / "docs" / name).read_text("utf-8"), (folder / "guides" / code / name).read_text("utf-8")


def headings(text: str) -> list[tuple[int, str]]:
    """(level, anchor) of every heading, as MkDocs makes them."""
    reader = Markdown(extensions=["toc", "attr_list", "tables", "fenced_code", "admonition"])
    reader.convert(text)

    def walk(tokens: list[dict[str, object]]) -> Iterator[tuple[int, str]]:
        for one in tokens:
            yield int(str(one["level"])), str(one["id"])
            yield from walk(one["children"])  # type: ignore[arg-type]

    return list(walk(reader.toc_tokens))  # type: ignore[attr-defined]


def test_every_guide_is_there_in_every_language(repo: Path) -> None:
    assert sorted(one.name for one in (repo / "templates/docs").glob("*.md")) == sorted(GUIDES)
    for code in LANGUAGES:
        if code != ENGLISH:
            assert sorted(one.name for one in (repo / "templates/guides" / code).iterdir()) == sorted(GUIDES)


@pytest.mark.parametrize(("code", "name"), OTHERS)
def test_headings_have_the_same_levels_and_anchors(repo: Path, code: str, name: str) -> None:
    english, other = pair(repo, code, name)
    assert len(headings(english)) >= 3
    assert headings(other) == headings(english)


@pytest.mark.parametrize(("code", "name"), OTHERS)
def test_blocks_of_code_are_the_same(repo: Path, code: str, name: str) -> None:
    english, other = pair(repo, code, name)
    assert _FENCE.findall(other) == _FENCE.findall(english)


@pytest.mark.parametrize(("code", "name"), OTHERS)
def test_tables_have_the_same_number_of_rows_and_columns(repo: Path, code: str, name: str) -> None:
    english, other = pair(repo, code, name)
    shapes = [
        [line.count("|") for line in text.splitlines() if line.startswith("|")] for text in (english, other)
    ]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize(("code", "name"), OTHERS)
def test_names_of_files_settings_and_commands_are_the_same(repo: Path, code: str, name: str) -> None:
    named = [
        set(_SPAN.findall(_FENCE.sub("", text))) - {"/a pattern/", "/正则表达式/", "fixed by: <实验 id>"}
        for text in pair(repo, code, name)
    ]
    assert named[1] ^ named[0] <= {"fixed by: <id of a run>"}


@pytest.mark.parametrize(("code", "name"), OTHERS)
def test_links_lead_to_the_same_places(repo: Path, code: str, name: str) -> None:
    english, other = (sorted(re.findall(r"\]\(([^)]+)\)", text)) for text in pair(repo, code, name))
    assert other == english


@pytest.mark.parametrize("name", GUIDES)
def test_every_fence_is_one_for_plain_mkdocs(repo: Path, name: str) -> None:
    """A title behind the language is known to an extension only that a site need not have."""
    for folder in ("docs", "guides/zh"):
        text = (repo / "templates" / folder / name).read_text("utf-8")
        assert "```" not in Markdown(extensions=["fenced_code", "tables"]).convert(text)
