"""Names of stored columns."""

from __future__ import annotations

from sitegen.archive.columns import stored
from tests.archive.conftest import Made


def test_a_name_is_stored_as_logged() -> None:
    assert stored(["actor/lr(1e-4)", "val/mean@30"]) == {
        "actor/lr(1e-4)": "actor/lr(1e-4)",
        "val/mean@30": "val/mean@30",
    }


def test_names_that_differ_in_case_only_are_told_apart() -> None:
    assert stored(["val/aime", "val/AIME", "val/Aime"]) == {
        "val/AIME": "val/AIME", "val/Aime": "val/Aime#2", "val/aime": "val/aime#3",
    }  # fmt: skip


def test_a_metric_called_like_a_fixed_column_gets_a_suffix() -> None:
    assert stored(["step", "Row"]) == {"step": "step#2", "Row": "Row#2"}


def test_a_suffix_never_takes_a_name_that_was_logged() -> None:
    found = stored(["step", "step#2", "STEP#3"])
    assert len({column.casefold() for column in found.values()}) == 3
    assert found["step#2"] == "step#2" and found["STEP#3"] == "STEP#3"


def test_both_of_two_names_survive_in_the_archive(made: Made) -> None:
    made.jsonl("a/m.jsonl", [(1, {"val/AIME": 0.5, "val/aime": 0.25, "row": 7})])
    run = made.run()
    assert made.archive.columns(run.id) == {"row#2": "row", "val/AIME": "val/AIME", "val/aime#2": "val/aime"}
    series = made.archive.series(run.id)
    assert {name: each.values.tolist() for name, each in series.items()} == {
        "row": [7.0], "val/AIME": [0.5], "val/aime": [0.25],
    }  # fmt: skip
