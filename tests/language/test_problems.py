"""What data problems say, in Chinese: recognised when it is shown."""

from __future__ import annotations

import re

import pytest

from sitegen.language import catalog, speaking
from sitegen.language.retold import retold
from tests.language.problems import sentences

ZH = catalog("zh")["problem"]
# Not told: a word of a sentence on its own, or nothing but what another program said.
_NO_SENTENCE = re.compile(r"7(; 7)*|stands twice.*|.*: 7 and 7 more names|7 values that.*|Did you mean 7\?")


def test_every_sentence_of_a_data_problem_is_said_in_chinese() -> None:
    made = sentences()
    assert len(made) > 200
    with speaking("zh"):
        missing = {
            text: where
            for text, where in made.items()
            if not re.search("[\u4e00-\u9fff]", retold(text)) and not _NO_SENTENCE.fullmatch(text)
        }
    assert missing == {}, "add them to table [problem] of sitegen/language/zh.toml"


@pytest.mark.parametrize("english", ZH)
def test_a_pattern_keeps_its_places(english: str) -> None:
    assert sorted(re.findall(r"\{\w+\}", english)) == sorted(re.findall(r"\{\w+\}", ZH[english]))


def test_what_fills_a_place_is_said_too() -> None:
    with speaking("zh"):
        assert retold("the line is no step record: it is not JSON") == "该行不是步记录：不是 JSON"


def test_what_a_log_put_into_a_place_is_no_pattern() -> None:
    with speaking("zh"):
        assert retold("unknown key {n}; left out") == "未知的键 {n}；已忽略"


def test_the_pattern_with_most_words_counts() -> None:
    with speaking("zh"):
        assert retold("the database is damaged (x); what precedes was read").startswith("数据库已损坏（x）；")


def test_what_is_not_known_and_what_is_very_long_stays() -> None:
    with speaking("zh"):
        assert retold("who knows") == "who knows"
        assert retold("cannot be read: " + "x" * 5000).startswith("cannot be read")


def test_english_stays() -> None:
    assert retold("it is not JSON") == "it is not JSON"
