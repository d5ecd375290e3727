"""What a model wrote is read as text, side by side where that tells something."""

from __future__ import annotations

import time

import pytest

from sitegen.model import Page
from sitegen.pages import samples, texts
from sitegen.reports.shapes import RunReport
from sitegen.reports.visible import excerpt
from sitegen.site.rendering import renderer
from sitegen.site.templates import environment
from tests.pages import made_runs, made_samples, rendered
from tests.pages.rendered import Outline


def page(report: RunReport) -> Page:
    found = samples.page(report, renderer(environment()))
    assert found is not None
    return found


@pytest.mark.parametrize("text", ["right", made_samples.HOSTILE, "", "\n\n", "x " * 5000, "﷽" * 3000])
def test_any_text_gives_well_formed_html(text: str) -> None:
    found = Outline(page(made_samples.report("4", text, "5")).html)
    assert not found.faults
    assert len(found.ids) == len(set(found.ids))
    assert {link[1:] for link in found.links if link.startswith("#")} <= set(found.ids)


def test_text_is_never_markup() -> None:
    html = page(made_samples.report("4", made_samples.HOSTILE, made_samples.HOSTILE)).html
    found = Outline(html)
    assert not {"script", "img", "h4"} & set(found.tags)
    assert not [link for link in found.links if "javascript" in link]
    assert "{{ 7 * 7 }}" in html


def test_hidden_signs_are_drawn() -> None:
    html = page(made_samples.report("4", made_samples.HOSTILE, "5")).html
    assert '<i class="sg-odd">‹U+202E›</i>gnol<i class="sg-odd">‹U+202C›</i>' in html
    assert not {"\u202e", "\u202c", "\u200b"} & set(html)


def test_answers_stand_side_by_side_with_what_changed() -> None:
    html = page(made_samples.report("so it is four", "so it is five", "so it is five")).html
    assert "<del>four</del>" in html
    assert html.count("<ins>five</ins>") == 2  # around the incident, and among those that changed most


def test_a_run_without_dumps_has_no_page_and_says_nothing() -> None:
    assert samples.page(made_runs.ALL["sick"](), renderer(environment())) is None
    assert "samples.parquet" not in rendered.made("sick").html
    assert 'id="samples"' not in rendered.made("sick").html


def test_the_run_page_leads_to_the_samples_from_the_section_and_the_incident() -> None:
    report = made_samples.report("4", "5", "5")
    anchor = report.incidents[0].anchor
    links = Outline(rendered.page(made_samples.report("4", "5", "5", anchor=anchor)).html).links
    assert {"samples/", "samples/#at-2", "data/samples.parquet"} <= set(links)


def test_it_says_how_many_there_are_and_what_is_cut() -> None:
    text = Outline(page(made_samples.report("4", "z" * 9000, "5")).html).text
    assert "24 validation samples of 3 steps (1 to 3)" in text
    assert "6 500 characters left out" in text
    assert "Of a prompt 1 200 characters are shown and of an answer 2 500" in text


def test_a_long_answer_is_folded() -> None:
    html = page(made_samples.report("short", "word " * 300)).html
    assert html.count("<summary><b>Answer</b>") == 1


def test_words_are_compared_not_letters() -> None:
    assert texts.differing("it is five now", "it is four now") == [
        ("it is ", False),
        ("five", True),
        (" now", False),
    ]


def test_chinese_is_compared_by_character() -> None:
    assert texts.differing("答案是五。", "答案是四。") == [("答案是", False), ("五", True), ("。", False)]


@pytest.mark.parametrize("sign", ["a ", "你", "a.b. ", "\n", "ab"])
def test_texts_made_to_be_slow_to_compare_are_compared_quickly(sign: str) -> None:
    start = time.perf_counter()
    pieces = texts.differing(sign * 1000 + "x", "x" + sign * 1250)
    assert "".join(text for text, _ in pieces) == sign * 1000 + "x"
    assert time.perf_counter() - start < 5


def test_what_was_left_out_is_told_between_beginning_and_end() -> None:
    assert texts.excerpt(excerpt("abcdef", 2, 2)) == 'ab<b class="sg-gap">… 2 characters left out …</b>ef'


def test_the_page_of_two_kinds_with_long_texts_stays_small() -> None:
    assert len(page(made_samples.report(*["long words " * 800] * 8)).html.encode()) < 400_000
