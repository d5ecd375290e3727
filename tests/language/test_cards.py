"""Cards in Chinese: every bundled one, item for item and number for number as in English."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sitegen import cards, leaderboards, rules
from sitegen.errors import CardError
from sitegen.language import speaking
from sitegen.rules import Definition
from sitegen.rules.said import in_words

CATALOG = rules.catalog()
_CODE = re.compile(r"`([^`]+)`")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_PLACE = re.compile(r"\{(\w+)[^}]*\}")
# Places that Chinese does without: it has no plurals, the number itself is named instead.
_FROM_LOGS = frozenset(
    {"name", "names", "raws", "metric", "called", "backend", "example"}
    | {"rollout", "training", "where", "said", "code"}
)
_PLURALS = frozenset({"steps_are", "lines_are", "metrics_are", "value"})

CARD = """# Prompts are cut
Some are cut.

```toml rule
code = "OWN-01"
severity = "warning"
needs = ["prompt_clip_ratio"]
since = "0.1.0"
message = "{value:.1%} of the prompts, {how}"
```
```sql
SELECT run, row, step, prompt_clip_ratio AS value, 0.1 AS threshold, value > threshold AS hit, 'many' AS how
FROM steps s
```

## Why it matters
It does.

## Likely causes
- One.

## What to do
- Raise it.

## What else looks like this
- Nothing.

## Sources
- Here.

## 中文
### 提示词被截断
有些被截断。

> {value:.1%} 的提示词，{how}

- 调大它。
```toml zh
"many" = "许多"
```

## Cases
```toml case
name = "all are cut"
series = { prompt_clip_ratio = "1x5" }
expect = [[1, 5]]
```
```toml case
name = "none is cut"
series = { prompt_clip_ratio = "0x5" }
expect = []
```
"""


def written(folder: Path, text: str) -> Path:
    (folder / "OWN-01-cut.md").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("rule", CATALOG, ids=lambda rule: rule.code)
def test_a_bundled_rule_has_a_chinese_title_sentence_and_advice(rule: Definition) -> None:
    told = rule.in_language("zh")
    assert _CHINESE.search(told.title)
    assert _CHINESE.search(told.summary)
    assert not re.search("[A-Za-z]{3,} [a-z]{3,}", _PLACE.sub("", told.message)), "half English"


@pytest.mark.parametrize("rule", CATALOG, ids=lambda rule: rule.code)
@pytest.mark.parametrize("section", ["What to do", "Likely causes"])
def test_chinese_advice_and_causes_name_the_same_settings_line_by_line(
    rule: Definition, section: str
) -> None:
    there = rule.in_language("zh").sections[section].splitlines()
    here = rule.sections[section].splitlines()
    assert [sorted(_CODE.findall(line)) for line in there] == [sorted(_CODE.findall(line)) for line in here]


@pytest.mark.parametrize("rule", CATALOG, ids=lambda rule: rule.code)
def test_a_chinese_message_shows_the_same_numbers_in_the_same_form(rule: Definition) -> None:
    there, here = rule.in_language("zh").message, rule.message
    differs = set(re.findall(r"\{[^}]*\}", there)) ^ set(re.findall(r"\{[^}]*\}", here))
    assert {name for place in differs for name in _PLACE.findall(place)} - _PLURALS == set()


@pytest.mark.parametrize("rule", CATALOG, ids=lambda rule: rule.code)
def test_texts_of_the_query_that_a_message_shows_are_said_in_chinese(rule: Definition) -> None:
    told = rule.in_language("zh")
    texts = {name for name in _PLACE.findall(told.message) if rule.columns.get(name) == "VARCHAR"}
    assert bool(texts - _FROM_LOGS) == bool(told.said)
    for pattern in told.said:
        assert all(part in rule.sql for part in re.split(r"\{\}%?", pattern)), "the query says no such thing"


def test_a_bundled_leaderboard_has_a_chinese_title_and_sentence() -> None:
    with speaking("zh"):
        boards = leaderboards.catalog()
    assert boards
    assert all(_CHINESE.search(board.title) and _CHINESE.search(board.summary) for board in boards)


def test_a_card_is_read_in_the_spoken_language(tmp_path: Path) -> None:
    folder = written(tmp_path, CARD)
    with speaking("zh"):
        told = next(one for one in rules.catalog([folder]) if one.code == "OWN-01")
    assert (told.title, told.summary, told.sections["What to do"]) == (
        "提示词被截断",
        "有些被截断。",
        "- 调大它。",
    )
    assert told.said == {"many": "许多"}
    assert "中文" not in told.sections


def test_a_card_without_the_section_stays_english(tmp_path: Path) -> None:
    start, end = CARD.index("## 中文"), CARD.index("## Cases")
    folder = written(tmp_path, CARD[:start] + CARD[end:])
    with speaking("zh"):
        told = next(one for one in rules.catalog([folder]) if one.code == "OWN-01")
    assert told.title == "Prompts are cut"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("### 提示词被截断\n", "", "a language needs"),
        ("> {value:.1%} 的提示词，{how}", "> {share:.1%} 的提示词", "message names {share}"),
        ("> {value:.1%} 的提示词，{how}\n", "", "`> message` must be there"),
        ('"many" = "许多"', '"many" = 3', "'many' must be a text"),
    ],
)
def test_what_is_wrong_with_the_section_is_a_fault_of_the_card(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    folder = written(tmp_path, CARD.replace(old, new))
    with pytest.raises(CardError, match=re.escape(said)):
        rules.catalog([folder])


def test_a_text_of_a_query_may_have_a_changing_part() -> None:
    words = {"after step {}": "第 {} 步之后", "hardware": "硬件", "model": "模型"}
    assert in_words("after step 12", words) == "第 12 步之后"
    assert in_words("hardware, model", words) == "硬件, 模型"
    assert in_words("before step 12", words) == "before step 12"
    assert in_words(3.0, words) == 3.0


def test_what_a_log_says_is_not_read_as_a_pattern() -> None:
    assert in_words("Ended by {} and {}", {"Ended by {}": "因 {} 终止"}) == "因 { } and { } 终止"


def test_the_cards_are_taken_apart_with_their_languages() -> None:
    card, faults = cards.parse(CARD, "rule", "OWN-01-cut.md")
    assert faults == ()
    assert card is not None
    assert card.translations["zh"].message == "{value:.1%} 的提示词，{how}"
