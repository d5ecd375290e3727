"""Incidents by month: counted by severity, with the months that had none, and only where there is a trend."""

from __future__ import annotations

import re
from dataclasses import replace

from sitegen.language import speaking
from sitegen.model import Severity
from sitegen.pages import incidents
from sitegen.pages.trend import trend
from sitegen.reports.shapes import IncidentRow
from sitegen.site.rendering import renderer
from sitegen.site.templates import environment
from tests.pages.rendered import Outline
from tests.site.synthetic import archive

REPORT = archive(14, steps=30).report
SEPTEMBER, NOVEMBER = 1_788_912_000.0, 1_794_182_400.0  # 2026-09-09 and 2026-11-09


def rows(*given: tuple[float | None, Severity]) -> tuple[IncidentRow, ...]:
    one = REPORT.incidents[0]
    return tuple(replace(one, happened_at=when, severity=severity) for when, severity in given)


def page(found: tuple[IncidentRow, ...]) -> str:
    return incidents.page(replace(REPORT, incidents=found), renderer(environment())).html


MIXED = rows(
    (SEPTEMBER, Severity.ERROR),
    (SEPTEMBER, Severity.ERROR),
    (SEPTEMBER, Severity.INFO),
    (NOVEMBER, Severity.CRITICAL),
    (None, Severity.WARNING),
)


def test_counts_are_by_month_and_severity_newest_first() -> None:
    found = trend(MIXED)
    assert found is not None
    assert found.rows == (("2026-11", (1, 0, 0, 0), 1), ("2026-09", (0, 2, 0, 1), 3))
    assert found.undated == 1


def test_a_month_without_incidents_keeps_its_place_in_the_drawing() -> None:
    found = trend(MIXED)
    assert found is not None
    assert "2026-10" in Outline(str(found.drawing)).text
    assert "month=2026-10" not in found.drawing


def test_a_column_is_as_high_as_its_count_and_leads_to_its_month() -> None:
    found = trend(MIXED)
    assert found is not None
    heights = [float(text) for text in re.findall(r'<rect [^>]*height="([0-9.]+)"', str(found.drawing))]
    assert heights == [48.0, 24.0, 24.0]
    assert 'href="?month=2026-09" aria-label="2026-09: 2 errors, 1 remark"' in found.drawing


def test_one_month_is_no_trend() -> None:
    assert trend(MIXED[:3]) is None
    assert trend(()) is None
    assert "sg-trend" not in page(MIXED[:3])


def test_the_page_shows_drawing_and_numbers_without_scripts() -> None:
    outline = Outline(page(MIXED))
    assert outline.faults == []
    assert "By month" in outline.text
    assert "Without a date: 1 incident." in outline.text


def test_it_is_said_in_the_language_of_the_site() -> None:
    with speaking("zh"):
        found = trend(MIXED)
    assert found is not None
    assert "2026-09: 2 项错误、1 条提示" in found.drawing
    assert "每月异常" in found.drawing
