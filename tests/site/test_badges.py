"""Badges: one address per run, words that fit, nothing from a log as markup."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from sitegen.charts import palette
from sitegen.charts.badge import badge
from sitegen.model import Status
from sitegen.site import badges
from tests.site.synthetic import archive

SVG = "{http://www.w3.org/2000/svg}"
REPORT = archive(14, steps=40).report
ROWS = {row.id: row for row in REPORT.runs}


def words(svg: str) -> list[str]:
    return [one.text or "" for one in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def title(svg: str) -> str:
    return ElementTree.fromstring(svg).findtext(f"{SVG}title") or ""


def test_every_run_has_one_for_its_status_and_one_for_its_score_where_it_has_one() -> None:
    found = badges.documents(REPORT, {})
    assert {f"badges/{run}.svg" for run in ROWS} <= set(found)
    scored = {run for run, row in ROWS.items() if row.best}
    assert 0 < len(scored) < len(ROWS)
    assert {name for name in found if name.endswith("-best.svg")} == {f"badges/{r}-best.svg" for r in scored}


def test_it_says_the_status_and_names_the_run_for_those_who_do_not_see() -> None:
    svg = badges.status(ROWS["math-002"])
    assert words(svg) == ["run", "failed"]
    assert title(svg) == f"{ROWS['math-002'].title}: failed"
    assert ElementTree.fromstring(svg).get("role") == "img"


def test_a_run_that_is_still_written_says_as_of_which_step() -> None:
    growing = replace(ROWS["math-004"], growing=True, status=Status.UNFINISHED, last_step=20)
    assert words(badges.status(growing)) == ["run", "running, as of step 20"]
    assert words(badges.status(replace(growing, status=Status.FAILED)))[1] == "failed, as of step 20"
    assert words(badges.status(replace(growing, last_step=None)))[1] == "running, as of no step yet"


def test_the_best_score_says_of_what() -> None:
    best = ROWS["math-000"].best
    assert best is not None
    assert words(badges.best(ROWS["math-000"])) == ["best gsm8k", "0.6"]
    assert "at step 100" in title(badges.best(ROWS["math-000"]))


def test_each_status_has_a_colour_that_white_can_be_read_on() -> None:
    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    assert set(palette.STATUSES) == set(Status)
    for colour in (*palette.STATUSES.values(), palette.SCORE):
        assert 1.05 / (light(colour) + 0.05) >= 4.5, colour


def test_a_name_that_another_run_bears_stays_with_that_run() -> None:
    one, other = ROWS["math-000"], replace(ROWS["math-001"], id="math-000-best")
    found = badges.documents(replace(REPORT, runs=(one, other)), {})
    assert words(found["badges/math-000-best.svg"].decode())[0] == "run"
    assert not badges.free("math-000", {one.id, other.id}) and badges.free(other.id, {one.id, other.id})


def test_an_old_name_goes_on_showing_the_run_unless_another_run_bears_it_now() -> None:
    found = badges.documents(REPORT, {"math-002": ("old", "math-000", "../x")})
    assert found["badges/old.svg"] == found["badges/math-002.svg"]
    assert found["badges/old-best.svg"] == found["badges/math-002-best.svg"]
    assert words(found["badges/math-000.svg"].decode()) == ["run", "healthy"]
    assert not any(".." in path for path in found)


def test_a_run_that_was_removed_says_so() -> None:
    svg = badges.documents(REPORT, {})["badges/gone-run.svg"].decode()
    assert words(svg) == ["run", "removed"] and title(svg) == "gone-run: removed on 2026-10-01"


@pytest.mark.parametrize(
    "text",
    ['<script>alert("x")</script> & \x07', "é" * 500, "显存占用", "a\u202eb", "", " \n ", "{{ x }} {% y %}"],
)
def test_anything_is_words_on_a_line_that_they_fit(text: str) -> None:
    svg = badge(text, text, "#123456", text)
    root = ElementTree.fromstring(svg)
    assert len(root) == 4
    assert all(len(word) <= 40 and word.isprintable() for word in words(svg))
    [left, right] = root.iter(f"{SVG}text")
    assert int(left.get("x") or 0) + int(left.get("textLength") or 0) < int(right.get("x") or 0)
    assert int(right.get("x") or 0) + int(right.get("textLength") or 0) < int(root.get("width") or 0)
