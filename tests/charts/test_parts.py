"""Sparks, the phase ribbon, the bar of times, and phases over resumes."""

from __future__ import annotations

import re

from sitegen import charts
from sitegen.charts import Frame, Mark, Span
from sitegen.model import Phase, PhaseName, Segment
from tests.charts.drawings import paths, points, tree


def test_a_spark_is_at_most_600_bytes() -> None:
    values = [((step * 7919) % 101) / 100 for step in range(60)]
    marks = [(step / 20, word) for step in range(20) for word in ("error", "warning")]
    assert len(charts.spark(values, marks)) <= 600


def test_a_spark_keeps_its_gaps() -> None:
    svg = charts.spark([1.0, 2.0, None, 2.0, 3.0])
    assert len(points(paths(svg, "sg-line")[0])) == 2


def test_a_spark_of_many_values_keeps_the_extreme() -> None:
    values = [0.5] * 500
    values[251] = 9.0
    (stroke,) = points(paths(charts.spark(values), "sg-line")[0])
    assert min(y for _, y in stroke) == 3


def test_incidents_are_ticks_on_a_spark() -> None:
    svg = charts.spark([1.0, 2.0, 3.0], [(0.0, "error"), (1.0, "warning")])
    assert [one.get("class") for one in tree(svg).iter("path")][:2] == [
        "sg-when sg-s-error",
        "sg-when sg-s-warning",
    ]


def test_there_is_no_spark_of_nothing() -> None:
    assert charts.spark([]) == charts.spark([None, float("nan")]) == ""


def test_a_spark_of_one_value_is_a_dot() -> None:
    assert paths(charts.spark([0.4]), "sg-line") == ["M60 12h0"]


def test_the_ribbon_names_phases_and_links_incidents() -> None:
    frame = Frame(
        1,
        100,
        (Span("warmup", 1, 20), Span("climb", 21, 100)),
        (Mark(60, "error", "KL-05", "t", "#KL-05-1"),),
    )
    html = charts.ribbon(frame)
    assert 'aria-label="Phases: warm-up steps 1 to 20; climb steps 21 to 100"' in html
    assert 'href="#KL-05-1"' in html
    assert ">KL-05<" in html


def test_a_phase_too_narrow_for_its_name_keeps_it_as_a_title() -> None:
    html = charts.ribbon(Frame(1, 1000, (Span("exploration", 1, 10), Span("climb", 11, 1000))))
    assert 'title="exploration, steps 1 to 10"></span>' in html


def test_incidents_close_together_stand_in_lanes() -> None:
    marks = tuple(Mark(50 + k, "warning", f"X-{k}", "t", "#x") for k in range(3))
    assert {*re.findall(r"bottom:([\d.]+)rem", charts.ribbon(Frame(1, 100, (), marks)))} == {
        "0.00",
        "0.85",
        "1.70",
    }


def test_remarks_never_push_an_incident_out_of_the_lowest_lane_nor_cover_its_name() -> None:
    marks = tuple(Mark(40 + k, "info", f"LOG-{k}", "t", "#x") for k in range(9))
    html = charts.ribbon(Frame(1, 100, (), (*marks, Mark(44, "error", "KL-05", "t", "#x"))))
    placed = re.findall(r"left:([\d.]+)%;bottom:([\d.]+)rem[^>]*><span>([^<]*)<", html)
    (name,) = [(float(left), bottom) for left, bottom, label in placed if label == "KL-05"]
    assert name[1] == "0.00"
    covered = [left for left, bottom, label in placed if bottom == "0.00" and 0 < float(left) - name[0] < 7.5]
    assert covered == []


def test_no_mark_of_a_crowd_covers_another() -> None:
    marks = [Mark(40, "error", f"E-{k:02}", "t", "#x") for k in range(9)] + [
        Mark(40, "info", "I-01", "t", "#y")
    ]
    html = charts.ribbon(Frame(1, 100, (), (*marks, Mark(40, "warning", "W-01", "t", "#z"))))
    lanes = re.findall(r"bottom:([\d.]+)rem", html)
    assert len(lanes) == len(set(lanes)) == 11


def test_the_ribbon_of_one_step_is_whole() -> None:
    html = charts.ribbon(Frame(1, 1, (Span("warmup", 1, 1),)))
    assert "width:100.00%" in html


def test_resumes_are_marked_on_the_ribbon() -> None:
    assert "resumed at step 40" in charts.ribbon(Frame(1, 100, resumes=(40,)))


def test_phases_of_rewritten_steps_give_way_to_those_of_the_later_segment() -> None:
    segments = (Segment(0, 1, 50, 50, "a", "start"), Segment(1, 31, 80, 50, "b", "rewind"))
    phases = (Phase(0, PhaseName.CLIMB, 1, 50), Phase(1, PhaseName.PLATEAU, 31, 80))
    assert charts.live_spans(phases, segments) == (Span("climb", 1, 30), Span("plateau", 31, 80))


def test_a_phase_that_goes_on_after_a_resume_is_one_span() -> None:
    segments = (Segment(0, 1, 50, 50, "a", "start"), Segment(1, 31, 80, 50, "b", "rewind"))
    phases = (Phase(0, PhaseName.CLIMB, 1, 50), Phase(1, PhaseName.CLIMB, 31, 80))
    assert charts.live_spans(phases, segments) == (Span("climb", 1, 80),)


def test_a_segment_that_was_rewritten_from_its_start_has_no_phase_left() -> None:
    segments = (Segment(0, 10, 50, 41, "a", "start"), Segment(1, 5, 80, 76, "b", "rewind"))
    assert charts.live_spans((Phase(0, PhaseName.CLIMB, 10, 50),), segments) == ()


def test_the_time_bar_names_wide_parts_and_reads_out_all() -> None:
    html = charts.stacked([("gen", 0.7), ("adv", 0.001), ("other", 0.299)])
    assert ">gen<" in html
    assert ">adv<" not in html
    assert 'aria-label="Time per step: gen 70%, adv 0%, other 30%"' in html
