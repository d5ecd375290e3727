from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sitegen.model import Series, Status
from sitegen.reports import assemble, rows, views
from sitegen.reports.curves import Curves
from sitegen.reports.entries import archive_report, entry, marks
from sitegen.reports.shapes import RunReport
from tests.reports.made import NAN, findings, incident, line, moved, one, rule, run, series

COLUMNS = {
    "critic/score/mean": np.linspace(0.1, 0.9, 100),
    "actor/lr(1e-4)": [0.01] * 100,
    "my/own": [1.0] * 100,
    "actor/entropy": [NAN] * 100,
}


def report(*incidents: object, **changes: object) -> RunReport:
    return assemble.report(
        run(**changes), findings(*incidents), series(COLUMNS), (), (rule(), rule("XXX-01"))
    )


def test_metrics_are_in_page_order_and_in_their_units() -> None:
    shown = report().metrics
    assert [view.series.name for view in shown] == ["critic/score/mean", "actor/lr(1e-4)", "my/own"]
    assert shown[1].series.values[0] == pytest.approx(1e-6)


def test_a_metric_without_a_value_is_not_drawn_but_one_that_is_nan_is() -> None:
    gap = one("actor/entropy", "entropy", [NAN, NAN])
    ill = replace(one("actor/grad_norm", "grad_norm", [NAN, NAN]), non_finite=((1, "nan"),))
    shown = views.metric_views(Curves({"actor/entropy": gap, "actor/grad_norm": ill}), ())
    assert [view.metric.key for view in shown] == ["grad_norm"]


def test_unknown_metrics_are_shown_as_other_and_stay_out_of_the_overview() -> None:
    own = next(view for view in report().metrics if view.series.name == "my/own")
    assert (own.metric.group, own.overview) == ("other", False)


def test_the_overview_has_at_most_twelve_charts() -> None:
    keys = ["score", "kl_ref", "entropy", "pg_loss", "grad_norm", "lr", "ppo_kl", "clipfrac", "vf_loss"]
    keys += ["response_length", "throughput", "mfu", "cpu_mem_gb", "rewards", "aborted_ratio"]
    curves = Curves({key: one(key, key, [1.0]) for key in keys})
    assert sum(view.overview for view in views.metric_views(curves, ())) == views.OVERVIEW


def test_only_rules_that_the_run_names_travel_with_it() -> None:
    assert set(report(incident()).rules) == {"GRD-01"}


def test_the_worst_incident_comes_first_then_the_earliest() -> None:
    found = report(
        incident("A-01", "warning", first=10),
        incident("B-01", "error", first=90),
        incident("C-01", "error", first=20),
    )
    assert [one.rule for one in found.incidents] == ["C-01", "B-01", "A-01"]


def test_the_incident_of_the_headline_comes_before_one_that_is_still_open() -> None:
    found = report(
        incident("A-01", "error", first=10, title="Jump"),
        incident("B-01", "error", first=15, title="Runaway", open=True),
    )
    assert found.headline == "Jump from step 10"
    assert [one.rule for one in found.incidents] == ["A-01", "B-01"]


def test_the_verdict_begins_with_its_main_event_and_names_the_suspected_root() -> None:
    found = report(incident("KL-05", "warning", first=8), incident("REW-05", "error", first=12, open=True))
    assert found.root == "KL-05-1"
    assert found.sentence.startswith(found.gist)
    assert found.gist.endswith("(suspected root).")


def test_rewritten_rows_are_counted_and_left_out() -> None:
    values = np.array([1.0, 2.0, 3.0, 9.0, 4.0])
    forked = Series(
        "critic/score/mean",
        "score",
        np.array([1, 2, 3, 3, 4]),
        values,
        np.array([0, 0, 0, 1, 1]),
        np.array([True, True, False, True, True]),
    )
    found = assemble.report(run(), findings(), {forked.name: forked}, (), ())
    assert found.rewritten == 1
    assert found.row.spark == (1.0, 2.0, 9.0, 4.0)


def test_a_spark_has_at_most_sixty_points_and_no_nan() -> None:
    values = np.where(np.arange(1000) < 500, np.nan, 1.0)
    points = rows.spark(Curves(series({"critic/score/mean": values})))
    assert len(points) == 60 and points[0] is None and points[-1] == 1.0


def test_a_supervised_run_shows_its_loss() -> None:
    assert rows.spark(Curves(series({"train/loss": [2.0, 1.0]}))) == (2.0, 1.0)


def test_marks_lie_where_the_incidents_began_and_leave_out_remarks() -> None:
    found = (incident(first=1), incident(severity="critical", first=100), incident(severity="info", first=50))
    assert rows.marks(run(), found) == ((0.0, "warning"), (1.0, "critical"))
    assert rows.marks(run(), (incident(first=None),)) == ((0.0, "warning"),)


def test_counts_are_worst_first() -> None:
    found = (incident(), incident(severity="critical"), incident())
    assert list(rows.counts(found).items()) == [("critical", 1), ("warning", 2)]


def test_an_incident_happened_when_its_step_was_logged_else_when_its_line_was_else_at_the_end() -> None:
    timed = replace(line("cuda_oom", "x"), time=77.0)
    found = report(
        incident(), incident("RUN-01", first=60, evidence=moved(lines=(timed,))), incident("Z-01", first=70)
    )
    by_rule = {row.rule: row.happened_at for row in rows.incident_rows(found, {50: 12.5})}
    assert by_rule == {"GRD-01": 12.5, "RUN-01": 77.0, "Z-01": 1_000_000.0}


def test_the_onset_lies_in_the_spark_of_the_evidence() -> None:
    (row,) = rows.incident_rows(report(incident()), {})
    assert row.spark == (0.5, 5.0) and row.onset == 1.0


def test_the_archive_lists_newest_first_and_counts_verdicts() -> None:
    old, new = report(incident(), ended_at=1.0), report(incident(), id="new", ended_at=2.0)
    entries = [entry(one, rows.incident_rows(one, {})) for one in (old, new)]
    found = archive_report(entries, [rule()], {}, (), ((), (), 2.0, ()))
    assert [row.id for row in found.runs] == ["new", "demo"]
    assert [row.run for row in found.incidents] == ["new", "demo"]
    assert {outcome.value: n for outcome, n in found.rules[0].outcomes.items()} == {
        "fired": 2,
        "muted": 0,
        "clear": 0,
        "not_applicable": 0,
    }


def test_runs_with_an_open_critical_incident_are_marked_on_the_boards() -> None:
    sick = report(incident("REW-05", "critical", open=True))
    cured = report(incident("REW-05", "critical"), id="cured")
    assert sick.status == Status.FAILED
    entries = [entry(one, rows.incident_rows(one, {})) for one in (sick, cured)]
    assert marks(entries) == {"demo": "open critical incident REW-05"}
