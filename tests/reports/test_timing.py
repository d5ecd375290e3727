from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sitegen.reports import timing
from sitegen.reports.curves import Curves, in_units
from tests.reports.made import NAN, series

EVERY_FIFTH = [NAN, NAN, NAN, NAN, 50.0] * 4


def step(**parts: list[float]) -> Curves:
    return Curves(series({name.replace("__", "/"): values for name, values in parts.items()}))


def test_shares_add_up_and_what_no_part_explains_is_other() -> None:
    parts = timing.parts(
        step(timing_s__step=[10.0] * 20, timing_s__gen=[6.0] * 20, timing_s__update_actor=[3.0] * 20)
    )
    assert [(part.name, part.seconds, part.share) for part in parts] == [
        ("gen", 6.0, 0.6),
        ("update_actor", 3.0, 0.3),
        ("other", 1.0, 0.1),
    ]


def test_validation_every_fifth_step_counts_a_fifth_of_its_seconds() -> None:
    parts = timing.parts(
        step(
            timing_s__step=[60.0 if v > 0 else 10.0 for v in EVERY_FIFTH],
            timing_s__gen=[10.0] * 20,
            timing_s__testing=EVERY_FIFTH,
        )
    )
    testing = next(part for part in parts if part.name == "testing")
    assert (testing.seconds, testing.every, testing.share) == (50.0, 5, 0.5)


def test_parts_of_a_part_are_not_counted_twice() -> None:
    parts = timing.parts(
        step(
            timing_s__step=[10.0] * 5,
            timing_s__gen=[9.0] * 5,
            timing_s__generate_sequences=[8.0] * 5,
            **{"timing_s/agent_loop/tool_calls/mean": [3.0] * 5},
        )
    )
    assert [part.name for part in parts] == ["gen", "other"]


def test_rows_that_were_cut_are_no_steps_without_a_part() -> None:
    logged = series(
        {
            "timing_s/step": [10.0] * 7,
            "timing_s/gen": [6.0] * 7,
            "timing_s/testing": [1.0] + [NAN] * 6,
        }
    )
    cut = np.array([False] + [True] * 6)
    parts = timing.parts(Curves({name: replace(one, cut=cut) for name, one in logged.items()}))
    assert {part.name: part.every for part in parts} == {"gen": 1, "testing": 1, "other": 1}
    assert {part.name: part.seconds for part in parts} == {"gen": 6.0, "testing": 1.0, "other": 3.0}


def test_a_part_that_abridged_rows_leave_out_is_part_of_every_step_as_long_as_the_others() -> None:
    parts = timing.parts(
        step(
            timing_s__step=[100.0, 99.0, 102.0, 98.0],
            timing_s__gen=[30.0] * 4,
            timing_s__update_actor=[60.0, NAN, NAN, NAN],
        )
    )
    assert [(part.name, part.every, part.share) for part in parts] == [
        ("update_actor", 1, 0.6),
        ("gen", 1, 0.3),
        ("other", 1, 0.1),
    ]


def test_a_part_whose_seconds_the_other_steps_save_is_not_there_every_step() -> None:
    parts = timing.parts(
        step(
            timing_s__step=[100.0, 40.0, 100.0, 40.0],
            timing_s__gen=[30.0] * 4,
            timing_s__update_actor=[60.0, NAN, 60.0, NAN],
        )
    )
    assert {part.name: (part.every, part.seconds) for part in parts} == {
        "gen": (1, 30.0),
        "update_actor": (2, 60.0),
        "other": (1, 10.0),
    }


def test_the_oldest_names_are_read_too() -> None:
    parts = timing.parts(step(timing__step=[10.0] * 5, timing__gen=[5.0] * 5))
    assert [part.name for part in parts] == ["gen", "other"]


def test_a_run_without_step_times_has_no_breakdown() -> None:
    assert timing.parts(step(actor__entropy=[0.5])) == ()


def test_throughput_leaves_out_steps_with_validation() -> None:
    curves = step(
        perf__throughput=[200.0 if v > 0 else 1000.0 for v in EVERY_FIFTH],
        timing_s__step=[60.0 if v > 0 else 12.0 for v in EVERY_FIFTH],
        timing_s__testing=EVERY_FIFTH,
    )
    assert timing.throughput(curves, 8) == 1000.0


def test_where_every_step_validates_its_seconds_are_taken_off() -> None:
    curves = step(perf__throughput=[500.0] * 6, timing_s__step=[20.0] * 6, timing_s__testing=[10.0] * 6)
    assert timing.throughput(curves, 8) == 1000.0


def test_the_seed_dialect_counts_all_gpus_together() -> None:
    logged = series({"tokens_per_sec": [8000.0] * 6})
    assert timing.throughput(Curves(in_units(logged, 8)), 8) == 1000.0
    assert timing.throughput(Curves(in_units(logged, None)), None) is None


def test_throughput_follows_from_tokens_and_time_where_it_is_not_logged() -> None:
    curves = step(perf__total_num_tokens=[80000.0] * 6, timing_s__step=[10.0] * 6)
    assert timing.throughput(curves, 8) == 1000.0


@pytest.mark.parametrize(("inside", "seconds"), [(True, 60.0), (False, 110.0)])
def test_validation_outside_the_step_is_time_all_the_same(inside: bool, seconds: float) -> None:
    curves = step(
        timing_s__step=[60.0] * 4,
        timing_s__gen=[5.0 if inside else 55.0] * 4,
        timing_s__testing=[50.0] * 4,
    )
    assert np.allclose(timing.seconds(curves), seconds)


def test_seconds_from_a_step_on() -> None:
    curves = step(timing_s__step=[10.0] * 20)
    assert timing.seconds_from(curves, 16) == 50.0
    assert timing.seconds_from(curves, None) == 200.0
    assert timing.seconds_from(step(actor__entropy=[0.5]), 1) is None
