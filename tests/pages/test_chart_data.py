"""The files that charts read: every value exactly, and a picture of it that fits in little."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sitegen.metrics import glossary
from sitegen.model import Segment, Series
from sitegen.pages import chart_data
from sitegen.reports.shapes import MetricView, RunReport
from tests.charts.chart_file import Read, read
from tests.pages import made_runs


def report(*series: Series, **run: object) -> RunReport:
    """A run of these series, without phases or incidents."""
    whole = made_runs.ALL["healthy"]()
    steps = series[0].steps
    last = Segment(0, int(steps.min()), int(steps.max()), steps.size, "train.log", "start")
    facts = {"segments": (last,), "first_step": int(steps.min()), "last_step": int(steps.max()), **run}
    views = tuple(MetricView(one, glossary().describe(one.name), False) for one in series)
    return replace(whole, run=replace(whole.run, **facts), metrics=views, phases=(), incidents=())


def written(*series: Series, **run: object) -> Read:
    return read(chart_data.files(report(*series, **run)))


def noise(rows: int, metrics: int, seed: int = 5) -> list[Series]:
    """Metrics as trainers log them: doubles that come from float32 and doubles that do not."""
    rng = np.random.default_rng(seed)
    made = []
    for k in range(metrics):
        values = (1 + 0.1 * k) * np.exp(0.05 * rng.normal(size=rows)) + np.linspace(0, 1, rows)
        made.append(made_runs.series(f"custom/m{k}", values.astype(np.float32) if k % 2 else values))
    return made


def test_every_value_is_kept_to_the_last_bit() -> None:
    values = [0.1, -0.0, 1 / 3, 5e-324, 1.7976931348623157e308, 12.5, float("nan"), 7.0]
    found = written(made_runs.series("custom/odd", values), *noise(8, 3))
    assert found.exact["custom/odd"].tobytes() == np.array(values).tobytes()


def test_thousandths_are_packed_and_come_back_as_they_were() -> None:
    values = np.round(np.random.default_rng(1).normal(size=500), 3)
    values[7] = np.nan
    found = written(made_runs.series("custom/three", values))
    assert found.header["metrics"][0]["place"]["kind"] == "m"
    assert np.array_equal(found.exact["custom/three"], values, equal_nan=True)


def test_a_short_run_is_one_file() -> None:
    assert list(chart_data.files(report(*noise(50, 10)))) == ["charts.bin"]


def test_a_long_run_shows_every_extreme_before_its_values_arrive() -> None:
    series = noise(5000, 12)
    series[3].values[1234] = 40.0
    series[4].values[4321] = -15.0
    found = written(*series)
    assert found.header["exact"] == "exact.bin"
    for one in series:
        core = np.sort(one.values)[50:-50]
        pixel = (core[-1] - core[0]) / 512
        assert np.nanmax(found.high[one.name]) == pytest.approx(one.values.max(), abs=pixel)
        assert np.nanmin(found.low[one.name]) == pytest.approx(one.values.min(), abs=pixel)
        per = found.header["pieces"][0][2]
        middles = [np.median(one.values[at : at + per]) for at in range(0, 5000, per)]
        assert found.middle[one.name] == pytest.approx(np.array(middles), abs=pixel)


def test_values_over_decades_keep_their_share_of_precision() -> None:
    values = 10.0 ** np.linspace(-6, 3, 3000)
    found = written(made_runs.series("custom/wide", values), *noise(3000, 8))
    assert found.low["custom/wide"][0] == pytest.approx(1e-6, rel=0.003)
    assert found.high["custom/wide"][-1] == pytest.approx(1e3, rel=0.003)


def test_what_a_step_does_not_carry_stays_absent() -> None:
    sparse = np.where(np.arange(3000) % 100 == 0, 0.5, np.nan)
    found = written(made_runs.series("custom/sparse", sparse), *noise(3000, 8))
    per = found.header["pieces"][0][2]
    there = [bool(np.isfinite(sparse[at : at + per]).any()) for at in range(0, 3000, per)]
    assert np.isfinite(found.middle["custom/sparse"]).tolist() == there


def test_rewritten_rows_are_pieces_of_their_own() -> None:
    steps = [*range(1, 81), *range(61, 101)]
    segments = np.array([0] * 80 + [1] * 40)
    live = np.array([step <= 60 for step in steps[:80]] + [True] * 40)
    values = np.arange(120.0)
    found = written(made_runs.series("custom/fork", values, steps, segments=segments, live=live))
    assert found.header["pieces"] == [[-1, 100, 1], [0, 20, 1]]
    assert found.header["segments"] == [[0, 60], [1, 40]]
    assert found.steps.tolist() == [*range(1, 101), *range(61, 81)]
    assert found.exact["custom/fork"].tolist() == [*range(60), *range(80, 120), *range(60, 80)]


def test_nan_and_infinity_are_listed_with_their_steps() -> None:
    one = made_runs.series("custom/lost", [1, np.nan, np.nan, 2, np.nan])
    one = replace(one, non_finite=((2, "nan"), (3, "nan"), (5, "-inf")))
    assert written(one).header["metrics"][0]["lost"] == {"-inf": [5], "nan": [2, 1]}


def test_hours_are_the_sum_of_the_step_times_that_count() -> None:
    steps, live = [1, 2, 3, 3, 4], np.array([True, True, False, True, True])
    segments = np.array([0, 0, 0, 1, 1])
    time = made_runs.series("timing_s/step", [3600.0] * 5, steps, segments=segments, live=live)
    found = written(time)
    assert found.axes["time"].tolist() == [1, 2, 3, 4, 3]


def test_hours_come_from_time_stamps_where_step_times_are_not_logged() -> None:
    made = report(made_runs.series("custom/x", [1.0, 2.0, 3.0]))
    found = read(chart_data.files(replace(made, clock=np.array([100.0, 1900.0, 7300.0]))))
    assert found.axes["time"].tolist() == [0, 0.5, 2]


def test_tokens_add_up_and_epochs_have_parts() -> None:
    tokens = made_runs.series("perf/total_num_tokens", [10.0, 20.0, 30.0, 40.0])
    epoch = made_runs.series("training/epoch", [0.0, 0.0, 1.0, 1.0])
    found = written(tokens, epoch)
    assert found.axes["tokens"].tolist() == [10, 30, 60, 100]
    assert found.axes["epoch"].tolist() == [0, 0.5, 1, 1.5]


def test_a_validation_before_training_costs_no_tokens() -> None:
    tokens = made_runs.series("perf/total_num_tokens", [np.nan, 10.0, 20.0])
    epoch = made_runs.series("training/epoch", [np.nan, 0.0, 1.0])
    found = written(tokens, epoch)
    assert found.axes["tokens"].tolist() == [0, 10, 30]
    assert found.axes["epoch"].tolist() == [0, 0.5, 1]


def test_an_axis_that_many_steps_lack_is_not_offered() -> None:
    tokens = made_runs.series("perf/total_num_tokens", [10.0, np.nan, 30.0])
    assert written(tokens).header["axes"] == []


def test_the_first_file_of_a_thousand_steps_and_forty_metrics_is_small() -> None:
    files = chart_data.files(report(*noise(1000, 40)))
    assert len(files["charts.bin"]) <= 60_000


def test_the_same_report_gives_the_same_bytes() -> None:
    made = report(*noise(700, 20))
    assert chart_data.files(made) == chart_data.files(made)


def test_a_run_of_one_step_has_no_charts() -> None:
    assert chart_data.files(report(made_runs.series("custom/x", [1.0]))) == {}
