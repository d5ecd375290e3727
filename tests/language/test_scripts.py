"""What scripts say: every text has its Chinese, and a Chinese site says it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sitegen.language import catalog
from sitegen.mkdocs_plugin import languages
from sitegen.site import folder

SAID = re.compile(r"""(?<![.\w])t\(\s*(?:[^"()]*\? )?"([^"]+)"(?: : "([^"]+)")?""")
LISTED = re.compile(r"""\["[^"]*", "([^"]+)"\]""")  # pairs of a key and words, said where they are shown
ZH = catalog("zh")["script"]
ASSETS = folder() / "assets"


def said(name: str) -> set[str]:
    source = (ASSETS / name).read_text("utf-8")
    found = {text for pair in SAID.findall(source) for text in pair if text}
    return found | (set(LISTED.findall(source)) if "LAYERS = [" in source or "HELP = [" in source else set())


OTHERS = sorted(
    file.relative_to(ASSETS).as_posix()
    for file in (*ASSETS.glob("*.js"), *ASSETS.glob("compare/*.js"))
    if said(file.name if file.parent == ASSETS else f"compare/{file.name}")
)


def test_every_text_of_the_charts_is_said_in_chinese() -> None:
    parts = sorted(
        file.relative_to(folder() / "assets").as_posix() for file in (folder() / "assets/charts").glob("*.js")
    )
    texts = set().union(*(said(name) for name in (*parts, "run.js")))
    assert len(texts) > 60
    assert {text for text in texts if text not in ZH} == set()


@pytest.mark.parametrize("name", OTHERS)
def test_every_text_of_a_script_is_said_in_chinese(name: str) -> None:
    assert said(name) - set(ZH) == set()


def test_scripts_that_speak_are_known() -> None:
    speaking = {
        "choose.js",
        "finds.js",
        "links.js",
        "search.js",
        "tables.js",
        "compare/page.js",
        "compare/tables.js",
    }
    assert speaking <= set(OTHERS)


def test_a_place_is_kept() -> None:
    for english, chinese in ZH.items():
        assert set(re.findall(r"{\w+}", chinese)) == set(re.findall(r"{\w+}", english)), english


def test_words_are_added_to_the_script_that_says_them(tmp_path: Path) -> None:
    script = tmp_path / "words.js"
    script.write_text("say();\n")
    text = languages.words(script, "zh")
    assert text.startswith("say();\nObject.assign(window.sitegen.words, {")
    assert '"find a metric": "查找指标"' in text
