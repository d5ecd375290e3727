"""A page of 60 metrics over 5 000 steps stays small; so does one of hundreds."""

from __future__ import annotations

import gzip

from tests.pages import rendered


def test_sixty_metrics_over_5000_steps_fit_in_250_kilobytes_60_gzipped() -> None:
    html = rendered.made("sixty").html.encode()
    assert html.count(b"<figure") >= 60
    assert len(html) <= 250_000
    assert len(gzip.compress(html, 6)) <= 60_000


def test_four_hundred_metrics_fit_in_700_kilobytes() -> None:
    assert len(rendered.made("many").html.encode()) <= 700_000


def test_a_crash_before_the_first_step_is_a_page_of_a_few_kilobytes() -> None:
    assert len(rendered.made("crash").html.encode()) <= 8_000
