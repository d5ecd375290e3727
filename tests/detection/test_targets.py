"""`make detection` fails where a target is missed."""

from __future__ import annotations

from tests.detection.scoring import Score
from tests.detection.targets import missed


def score(injected: int, found: int, alarms: int = 0) -> Score:
    return Score(
        "all",
        injected=injected,
        found=found,
        alarms=alarms,
        healthy=100,
        by_strength={"medium": (injected, found)},
        late=[0.5] * found,
    )


def test_good_figures_miss_nothing() -> None:
    assert list(missed(score(100, 98), score(50, 50), score(50, 48), degraded=False)) == []


def test_each_figure_below_its_target_is_named() -> None:
    said = list(missed(score(100, 80, alarms=9), score(50, 45), score(50, 40), degraded=False))
    assert [line.split(":")[0] for line in said] == [
        "recall of hard faults",
        "recall of soft faults at medium strength",
        "precision",
        "false alarms per healthy run",
    ]


def test_degraded_logs_may_be_five_points_worse() -> None:
    total, hard, soft = score(100, 90), score(50, 48), score(50, 44)
    assert list(missed(total, hard, soft, degraded=True)) == []
    assert len(list(missed(total, hard, soft, degraded=False))) == 2


def test_nothing_to_count_is_no_miss() -> None:
    nothing = Score("all")
    assert list(missed(nothing, nothing, nothing, degraded=False)) == []
