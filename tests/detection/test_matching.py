"""Findings and labels, drawn by hand."""

from __future__ import annotations

import numpy as np
import pytest

from sitegen.model import Evidence, Incident, Severity
from tests.detection.matching import match
from tests.detection.trace import Label

STEPS = np.arange(1, 201)


def label(first: int, last: int, *codes: str, also: tuple[str, ...] = (), whole: bool = False) -> Label:
    return Label(
        kind="made",
        codes=codes or ("KL-05",),
        also=also,
        first=first,
        last=last,
        strength="medium",
        hard=False,
        whole=whole,
        least=Severity.WARNING,
    )


def finding(
    first: int | None, last: int | None, rule: str = "KL-05", severity: Severity = Severity.ERROR
) -> Incident:
    return Incident(
        id=f"run/{rule}-1",
        run="run",
        segment=0,
        rule=rule,
        title="",
        severity=severity,
        first=first,
        last=last,
        open=False,
        metric=None,
        value=None,
        threshold=None,
        message="",
        causes=(),
        advice=(),
        evidence=Evidence(None, steps=(first or 0,)),
    )


def test_an_overlap_is_a_hit_and_says_how_late_it_was() -> None:
    found = match([label(100, 140)], [finding(112, 120)], STEPS)
    assert [hit.late for hit in found.hits] == [12]
    assert not found.missed
    assert not found.stray


@pytest.mark.parametrize("first", [95, 120])
def test_an_onset_from_five_rows_early_to_twenty_rows_late_is_a_hit(first: int) -> None:
    assert len(match([label(100, 101)], [finding(first, first)], STEPS).hits) == 1


@pytest.mark.parametrize("first", [94, 121])
def test_an_onset_beyond_that_is_a_miss_and_an_alarm(first: int) -> None:
    found = match([label(100, 101)], [finding(first, first)], STEPS)
    assert len(found.missed) == 1
    assert len(found.hits) == 0


def test_late_means_a_twentieth_of_a_long_run() -> None:
    assert len(match([label(500, 501)], [finding(549, 549)], np.arange(1, 1001)).hits) == 1


def test_rows_count_not_steps() -> None:
    """Logged every tenth step, 15 rows are 150 steps."""
    assert len(match([label(1000, 1010)], [finding(1150, 1150)], np.arange(10, 2001, 10)).hits) == 1


def test_a_rule_of_another_family_is_no_hit() -> None:
    found = match([label(100, 140)], [finding(100, 140, "GRD-02")], STEPS)
    assert len(found.missed) == 1
    assert [one.rule for one in found.stray] == ["GRD-02"]


def test_each_label_takes_one_finding_and_the_rest_of_its_family_is_explained() -> None:
    found = match([label(100, 140)], [finding(101, 105), finding(130, 140)], STEPS)
    assert [hit.late for hit in found.hits] == [1]
    assert [one.first for one in found.explained] == [130]
    assert not found.stray


def test_two_labels_share_findings_so_that_both_are_found() -> None:
    """The nearest finding of the first label is the only one of the second."""
    labels = [label(100, 110), label(112, 112)]
    found = match(labels, [finding(94, 101), finding(108, 112)], STEPS)
    assert [(hit.label.first, hit.incident.first) for hit in found.hits] == [(100, 94), (112, 108)]


def test_a_consequence_is_no_alarm_but_no_hit_either() -> None:
    found = match([label(100, 140, also=("REW-05",))], [finding(120, 150, "REW-05")], STEPS)
    assert len(found.missed) == 1
    assert [one.rule for one in found.explained] == ["REW-05"]


def test_a_consequence_cannot_come_before_its_cause() -> None:
    found = match([label(100, 140, also=("REW-05",))], [finding(40, 50, "REW-05")], STEPS)
    assert [one.rule for one in found.stray] == ["REW-05"]


def test_a_remark_is_neither_hit_nor_alarm_where_a_warning_is_meant() -> None:
    found = match([label(100, 140)], [finding(100, 140, severity=Severity.INFO)], STEPS)
    assert len(found.missed) == 1
    assert not found.stray


def test_a_label_of_the_whole_run_has_no_onset() -> None:
    found = match([label(1, 200, "REW-06", whole=True)], [finding(1, 200, "REW-06", Severity.WARNING)], STEPS)
    assert [hit.late for hit in found.hits] == [None]


def test_what_happened_before_the_first_step_is_matched_there() -> None:
    found = match([label(0, 0, "RUN-01")], [finding(None, None, "RUN-01")], np.zeros(0, np.int64))
    assert [hit.late for hit in found.hits] == [0]


def test_every_warning_of_a_healthy_run_is_an_alarm() -> None:
    found = match([], [finding(50, 60), finding(70, 70, severity=Severity.INFO)], STEPS)
    assert [one.first for one in found.stray] == [50]


def test_what_is_true_of_the_log_is_no_alarm() -> None:
    found = match([], [finding(50, 60, "LOG-01")], STEPS, true_of_log=("LOG-01",))
    assert not found.stray
