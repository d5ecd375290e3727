"""Persistence, muting, hold and exit, on a handful of rows drawn as text."""

from __future__ import annotations

import numpy as np
import pytest

from sitegen.rules.spans import confirmed, stretches


def flags(drawn: str, marks: str) -> np.ndarray:
    return np.array([sign in marks for sign in drawn])


def spans(
    drawn: str, persist: tuple[int, int] = (1, 1), exit: int = 3, muted: str = ""
) -> list[tuple[int, int]]:
    """Spans of a drawing: `#` hit, `+` hold only, `.` calm; rows of `muted` that are `m` open nothing."""
    mute = flags(muted.ljust(len(drawn)), "m")
    found = stretches(flags(drawn, "#"), flags(drawn, "+"), mute, persist, exit)
    return [(one.first, one.last) for one in found]


@pytest.mark.parametrize(
    ("drawn", "found"),
    [
        ("..........", []),
        ("..#.......", [(2, 2)]),
        ("..###.....", [(2, 4)]),
        ("..#..#....", [(2, 5)]),  # calm for 2 rows: less than exit
        ("..#....#..", [(2, 2), (7, 7)]),
        ("#........#", [(0, 0), (9, 9)]),
    ],
)
def test_gaps_shorter_than_exit_merge(drawn: str, found: list[tuple[int, int]]) -> None:
    assert spans(drawn) == found


@pytest.mark.parametrize(
    ("drawn", "found"),
    [
        ("..##......", []),
        ("..###.....", [(2, 4)]),
        ("..#.#.#...", [(2, 6)]),
        ("..#..#..#.", []),  # three hits, but not within five rows
        ("#....###..", [(5, 7)]),  # opens at the first hit of the window, not at an older one
    ],
)
def test_three_of_five(drawn: str, found: list[tuple[int, int]]) -> None:
    assert spans(drawn, persist=(3, 5), exit=2) == found


@pytest.mark.parametrize(
    ("drawn", "found"),
    [
        ("..++#++...", [(2, 6)]),
        ("..+..#....", [(2, 5)]),  # backwards across two rows
        (".+...#....", [(5, 5)]),  # not across three
        (".++.+++...", []),  # hold alone opens nothing
        ("...#.+.+.+", [(3, 9)]),  # forwards while it comes back within exit
    ],
)
def test_hold_extends_both_ways(drawn: str, found: list[tuple[int, int]]) -> None:
    assert spans(drawn) == found


@pytest.mark.parametrize(
    ("drawn", "muted", "found"),
    [
        ("###.......", "mmmmm", []),
        ("..####....", "mmm", [(2, 5)]),  # opens once it may, and reaches back into muted rows
        ("..+###....", "mmm", [(2, 5)]),
        (".#.....#..", "mmmm", [(7, 7)]),
    ],
)
def test_muting_blocks_opening_only(drawn: str, muted: str, found: list[tuple[int, int]]) -> None:
    assert spans(drawn, persist=(2, 2) if drawn.startswith("..") else (1, 1), muted=muted) == found


@pytest.mark.parametrize(
    ("drawn", "open"), [("...##", True), ("..##..", True), ("..##...", False), ("##....", False)]
)
def test_a_span_is_open_while_the_end_is_not_calm(drawn: str, open: bool) -> None:
    calm = np.zeros(len(drawn), np.bool_)
    assert [one.open for one in stretches(flags(drawn, "#"), calm, calm, (1, 1), 10)] == [open]


def test_confirmed_agrees_with_a_count_by_hand() -> None:
    rng = np.random.default_rng(5)
    for k, m in ((1, 1), (2, 3), (3, 5), (5, 5)):
        hit, muted = rng.random(200) < 0.4, rng.random(200) < 0.2
        by_hand = np.zeros(200, np.bool_)
        for end in range(200):
            window = slice(max(0, end - m + 1), end + 1)
            if hit[end] and not muted[end] and hit[window].sum() >= k:
                by_hand[window] |= hit[window]
        np.testing.assert_array_equal(confirmed(hit, muted, (k, m)), by_hand)
