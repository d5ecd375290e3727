"""Run pages in a real browser under Material's own styles: width, contrast, chips, folds."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import material
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.pages import made_runs, rendered

pytestmark = pytest.mark.browser

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
SHELL = """<!doctype html><html class="js"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<link rel="stylesheet" href="{material}">
<link rel="stylesheet" href="{palette}">
<link rel="stylesheet" href="{ours}">
</head><body dir="ltr" data-md-color-scheme="{scheme}" data-md-color-primary="blue-grey">
<div class="md-container"><main class="md-main"><div class="md-main__inner md-grid"><div class="md-content">
<article class="md-content__inner md-typeset">{html}</article></div></div></main></div>
<script src="{script}"></script></body></html>"""

# Contrast of every text with the colours below it, as WCAG 2 counts it; returns those that are too faint.
CONTRAST = """() => {
  const parse = (text) => {
    const n = (text.match(/[\\d.]+/g) || []).map(Number);
    const scale = text.startsWith("color(srgb") ? 255 : 1;
    return [n[0] * scale, n[1] * scale, n[2] * scale, n[3] ?? 1];
  };
  const over = (top, below) => [0, 1, 2].map((k) => top[k] * top[3] + below[k] * (1 - top[3])).concat(1);
  const linear = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const light = (c) => 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
  const ground = (node) => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  };
  const bad = new Set();
  for (const node of document.querySelectorAll(".sg-page *")) {
    if (![...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim())) continue;
    if (node.closest("title")) continue;
    const style = getComputedStyle(node);
    const svg = node.ownerSVGElement;
    const below = ground(svg || node);
    const ink = over(parse(svg ? style.fill : style.color), below);
    const [dark, bright] = [light(ink), light(below)].sort((x, y) => x - y);
    const ratio = (bright + 0.05) / (dark + 0.05);
    if (ratio >= (parseFloat(style.fontSize) >= 24 ? 3 : 4.5)) continue;
    bad.add(`${node.getAttribute("class")} ${node.textContent.slice(0, 20)} ${ratio.toFixed(2)}`);
  }
  return [...bad];
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if path is None and os.environ.get("CI") != "true":
        pytest.skip("no Chromium: set CHROMIUM")
    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=path, args=FLAGS.split())
        yield started
        started.close()


def opened(
    browser: Browser, tmp_path: Path, repo: Path, name: str, width: int = 1280, scheme: str = "default"
) -> Page:
    """The page of a made run in a tab of its own."""
    styles = Path(material.__file__).parent / "templates" / "assets" / "stylesheets"
    assets = repo / "templates" / "assets"
    file = tmp_path / f"{name}.html"
    file.write_text(
        SHELL.format(
            material=next(styles.glob("main.*.css")).as_uri(),
            palette=next(styles.glob("palette.*.css")).as_uri(),
            ours=(assets / "sitegen.css").as_uri(),
            script=(assets / "run.js").as_uri(),
            scheme=scheme,
            html=rendered.made(name).html,
        )
    )
    tab = browser.new_page(viewport={"width": width, "height": 900})
    tab.goto(file.as_uri())
    return tab


@pytest.mark.parametrize("name", sorted(made_runs.ALL))
def test_no_page_is_wider_than_its_screen(browser: Browser, tmp_path: Path, repo: Path, name: str) -> None:
    tab = opened(browser, tmp_path, repo, name)
    for width in (1280, 768, 390, 320):
        tab.set_viewport_size({"width": width, "height": 900})
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.close()


@pytest.mark.parametrize("scheme", ["default", "slate"])
@pytest.mark.parametrize("name", ["sick", "healthy", "crash", "nan"])
def test_every_word_has_enough_contrast(
    browser: Browser, tmp_path: Path, repo: Path, name: str, scheme: str
) -> None:
    tab = opened(browser, tmp_path, repo, name, scheme=scheme)
    assert tab.evaluate(CONTRAST) == []
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
    plain.goto((tmp_path / "sixty.html").as_uri())
    assert plain.locator("#overview .sg-chart").count() == 12
    plain.locator(".sg-group summary").first.click()
    assert plain.locator("details[open] .sg-chart").first.is_visible()
    plain.context.close()
