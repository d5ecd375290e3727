"""The Chinese catalog: whole, and with the places of every English pattern."""

from __future__ import annotations

import re
import string

import pytest

from sitegen import rules
from sitegen.language import catalog, choose, known, speaking, spoken, t, titled
from sitegen.metrics import glossary
from sitegen.model import PhaseName, Severity, Status
from tests.language.collected import of_code, of_problems, of_templates

ZH = catalog("zh")["text"]
SAMPLE_ROLES = ("best", "worst", "random", "longest")
TRACE_ROLES = (
    *("failed", "slowest", "longest", "random", "first step", "last step", "failed call", "slow call"),
    *("before an incident", "at an incident", "generation", "tool call", "agent", "parser"),
)
_TEXTS = frozenset(
    (
        *(
            "metric",
            "where",
            "what",
            "names",
            "raws",
            "metrics_are",
            "steps_are",
            "lines_are",
            "who",
            "example",
            "which",
            "absent",
        ),
        *(
            "called",
            "backend",
            "code",
            "rollout",
            "training",
            "said",
            "side",
            "moment",
            "reason",
            "since_when",
        ),
    )
)
_EXPRESSION = re.compile(r"\{\{.*?\}\}", re.DOTALL)


def test_every_text_of_a_template_is_said_in_chinese() -> None:
    missing = {text: where for text, where in of_templates().items() if text not in ZH}
    assert missing == {}, "add them to sitegen/language/zh.toml"


def test_every_text_of_the_code_is_said_in_chinese() -> None:
    missing = {text: where for text, where in of_code().items() if text not in ZH}
    assert missing == {}, "add them to sitegen/language/zh.toml"


@pytest.mark.parametrize("word", [*Status, *PhaseName, *(one.word for one in Severity)])
def test_every_state_is_said_in_chinese(word: str) -> None:
    called = {"critic_warmup": "critic warm-up", "warmup": "warm-up"}.get(word, word)
    assert re.search("[\u4e00-\u9fff]", ZH[called])


@pytest.mark.parametrize("metric", [*glossary().metrics, *glossary().families], ids=lambda one: one.title)
def test_every_metric_has_a_chinese_title(metric: object) -> None:
    title = str(getattr(metric, "title"))  # noqa: B009
    with speaking("zh"):
        first = title.split(", ")[0]
        assert known(title, "metric") or known(first, "metric")
        assert not re.search("[a-z]{3,}, [a-z]", titled(title)), "half English"


def test_a_pattern_keeps_its_places() -> None:
    for english, chinese in ZH.items():
        if "{{" in english or "<0>" in english:
            assert sorted(re.findall(r"</?\d+>", english)) == sorted(re.findall(r"</?\d+>", chinese)), english
        else:
            assert _places(chinese) == _places(english), english


def _places(pattern: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(pattern) if name}


def test_a_title_of_a_metric_is_said_from_its_parts() -> None:
    with speaking("zh"):
        assert titled("Score, highest") == "得分（最大）"
        assert titled("Unheard of") == "Unheard of"


def test_what_a_place_holds_is_no_pattern() -> None:
    assert t("{sentence}.", sentence="{value}") == "{value}."


def test_english_is_spoken_unless_another_language_was_chosen() -> None:
    assert spoken() == "en"
    with speaking("zh"):
        assert t("crashed") == "崩溃"
    assert t("crashed") == "crashed"


def test_a_language_that_is_not_there_is_refused() -> None:
    with pytest.raises(KeyError):
        choose("fr")


@pytest.mark.parametrize("role", [*SAMPLE_ROLES, *TRACE_ROLES])
def test_what_a_sample_or_trajectory_is_shown_for_is_said_in_chinese(role: str) -> None:
    assert role in ZH


def test_every_kind_of_data_problem_is_said_in_chinese() -> None:
    kinds = of_problems()
    assert len(kinds) > 20
    assert kinds - set(ZH) == set()


def test_every_number_of_a_card_that_can_be_a_fact_is_said_in_chinese() -> None:
    facts = catalog("zh")["fact"]
    assert _NUMBERS - set(facts) == set()
    assert all(re.search("[\u4e00-\u9fff]", said) for said in facts.values())


# of bundled cards; columns of text are no facts
_NUMBERS = {name.replace("_", " ") for card in rules.catalog() for name in card.extra if name not in _TEXTS}
