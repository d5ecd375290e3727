"""Numbers and dates as people read them."""

from __future__ import annotations

import pytest

from sitegen.pages import words


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (0.0, "0"),
        (0.8416, "0.842"),
        (12.5, "12.5"),
        (445.94, "445.9"),
        (1245.0, "1\u202f245"),
        (3.2e-6, "3.2e-6"),
        (1e9, "1e9"),
        (-0.5, "-0.5"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
    ],
)
def test_numbers_are_short_and_exact_enough(value: float | None, shown: str) -> None:
    assert words.number(value) == shown


def test_scores_stand_under_each_other() -> None:
    assert [words.score(v) for v in (0.9, 0.85, 1.0, 571_708.0, None)] == [
        "0.900",
        "0.850",
        "1.000",
        "571\u202f708",
        "–",
    ]


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(None, "–"), (42, "42 s"), (185, "3 m 5 s"), (51_600, "14 h 20 m"), (59.7, "1 m 0 s")],
)
def test_durations(seconds: float | None, shown: str) -> None:
    assert words.duration(seconds).replace("\u202f", " ") == shown


def test_a_log_may_claim_any_year() -> None:
    assert words.date(1e18) == words.date(float("nan")) == words.date(None) == "–"
    assert words.date(0.0) == "1970-01-01"


def test_spans_of_steps() -> None:
    assert words.span(413, 600) == "steps 413–600"
    assert words.span(7, 7) == words.span(7, None) == "step 7"
    assert words.span(None, 9) == "before the first step"


def test_how_often_a_severity_occurred() -> None:
    assert [words.severity(w, 2) for w in words.SEVERITIES] == [
        "2 critical",
        "2 errors",
        "2 warnings",
        "2 remarks",
    ]
