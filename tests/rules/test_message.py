"""Messages are sentences whatever the numbers are."""

from __future__ import annotations

import math

import pytest

from sitegen.rules import message


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (3.21, "3.2 times its baseline"),
        (math.inf, "more than 1e308 times its baseline"),
        (math.nan, "unknown times its baseline"),
        (None, "unknown times its baseline"),
    ],
)
def test_a_ratio_that_is_no_number_is_told_in_words(ratio: float | None, words: str) -> None:
    assert message.render("{ratio:.1f} times its baseline", {"ratio": ratio}) == words
