"""A new card to start from."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen import rules
from sitegen.cards import parse
from sitegen.metrics import glossary
from sitegen.rules.loading import define
from sitegen.rules.skeleton import next_free, open_lines, skeleton


def test_it_loads_whatever_metric_it_is_about() -> None:
    for metric in glossary().metrics:
        name, text = skeleton("OWN-01", "New rule", metric.key)
        card, faults = parse(text, "rule", name)
        assert card is not None, metric.key
        assert define(card, faults)[1] == (), metric.key


@pytest.mark.parametrize("metric", ["grad_norm", "response_clip_ratio", "time_step", "score"])
def test_its_cases_pass(tmp_path: Path, metric: str) -> None:
    name, text = skeleton("OWN-01", "New rule", metric)
    (tmp_path / name).write_text(text, encoding="utf-8")
    catalog = rules.loading.catalog([tmp_path])
    assert [result.message for result in rules.test(catalog) if not result.passed] == []
    assert len(rules.test(catalog)) == 3


def test_the_file_is_named_after_code_and_title() -> None:
    assert skeleton("OWN-01", "Prompts are cut: 30 %!", "score")[0] == "OWN-01-prompts-are-cut-30.md"
    assert skeleton("OWN-01", "长度", "score")[0] == "OWN-01-new-rule.md"


def test_every_part_that_a_person_must_write_is_listed_with_its_line() -> None:
    text = skeleton("OWN-01", "New rule", "score")[1]
    lines = text.splitlines()
    assert len(open_lines(text)) == text.count("TODO") == 11
    assert all(what in lines[number - 1] for number, what in open_lines(text))


def test_the_next_code_of_a_group() -> None:
    assert next_free("KL-05", ["KL-05", "KL-11", "GRD-20"]) == "KL-12"
    assert next_free("OWN-07", []) == "OWN-01"
