"""The scorecard is read whatever parts of it are there."""

from __future__ import annotations

import json

import pytest

from sitegen.reports import scorecard
from sitegen.reports.shapes import Measured, RunSketch

RULE = {
    "injected": 4,
    "found": 3,
    "false_alarms": 1,
    "unexplained": 0,
    "healthy": 50,
    "precision": 0.75,
    "onset_median": 1.5,
    "onset_p90": 6.0,
    "by_strength": {"high": [2, 2], "low": [2, 1]},
    "runs": {
        "kl-jump": {"low": {"found": [1001], "missed": [1000]}, "high": {"found": [1000, 1001], "missed": []}}
    },
    "alarms": ["curriculum-1000"],
    "sketches": {
        "kl-jump-low-1000": ["kl_ref", [0.01, 0.5], [1, 100], "0 -", [51, 80], None],
        "kl-jump-low-1001": ["kl_ref", [0.01, 0.5], [1, 100], "009", [51, 80], [54, 79]],
        "curriculum-1000": ["kl_ref", [0.01, 0.5], [1, 100], "0Z", None, [40, 44]],
    },
}
CARD = {
    "sitegen": "0.1.0",
    "seeds": {"set": "test", "first": 1000, "last": 1001},
    "runs": {"incident": 4, "healthy": 50},
    "kinds": 1,
    "all": {"recall_hard": 1.0, "recall_soft_medium": None, "precision": 0.75},
    "degraded": {"holes": {"recall_hard": 0.5}},
    "rules": {"KL-05": RULE},
    "added_later": [1, 2],
}


def test_every_figure_is_read() -> None:
    card = scorecard.read(json.dumps(CARD))
    assert card is not None
    assert (card.seeds, card.incident_runs, card.healthy_runs, card.kinds) == (("test", 1000, 1001), 4, 50, 1)
    assert (card.overall.hard, card.overall.soft, card.overall.precision) == (1.0, None, 0.75)
    assert [(name, one.hard) for name, one in card.degraded] == [("holes", 0.5)]
    rule = card.rules["KL-05"]
    assert (rule.recall, rule.precision, rule.alarms_per_run) == (0.75, 0.75, 0.02)
    assert rule.by_strength == (("low", 1, 2), ("high", 2, 2))
    assert rule.runs == (
        Measured("kl-jump", "low", (1001,), (1000,)),
        Measured("kl-jump", "high", (1000, 1001), ()),
    )
    assert rule.complete and rule.alarmed == ("curriculum-1000",)


def test_where_runs_are_not_listed_the_misses_that_are_named_remain() -> None:
    rule = {"injected": 2, "found": 0, "misses": ["kl-jump-low-1000", "kl-jump-low-1001", "odd name"]}
    found = scorecard.read(json.dumps({"rules": {"KL-05": rule}}))
    assert found is not None
    assert found.rules["KL-05"].runs == (Measured("kl-jump", "low", (), (1000, 1001)),)
    assert not found.rules["KL-05"].complete


def test_what_was_not_measured_is_unknown_and_not_zero() -> None:
    found = scorecard.read(json.dumps({"rules": {"KL-05": {}}}))
    assert found is not None
    rule = found.rules["KL-05"]
    assert (rule.recall, rule.precision, rule.alarms_per_run, rule.onset_median) == (None,) * 4
    assert (found.overall.hard, found.healthy_runs, found.seeds) == (None, None, ("", None, None))


@pytest.mark.parametrize("text", ["", "[]", "3", "{"])
def test_what_is_no_scorecard_is_none(text: str) -> None:
    assert scorecard.read(text) is None


@pytest.mark.parametrize("part", ["rules", "all", "degraded", "seeds", "runs"])
def test_a_part_of_another_shape_is_left_out(part: str) -> None:
    assert scorecard.read(json.dumps(CARD | {part: [1, "x", None]})) is not None


def test_the_one_that_comes_with_sitegen_names_rules_of_the_catalog() -> None:
    found = scorecard.bundled()
    assert found is not None and found.rules and found.overall.hard is not None


def test_a_name_makes_the_run_again() -> None:
    assert Measured("kl-jump", "low", (), (7,)).name(7) == "kl-jump-low-0007"


def test_a_run_is_drawn_from_one_letter_per_value() -> None:
    card = scorecard.read(json.dumps(CARD))
    assert card is not None
    missed = card.rules["KL-05"].sketches["kl-jump-low-1000"]
    assert missed == RunSketch("kl_ref", 0.01, 0.5, (1, 100), (0.0, None, 1.0), (51, 80), None)
    assert card.rules["KL-05"].sketches["kl-jump-low-1001"].found == (54, 79)
    assert card.rules["KL-05"].sketches["curriculum-1000"].truth is None


@pytest.mark.parametrize(
    "told",
    [None, [], {"line": "09"}, ["kl", [0, 1], [1], "09", None, None], ["kl", [0, 1], [1, 2], 9, 0, 0]],
)
def test_a_sketch_that_is_none_is_left_out(told: object) -> None:
    card = scorecard.read(json.dumps({"rules": {"KL-05": {"sketches": {"kl-jump-low-1000": told}}}}))
    assert card is not None
    assert card.rules["KL-05"].sketches == {}
