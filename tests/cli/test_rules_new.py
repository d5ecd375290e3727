"""`sitegen rules new`, and cards in folders of a site's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Sitegen

SITE = "site_name: x\nplugins:\n  - sitegen: {rules: [cards]}\n"


@pytest.fixture(autouse=True)
def docs(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()


def test_a_new_card_passes_its_cases_and_says_what_to_fill_in(sitegen: Sitegen) -> None:
    answer = sitegen("rules", "new", "own-01", "--title", "Prompts are cut", "--metric", "prompt_clip_ratio")
    assert answer.status == 0, answer.err
    file = "my-rules/OWN-01-prompts-are-cut.md"
    assert f"{file}:2: one sentence" in answer.out
    assert "rules: [my-rules]" in answer.out
    tested = sitegen("rules", "test", file)
    assert (tested.status, tested.out) == (0, "3 of 3 cases pass\n"), tested.err


def test_what_it_prints_is_a_mkdocs_yml_that_builds(sitegen: Sitegen, tmp_path: Path) -> None:
    printed = sitegen("rules", "new", "OWN-01").out
    start = printed.index("site_name:")
    Path("mkdocs.yml").write_text(printed[start : printed.index("It wants a folder")])
    (tmp_path / "runs").mkdir()
    assert "mkdir docs" in printed  # which the fixture did
    assert sitegen("build", "-q").status == 0
    assert (tmp_path / "site/rules/OWN-01/index.html").is_file()


def test_where_there_is_a_mkdocs_yml_only_the_lines_to_add_are_printed(sitegen: Sitegen) -> None:
    Path("mkdocs.yml").write_text("site_name: x\nplugins: [sitegen]\n")
    printed = sitegen("rules", "new", "OWN-01").out
    assert "Add there:\nplugins:\n  - sitegen:\n      rules: [my-rules]\n" in printed
    assert "site_name" not in printed


def test_it_goes_into_the_folder_that_the_site_names(sitegen: Sitegen) -> None:
    Path("mkdocs.yml").write_text(SITE)
    Path("cards").mkdir()
    answer = sitegen("rules", "new", "OWN-01")
    assert "plugins:" not in answer.out
    assert Path("cards/OWN-01-new-rule.md").is_file()
    assert sitegen("rules", "show", "OWN-01").out.startswith("OWN-01  New rule")
    for named in ("OWN-01", "cards", "cards/OWN-01-new-rule.md"):
        assert sitegen("rules", "test", named).out == "3 of 3 cases pass\n", named


def test_a_code_whose_card_no_site_names_says_where_it_is_and_what_to_do(sitegen: Sitegen) -> None:
    sitegen("rules", "new", "OWN-01")
    for settings in (None, "site_name: x\nplugins: [sitegen]\n"):
        if settings:
            Path("mkdocs.yml").write_text(settings)
        answer = sitegen("rules", "test", "own-01")
        assert answer.status == 2
        assert ("has no mkdocs.yml" in answer.err) == (settings is None)
        assert "sitegen rules test my-rules/OWN-01-new-rule.md" in answer.err
        assert "rules: [my-rules]" in answer.err


def test_a_code_that_is_nowhere_names_the_nearest(sitegen: Sitegen) -> None:
    answer = sitegen("rules", "test", "KL-99")
    assert answer.status == 2
    assert "Did you mean 'KL-09'?" in answer.err and "give the file" not in answer.err


def test_parameters_of_the_site_are_shown_beside_those_of_the_card(sitegen: Sitegen) -> None:
    Path("mkdocs.yml").write_text(SITE.replace("[cards]", "[cards], params: {OWN-01: {times: 3.5}}"))
    Path("cards").mkdir()
    sitegen("rules", "new", "OWN-01")
    assert "times = 3.5 (set by this site; the card says 2.0)" in sitegen("rules", "show", "OWN-01").out


def test_it_goes_into_the_folder_that_is_asked_for(sitegen: Sitegen) -> None:
    assert sitegen("rules", "new", "OWN-01", "--into", "a/b").status == 0
    assert Path("a/b/OWN-01-new-rule.md").is_file()


def test_a_code_that_exists_is_refused_with_a_free_one(sitegen: Sitegen) -> None:
    answer = sitegen("rules", "new", "KL-05")
    assert answer.status == 2
    assert "KL-05 exists:" in answer.err and "KL-05-kl-jump.md. KL-" in answer.err
    assert not Path("my-rules").exists()


def test_a_code_of_the_folder_itself_is_refused_too(sitegen: Sitegen) -> None:
    sitegen("rules", "new", "OWN-01")
    answer = sitegen("rules", "new", "OWN-01", "--title", "Another")
    assert answer.status == 2 and "OWN-02 is free" in answer.err


@pytest.mark.parametrize("code", ["K-05", "KL05", "KL-5", "../../x", "KL-05-x"])
def test_what_is_no_code_is_refused(sitegen: Sitegen, code: str) -> None:
    answer = sitegen("rules", "new", code)
    assert answer.status == 2 and "is no rule code: expected" in answer.err


def test_an_unknown_metric_is_told_the_nearest(sitegen: Sitegen) -> None:
    answer = sitegen("rules", "new", "OWN-01", "--metric", "entropi")
    assert answer.status == 2 and "Did you mean 'entropy'?" in answer.err


def test_a_card_of_the_catalog_is_tested_by_its_file(sitegen: Sitegen, repo: Path) -> None:
    (file,) = (repo / "sitegen/rules/catalog").glob("GRD-04-*.md")
    answer = sitegen("rules", "test", file)
    assert answer.status == 0 and answer.out.endswith("cases pass\n"), answer.err
