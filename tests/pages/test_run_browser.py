"""Run pages in a real browser under Material's own styles: width, contrast, chips, folds."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from sitegen import charts
from sitegen.charts import Frame, Span
from tests.pages import browsing, made_runs, rendered

pytestmark = pytest.mark.browser


def opened(browser: Browser, tmp_path: Path, repo: Path, name: str, scheme: str = "default") -> Page:
    """The page of a made run in a tab of its own."""
    return browsing.opened(browser, browsing.written(tmp_path, repo, rendered.made(name).html, scheme))


@pytest.mark.parametrize("name", sorted(made_runs.ALL))
def test_no_page_is_wider_than_its_screen(browser: Browser, tmp_path: Path, repo: Path, name: str) -> None:
    tab = opened(browser, tmp_path, repo, name)
    assert browsing.widths(tab) == []
    tab.close()


@pytest.mark.parametrize("scheme", ["default", "slate"])
@pytest.mark.parametrize("name", ["sick", "healthy", "crash", "nan"])
def test_every_word_has_enough_contrast(
    browser: Browser, tmp_path: Path, repo: Path, name: str, scheme: str
) -> None:
    tab = opened(browser, tmp_path, repo, name, scheme=scheme)
    assert tab.evaluate(browsing.CONTRAST) == []
    tab.close()


def test_names_without_end_leave_the_verdict_on_the_first_screens(
    browser: Browser, tmp_path: Path, repo: Path
) -> None:
    base = made_runs.ALL["sick"]()
    endless = replace(base.run, title="L" * 5000, owner="o" * 3000, tags=("T" * 2000, "a tag"))
    html = rendered.page(replace(base, run=endless)).html
    tab = browsing.opened(browser, browsing.written(tmp_path, repo, html), width=390)
    assert tab.evaluate("document.querySelector('.sg-verdict').getBoundingClientRect().top") < 600
    assert browsing.widths(tab) == []
    tab.close()


TOUCHING = """() => {
  const all = [...document.querySelectorAll(".sg-ribbon-steps span")].filter((one) => one.checkVisibility());
  const boxes = all.map((one) => one.getBoundingClientRect()).sort((a, b) => a.left - b.left);
  return [boxes.length, boxes.some((box, k) => k && box.left < boxes[k - 1].right + 3)];
}"""


@pytest.mark.parametrize(("width", "fewest"), [(1280, 5), (390, 4), (320, 4)])
def test_steps_below_the_ribbon_of_a_long_run_do_not_touch(
    browser: Browser, tmp_path: Path, repo: Path, width: int, fewest: int
) -> None:
    at = (0, 25_000, 50_000, 150_000, 250_000, 268_300)
    spans = tuple(Span("climb", first, last) for first, last in pairwise(at))
    html = f'<div class="sg-page">{charts.ribbon(Frame(0, 268_300, spans))}</div>'
    tab = browsing.opened(browser, browsing.written(tmp_path, repo, html), width=width)
    shown, touching = tab.evaluate(TOUCHING)
    assert shown >= fewest and not touching
    tab.close()


def visible(tab: Page) -> list[str]:
    """Names of the charts that can be seen in the metrics."""
    return tab.eval_on_selector_all(
        "[data-sg-metrics] .sg-chart",
        "all => all.filter(x => x.checkVisibility()).map(x => x.querySelector('b').textContent)",
    )


def test_a_chip_shows_one_group_from_overview_and_fold(browser: Browser, tmp_path: Path, repo: Path) -> None:
    tab = opened(browser, tmp_path, repo, "sick")
    assert len(visible(tab)) == 12
    tab.get_by_role("link", name="Length 2").click()
    assert visible(tab) == ["Response length", "Truncated responses"]
    tab.get_by_role("link", name="Overview").click()
    assert len(visible(tab)) == 12
    tab.close()


def test_a_metric_is_found_by_part_of_its_name(browser: Browser, tmp_path: Path, repo: Path) -> None:
    tab = opened(browser, tmp_path, repo, "many")
    tab.get_by_label("find a metric").fill("part_137")
    assert visible(tab) == ["custom/reward_model_4/part_137"]
    tab.close()


def test_a_config_key_is_found(browser: Browser, tmp_path: Path, repo: Path) -> None:
    tab = opened(browser, tmp_path, repo, "sick")
    tab.locator("#config summary").click()
    tab.get_by_label("find a key or value").fill("kl_loss")
    assert tab.locator("#config tbody tr:visible").count() == 1
    tab.close()


def test_a_link_to_a_folded_remark_opens_the_fold(browser: Browser, tmp_path: Path, repo: Path) -> None:
    tab = opened(browser, tmp_path, repo, "sick")
    tab.locator('.sg-ribbon a[href="#LOG-03-1"]').click()
    tab.wait_for_function("document.getElementById('LOG-03-1').checkVisibility()")
    tab.close()


def test_without_javascript_everything_can_be_read(browser: Browser, tmp_path: Path, repo: Path) -> None:
    opened(browser, tmp_path, repo, "sixty").close()
    plain = browser.new_context(java_script_enabled=False).new_page()
    plain.goto((tmp_path / "page.html").as_uri())
    assert plain.locator("#overview .sg-chart").count() == 12
    plain.locator(".sg-group summary").first.click()
    assert plain.locator("details[open] .sg-chart").first.is_visible()
    plain.context.close()
