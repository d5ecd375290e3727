"""What a chart shows: every extreme, every gap, every value that is not a number."""

from __future__ import annotations

import numpy as np
import pytest

from sitegen import charts
from sitegen.charts import FULL, SMALL, Frame, Limit, Mark, Span
from tests.charts.drawings import paths, points, series, texts, titles, tree

NOISE = np.random.default_rng(1).normal(0, 1, 5000)


def test_a_short_run_is_drawn_point_by_point() -> None:
    svg = charts.chart(series([1, 3, 2]), Frame(1, 3))
    (stroke,) = points(paths(svg, "sg-line")[0])
    assert len(stroke) == 3
    assert len(points(paths(svg, "sg-points")[0])) == 3


def test_a_single_point_is_a_dot_in_the_middle_of_its_chart() -> None:
    svg = charts.chart(series([0.5], [40]), Frame(40, 40))
    assert points(paths(svg, "sg-points")[0]) == [[(FULL.plot_width, FULL.plot_height)]]
    assert "0.5" in texts(svg)


def test_a_long_run_has_a_band_that_reaches_every_extreme() -> None:
    values = 0.1 * np.sin(np.arange(5000) / 300)
    values[2345] = 0.3  # one row in 5 000, within the range
    values[100:200] = np.linspace(0.3, 0.31, 100)
    svg = charts.chart(series(values), Frame(1, 5000))
    band = [point for stroke in points(paths(svg, "sg-band")[0]) for point in stroke]
    at = round(2344 / 4999 * 2 * FULL.plot_width)
    near = [y for x, y in band if abs(x - at) <= 4]
    line = [y for x, y in points(paths(svg, "sg-line")[0])[0] if abs(x - at) <= 4]
    assert min(near) < min(line) - 40


def test_a_band_has_at_most_as_many_columns_as_its_size_allows() -> None:
    svg = charts.chart(series(NOISE), Frame(1, 5000), SMALL)
    assert len(points(paths(svg, "sg-line")[0])[0]) <= 100


def test_missing_rows_are_a_gap() -> None:
    steps = [*range(1, 11), *range(31, 41)]
    svg = charts.chart(series([1.0] * 20, steps), Frame(1, 40))
    assert len(points(paths(svg, "sg-line")[0])) == 2


def test_rows_that_do_not_carry_the_metric_are_no_gap_when_that_is_its_rhythm() -> None:
    values = [float(step) if step % 20 == 0 else np.nan for step in range(1, 201)]
    svg = charts.chart(series(values), Frame(1, 200))
    (stroke,) = points(paths(svg, "sg-line")[0])
    assert len(stroke) == 10


def test_nan_and_infinity_have_a_lane_of_their_own_and_break_the_line() -> None:
    values = [1.0] * 20
    values[9] = values[14] = np.nan
    svg = charts.chart(series(values, non_finite=((10, "nan"), (15, "-inf"))), Frame(1, 20))
    assert len(points(paths(svg, "sg-line")[0])) == 3
    assert sorted(titles(svg)) == ["-inf at step 15", "NaN at step 10"]
    assert "NaN/inf" in texts(svg)


def test_a_metric_that_is_nan_throughout_says_so() -> None:
    lost = tuple((step, "nan") for step in range(1, 31))
    svg = charts.chart(series([np.nan] * 30, non_finite=lost), Frame(1, 30))
    assert "no finite value" in texts(svg)
    assert titles(svg) == ["NaN at 30 steps, 1 to 30"]


def test_infinities_in_the_values_do_not_reach_the_picture() -> None:
    svg = charts.chart(series([1.0, np.inf, 2.0]), Frame(1, 3))
    assert len(points(paths(svg, "sg-points")[0])) == 2


def test_a_value_beyond_the_range_is_a_triangle_at_the_border_with_its_number() -> None:
    values = list(1 + 0.1 * np.sin(np.arange(300)))
    values[149] = 4e5
    svg = charts.chart(series(values), Frame(1, 300), unit="nats/token")
    assert len(paths(svg, "sg-out")) == 1
    assert titles(svg) == ["step 150: 400\u202f000 nats/token"]


def test_numbers_that_must_be_shown_are_within_the_range() -> None:
    values = list(1 + 0.1 * np.sin(np.arange(300)))
    values[149] = 5.0
    svg = charts.chart(series(values), Frame(1, 300), show=[5.0])
    assert not paths(svg, "sg-out")


def test_rewritten_rows_are_a_thin_fork_that_leaves_the_line_where_it_was_rewritten() -> None:
    steps = [*range(1, 21), *range(11, 31)]
    segments = np.repeat([0, 1], 20)
    live = np.array([step <= 10 for step in steps[:20]] + [True] * 20)
    svg = charts.chart(series([1.0] * 20 + [2.0] * 20, steps, segments=segments, live=live), Frame(1, 30))
    (fork,) = points(paths(svg, "sg-fork")[0])
    assert len(fork) == 11  # ten rewritten rows and the one they set out from
    assert len(points(paths(svg, "sg-line")[0])[0]) == 30
    assert "rewritten later" in titles(svg)[0]


def test_phases_and_incidents_lie_behind_the_curve() -> None:
    frame = Frame(
        1, 100, (Span("climb", 1, 100),), (Mark(50, "error", "KL-05", "KL-05 KL runaway, step 50"),)
    )
    svg = charts.chart(series(NOISE[:100]), frame)
    assert [one.get("class") for one in tree(svg).iter("rect")] == ["sg-bg-climb"]
    assert titles(svg) == ["KL-05 KL runaway, step 50"]
    assert len(paths(svg, "sg-when")) == len(paths(svg, "sg-when-mark")) == 1


