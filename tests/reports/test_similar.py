"""Incidents of other runs that look like one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from sitegen.model import Severity, Status
from sitegen.reports.shapes import IncidentRow
from sitegen.reports.similar import MOST, similar, why

RISE = (1.0, 1.0, 1.1, 1.0, 2.0, 4.0, 7.0, 9.0)
FALL = (9.0, 7.0, 4.0, 2.0, 1.0, 1.1, 1.0, 1.0)


def row(
    run: str,
    rule: str = "KL-05",
    spark: Sequence[float | None] = RISE,
    day: float | None = 0.0,
    severity: Severity = Severity.ERROR,
    changes: Mapping[str, float] | None = None,
) -> IncidentRow:
    """An incident with its onset in the middle of the spark."""
    return IncidentRow(
        id=f"{run}/{rule}-1",
        run=run,
        run_title=run,
        run_status=Status.FAILED,
        model="m",
        algorithm="GRPO",
        project=None,
        rule=rule,
        title="KL runaway",
        severity=severity,
        first=10,
        last=20,
        open=True,
        message="",
        happened_at=day,
        spark=tuple(spark),
        onset=0.5,
        changes=changes or {},
    )


def names(rows: Sequence[IncidentRow], of: str) -> list[str]:
    return [found.row.run for found in similar(rows)[of]]


def test_the_same_rule_with_the_same_curve_is_alike() -> None:
    assert names([row("old"), row("new", day=5.0)], "new/KL-05-1") == ["old"]


def test_the_scale_of_a_curve_does_not_matter() -> None:
    (found,) = similar([row("old", spark=[100 * v for v in RISE]), row("new", day=5.0)])["new/KL-05-1"]
    assert found.curve == pytest.approx(1.0)


def test_the_same_rule_with_the_opposite_curve_is_not_alike() -> None:
    assert names([row("old", spark=FALL), row("new", day=5.0)], "new/KL-05-1") == []


def test_another_rule_of_the_group_needs_everything_else_alike() -> None:
    moved = {"kl_ref": 2.0, "score": -1.0}
    alike = row("alike", rule="KL-06", changes=moved)
    other = row("other", rule="KL-06", changes={"kl_ref": -2.0, "score": 1.0})
    assert names([alike, other, row("new", day=5.0, changes=moved)], "new/KL-05-1") == ["alike"]


def test_rules_of_other_groups_are_never_compared() -> None:
    assert names([row("old", rule="GRD-02"), row("new", day=5.0)], "new/KL-05-1") == []


def test_only_earlier_incidents_are_shown() -> None:
    rows = [row("old"), row("new", day=5.0)]
    assert names(rows, "old/KL-05-1") == []


def test_an_incident_without_a_date_may_be_earlier() -> None:
    assert names([row("undated", day=None), row("new", day=5.0)], "new/KL-05-1") == ["undated"]


def test_an_incident_does_not_resemble_its_own_run() -> None:
    assert names([row("new"), row("new", rule="KL-06")], "new/KL-05-1") == []


def test_remarks_are_left_out() -> None:
    assert similar([row("old", severity=Severity.INFO), row("new", severity=Severity.INFO)]) == {}


def test_the_likest_come_first_and_no_more_than_a_few() -> None:
    bent = (1.0, 1.2, 1.4, 1.6, 2.0, 2.2, 2.6, 3.0)
    rows = [row("bent", spark=bent), *(row(f"same-{k}") for k in range(MOST)), row("new", day=5.0)]
    assert names(rows, "new/KL-05-1") == [f"same-{k}" for k in range(MOST)]


@pytest.mark.parametrize("spark", [(), (None, None), (1.0, 1.0, 1.0)], ids=repr)
def test_a_curve_that_says_nothing_counts_for_nothing(spark: tuple[float | None, ...]) -> None:
    assert names([row("old", spark=spark), row("new", day=5.0)], "new/KL-05-1") == []


def test_curves_at_the_end_of_what_doubles_hold_are_compared() -> None:
    huge = (1e308, -1e308, 1e308)
    assert names([row("old", spark=huge), row("new", day=5.0, spark=huge)], "new/KL-05-1") == ["old"]


def test_the_reason_is_told_in_words() -> None:
    (found,) = similar([row("old"), row("new", day=5.0)])["new/KL-05-1"]
    assert why(found) == "same rule, curve 100% alike"
