"""Seeds that share a place on a leaderboard."""

from __future__ import annotations

import pytest

from sitegen.model import BoardEntry, Leaderboard
from sitegen.reports.placed import placed
from sitegen.reports.shapes import Place, Seed, SeedGroup


def board(better: str = "up", **values: float) -> Leaderboard:
    sign = -1 if better == "up" else 1
    ordered = sorted(values.items(), key=lambda item: sign * item[1])
    entries = tuple(BoardEntry(k, run, run, value, 1, "") for k, (run, value) in enumerate(ordered, 1))
    return Leaderboard("b", "B", "", "", better, (), entries, ())


def group(*runs: str) -> SeedGroup:
    return SeedGroup(("data.seed",), tuple(Seed(run, run, str(k)) for k, run in enumerate(runs)))


def places(found: Leaderboard, *groups: SeedGroup) -> list[tuple[int, float, list[str]]]:
    rows = placed([found], groups).get("b", ())
    return [(one.rank, pytest.approx(one.value), [entry.run for entry in one.entries]) for one in rows]


def test_seeds_take_the_place_of_their_mean() -> None:
    found = places(board(a=0.9, x=0.6, b=0.5, c=0.1), group("a", "b", "c"))
    assert found == [(1, 0.6, ["x"]), (2, 0.5, ["a", "b", "c"])]


def test_lower_is_better_turns_the_order() -> None:
    found = places(board("down", a=3.0, b=1.0, x=2.5), group("a", "b"))
    assert found == [(1, 2.0, ["b", "a"]), (2, 2.5, ["x"])]


def test_equal_values_share_a_rank() -> None:
    assert [one[0] for one in places(board(a=1.0, b=0.0, x=0.5, y=0.4), group("a", "b"))] == [1, 1, 3]


def test_the_interval_is_that_of_the_ranked_runs_and_says_how_many_there_are() -> None:
    (place,) = placed([board(a=0.4, b=0.6)], [group("a", "b", "unranked")])["b"]
    assert isinstance(place, Place)
    assert place.interval is not None
    assert (place.interval.n, place.members) == (2, 3)
    assert place.interval.half == pytest.approx(12.7062 * 0.1414214 / 2**0.5, rel=1e-4)


def test_a_board_that_ranks_one_run_of_a_group_stays_as_it_is() -> None:
    assert placed([board(a=0.4, x=0.6)], [group("a", "b")]) == {}