def test_each_severity_has_a_shape_of_its_own() -> None:
    marks = [Mark(50, word, "X", "X") for word in ("critical", "error", "warning")]
    shapes = [
        paths(charts.chart(series(NOISE[:100]), Frame(1, 100, (), (mark,))), "sg-when-mark") for mark in marks
    ]
    assert len({tuple(shape) for shape in shapes}) == 3


def test_remarks_do_not_clutter_charts() -> None:
    svg = charts.chart(series(NOISE[:100]), Frame(1, 100, (), (Mark(50, "info", "LOG-01", "LOG-01"),)))
    assert not titles(svg)


def test_dozens_of_incidents_keep_their_marks_but_not_their_lines() -> None:
    marks = tuple(Mark(step, "warning", "X", "X") for step in range(1, 91, 3))
    svg = charts.chart(series(NOISE[:100]), Frame(1, 100, (), marks))
    assert len(paths(svg, "sg-when-mark")) == 30
    assert len(paths(svg, "sg-when")) == 12


def test_charts_of_a_page_share_one_backdrop() -> None:
    frame = Frame(1, 100, (Span("climb", 1, 100),))
    svg = charts.chart(series(NOISE[:100]), frame, behind="sg-behind")
    assert tree(svg).find("use").get("href") == "#sg-behind"  # type: ignore[union-attr]
    assert "sg-bg-climb" not in svg
    assert 'id="sg-behind"' in charts.backdrop(frame, FULL, "sg-behind")


def test_a_threshold_is_drawn_and_named() -> None:
    svg = charts.chart(
        series(NOISE[:100]), Frame(1, 100), limits=[Limit("KL-05 limit 2", (1, 100), (2.0, 2.0))]
    )
    assert len(paths(svg, "sg-limit")) == 1
    assert "KL-05 limit 2" in texts(svg)


def test_a_threshold_far_beyond_the_range_is_named_at_the_border() -> None:
    svg = charts.chart(series(NOISE[:100]), Frame(1, 100), limits=[Limit("KL-05 limit 900", (50,), (900.0,))])
    assert not paths(svg, "sg-limit")
    assert "KL-05 limit 900, above" in texts(svg)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (
            [0.1, 0.4, 0.2],
            "KL in nats: 3 values, steps 1 to 3, first 0.1, last 0.2, min 0.1 at 1, max 0.4 at 2",
        ),
        ([0.1], "KL in nats: 0.1 at step 1, the only value"),
        ([2.0, 2.0], "KL in nats: constant 2, 2 values, steps 1 to 2"),
        ([np.nan], "KL in nats: no finite value"),
    ],
)
def test_a_chart_is_read_out_in_one_sentence(values: list[float], words: str) -> None:
    svg = charts.chart(series(values), Frame(1, 3), title="KL", unit="nats")
    assert tree(svg).get("role") == "img"
    assert tree(svg).get("aria-label") == words


def test_names_from_logs_are_text() -> None:
    frame = Frame(1, 3, (), (Mark(2, "error", "X", "<script>alert(1)</script>"),))
    svg = charts.chart(series([1, 2, 3]), frame, title='"><img src=x>', unit="<b>")
    assert "<script" not in svg
    assert "<img" not in svg
    tree(svg)


@pytest.mark.parametrize("n", [1, 2, 5, 89, 91, 1000])
@pytest.mark.parametrize("level", [0.0, 1e-300, 1e300, -5.0])
def test_any_length_and_any_size_can_be_drawn(n: int, level: float) -> None:
    svg = charts.chart(series(level * (1 + 1e-3 * NOISE[:n])), Frame(1, n))
    tree(svg)
    assert "nan" not in svg.lower().replace("nan/inf", "")


def test_a_chart_without_a_row_in_its_frame_says_so() -> None:
    assert "not logged in this range" in texts(charts.chart(series([1, 2]), Frame(50, 60)))


def test_the_same_series_gives_the_same_bytes() -> None:
    first, second = (charts.chart(series(NOISE), Frame(1, 5000)) for _ in range(2))
    assert first == second


def test_an_overview_chart_stays_below_ten_kilobytes_and_a_small_one_below_three() -> None:
    frame = Frame(1, 5000, (Span("climb", 1, 5000),), (Mark(50, "error", "X", "X"),))
    assert len(charts.chart(series(NOISE), frame, FULL)) < 10_000
    assert len(charts.chart(series(NOISE), frame, SMALL, behind="b")) < 3_000


HUGE, SMALLEST = 1.7e308, 5e-324


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "values",
    [
        [HUGE, -HUGE],
        [HUGE, -0.0, float("nan"), -HUGE] * 75,
        [HUGE, HUGE],
        [SMALLEST, 0.0],
        [SMALLEST, HUGE] * 40,
        [0.5, 1.0],
    ],
)
@pytest.mark.parametrize("limit", [HUGE, -HUGE, SMALLEST])
def test_the_ends_of_the_doubles_can_be_drawn(values: list[float], limit: float) -> None:
    frame = Frame(1, len(values))
    threshold = Limit("limit", (1, len(values)), (limit, limit))
    for show in ((), (limit,)):
        svg = charts.chart(series(values), frame, limits=[threshold], show=show)
        assert paths(svg, "sg-line")
    assert paths(charts.spark(values), "sg-line")


def test_a_spark_says_the_numbers_as_logged() -> None:
    assert "from 1.7e308 to -1.7e308" in charts.spark([HUGE, -HUGE])
