"""What a site chooses among the rules."""

from __future__ import annotations

import pytest

from sitegen.errors import ConfigError
from sitegen.rules import check
from tests.rules.written_cards import ABOVE, rule

LIMIT = ABOVE.replace("1.0 AS threshold", "$limit AS threshold")
CATALOG = [
    rule(LIMIT, "params = { limit = 1.0 }"),
    rule(settings='preset = "old"\nseverity = "info"', code="GRD-98"),
]


def test_choices_that_cards_know_are_fine() -> None:
    check(CATALOG, {"GRD-99": {"limit": 2}}, ["old"], ["GRD-98"])


def test_every_fault_is_listed_with_its_place() -> None:
    with pytest.raises(ConfigError) as raised:
        check(
            CATALOG,
            {"GRD-97": {"limit": 1}, "GRD-99": {"limt": 1, "limit": "high"}},
            ["odl"],
            ["GRD-99", "KL-05"],
            lambda keys: f"mkdocs.yml:{len(keys)}",
        )
    assert str(raised.value).splitlines() == [
        'mkdocs.yml:2: no rule GRD-97; did you mean "GRD-99"?',
        'mkdocs.yml:3: no param limt; did you mean "limit"? (params: limit)',
        "mkdocs.yml:3: must be like 1.0, not 'high'",
        "mkdocs.yml:1: no card knows 'odl'; did you mean \"old\"?",
        "mkdocs.yml:1: no rule KL-05",
    ]
