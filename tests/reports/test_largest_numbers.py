"""Numbers as large as doubles go: sums of them are unknown, nothing warns and nothing fails."""

from __future__ import annotations

import pytest

from sitegen.archive import facts
from sitegen.model import Fact
from sitegen.reports import assemble, movement
from sitegen.reports.shapes import RunReport
from tests.reports.made import findings, incident, moved, run, series

HUGE = 1.7e308


def huge(seconds: float = HUGE) -> RunReport:
    columns = {
        "critic/score/mean": [-HUGE, HUGE] * 20,
        "perf/throughput": [HUGE] * 40,
        "timing_s/step": [seconds] * 40,
        "timing_s/gen": [HUGE] * 40,
        "timing_s/update_actor": [HUGE] * 40,
    }
    bad = incident("GRD-02", "error", first=3, evidence=moved(("kl_ref", "KL", 1e-300, HUGE)))
    return assemble.report(run(), findings(bad), series(columns), (), ())


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seconds", [HUGE, 1e300, -1e4])
def test_seconds_that_no_clock_could_show_are_not_told(seconds: float) -> None:
    assert "after onset" not in huge(seconds).sentence


def test_parts_of_a_step_whose_sum_overflows_have_no_shares() -> None:
    assert huge().timing == ()


def test_a_spark_of_the_largest_numbers_is_finite() -> None:
    assert huge().row.spark[:2] == (-HUGE, HUGE)


def test_a_change_whose_ratio_overflows_is_told_by_both_ends() -> None:
    told = movement.clause(Fact("kl_ref", "KL", "", 1e-300, HUGE))
    assert told == "reference KL grew from 1e-300 to 1.7e308"


@pytest.mark.parametrize("total", [float("inf"), float("nan"), -5.0, 1e300])
def test_step_times_that_no_clock_could_show_are_no_wall_time(total: float) -> None:
    assert facts.wall_seconds({"timing_s/step": total}, None, None) is None
    assert facts.wall_seconds({"timing_s/step": total}, 0.0, 60.0) == 60.0
