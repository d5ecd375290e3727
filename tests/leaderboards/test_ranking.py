"""How boards rank, mark and leave out."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen import leaderboards
from sitegen.errors import CardError
from sitegen.leaderboards import loading
from sitegen.model import Leaderboard
from sitegen.store import Store
from tests.leaderboards.shelf import Runs, training, validated

CARD = """# Longest answers
Runs by the mean length of their answers.

```toml board
unit = "tokens"
better = "up"
since = "0.1.0"
```
```sql
SELECT r.run, s.longest AS value, NULL::BIGINT AS step,
       CASE WHEN s.run IS NULL THEN 'no lengths' END AS left_out
FROM runs r LEFT JOIN (
  SELECT run, avg(response_length) AS longest FROM steps GROUP BY run HAVING count(response_length) > 0
) s ON s.run = r.run
```
## What counts
Everything.
## What it does not say
Much.
"""


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


def board_of(
    runs: Runs, tmp_path: Path, card: str = CARD, marks: dict[str, str] | None = None
) -> Leaderboard:
    folder = tmp_path / "cards"
    folder.mkdir(exist_ok=True)
    (folder / "longest.md").write_text(card, encoding="utf-8")
    with Store(runs.open()) as store:
        (board,) = leaderboards.rank(store, marks or {}, loading.catalog([folder]))
    return board


def add_lengths(runs: Runs, **lengths: float) -> None:
    for name, length in lengths.items():
        runs.add(name, training(3, **{"response_length/mean": length}))


def test_the_highest_value_leads_where_up_is_better(runs: Runs, tmp_path: Path) -> None:
    add_lengths(runs, a=100.0, b=300.0, c=200.0)
    assert [(entry.rank, entry.run, entry.value) for entry in board_of(runs, tmp_path).entries] == [
        (1, "b", 300.0),
        (2, "c", 200.0),
        (3, "a", 100.0),
    ]


def test_the_lowest_value_leads_where_down_is_better(runs: Runs, tmp_path: Path) -> None:
    add_lengths(runs, a=100.0, b=300.0)
    board = board_of(runs, tmp_path, CARD.replace('"up"', '"down"'))
    assert [entry.run for entry in board.entries] == ["a", "b"]


def test_equal_values_share_a_rank_and_the_next_one_counts_on(runs: Runs, tmp_path: Path) -> None:
    add_lengths(runs, d=50.0, c=200.0, b=200.0, a=300.0)
    ranks = [(entry.rank, entry.run) for entry in board_of(runs, tmp_path).entries]
    assert ranks == [(1, "a"), (2, "b"), (2, "c"), (4, "d")]


def test_a_marked_run_keeps_its_place_and_says_why(runs: Runs, tmp_path: Path) -> None:
    add_lengths(runs, a=100.0, b=300.0)
    board = board_of(runs, tmp_path, marks={"b": "open critical incident REW-05"})
    assert [(entry.run, entry.mark) for entry in board.entries] == [
        ("b", "open critical incident REW-05"),
        ("a", ""),
    ]


def test_a_run_without_a_value_is_left_out_with_the_reason(runs: Runs, tmp_path: Path) -> None:
    add_lengths(runs, a=100.0)
    runs.add("mute", training(3))
    board = board_of(runs, tmp_path)
    assert [entry.run for entry in board.entries] == ["a"]
    assert board.left_out == (("mute", "no lengths"),)


def test_a_run_that_the_query_forgets_is_still_accounted_for(runs: Runs, tmp_path: Path) -> None:
    add_lengths(runs, a=100.0)
    runs.add("mute", training(3))
    board = board_of(runs, tmp_path, CARD.replace("LEFT JOIN", "JOIN"))
    assert [run for run, _ in board.left_out] == ["mute"]


def test_an_empty_archive_has_every_board_and_no_entries(runs: Runs) -> None:
    with Store(runs.open()) as store:
        boards = leaderboards.rank(store, {})
    assert {board.slug for board in boards} == {board.slug for board in leaderboards.catalog()}
    assert all(board.entries == () and board.left_out == () for board in boards)


def test_each_group_is_a_board_of_its_own_with_an_address_of_its_own(runs: Runs) -> None:
    runs.add("a", validated({2: 0.5}, 3, "GSM8K"))
    runs.add("b", validated({2: 0.6}, 3, "gsm8k"))
    runs.add("c", validated({2: 0.7}, 3, '"><script>'))
    with Store(runs.open()) as store:
        boards = [one for one in leaderboards.rank(store, {}) if one.slug.startswith("best-validation")]
    assert {(board.group, entry.run) for board in boards for entry in board.entries} == {
        ("GSM8K", "a"),
        ("gsm8k", "b"),
        ('"><script>', "c"),
    }
    assert len({board.slug for board in boards}) == 3
    assert all(set(board.slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for board in boards)


def test_two_orders_of_reading_give_the_same_boards(runs: Runs) -> None:
    for name in ("b", "a", "c"):
        runs.add(name, validated({2: 0.5, 3: 0.4}, 3))
    shelf = runs.open()
    with Store(shelf, ["a", "b", "c"]) as one, Store(shelf, ["c", "a", "b"]) as other:
        assert leaderboards.rank(one, {}) == leaderboards.rank(other, {})


def test_every_fault_of_a_card_is_told_with_its_line(tmp_path: Path) -> None:
    card = CARD.replace('better = "up"', 'better = "more"').replace('unit = "tokens"', 'units = "tokens"')
    card = card.replace("NULL::BIGINT AS step", "1 AS stepp").replace("## What counts\nEverything.\n", "")
    (tmp_path / "longest.md").write_text(card, encoding="utf-8")
    with pytest.raises(CardError) as caught:
        loading.catalog([tmp_path])
    told = str(caught.value)
    assert 'longest.md:5: unknown key "units"; did you mean "unit"?' in told
    assert 'longest.md:6: better must be "up" or "down"' in told
    assert "no section `## What counts`" in told
    assert 'longest.md:4: no "unit"' in told


def test_a_missing_result_column_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "longest.md").write_text(CARD.replace("AS step,", "AS stepp,"), encoding="utf-8")
    with pytest.raises(CardError, match="the SELECT gives no column step"):
        loading.catalog([tmp_path])


def test_sql_that_writes_is_refused(tmp_path: Path) -> None:
    head, tail = CARD.split("SELECT r.run", 1)
    card = head + "DROP TABLE runs\n```\n" + tail.split("```", 1)[1]
    (tmp_path / "longest.md").write_text(card, encoding="utf-8")
    with pytest.raises(CardError, match="SELECT"):
        loading.catalog([tmp_path])


def test_sql_that_fails_on_the_data_names_the_card(runs: Runs, tmp_path: Path) -> None:
    add_lengths(runs, a=100.0)
    card = CARD.replace("s.longest AS value", "error('no luck')::DOUBLE AS value")
    with pytest.raises(CardError, match=r"longest\.md:\d+: longest: .*no luck"):
        board_of(runs, tmp_path, card)
