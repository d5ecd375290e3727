"""The page of traces in a real browser: folds, keyboard, links into a fold, narrow screens."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from sitegen.pages import traces
from sitegen.site.rendering import renderer
from sitegen.site.templates import environment
from tests.ingest.traced import Spoken, turn, whole
from tests.pages import browsing, made_runs, made_samples
from tests.reports import made
from tests.reports.test_traces import report
from tests.site.barriers import LOOKS, barriers, opened

pytestmark = pytest.mark.browser

LONG = "word " * 400 + "unbroken" * 90
BAD = made.incident("TRC-01", "warning", 3, last=9)


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Nine trajectories: the third fails, the fourth says a lot, the fifth is hostile and deep."""
    deep = [Spoken(f"level {n}", n, n - 1, n / 10, 0.5) for n in range(2, 12)]
    rollouts = [whole(f"tr-{step}", turn(2), step=step) for step in (1, 2, 6, 7, 8, 9)]
    rollouts += [
        whole("tr-3", [*turn(2), *turn(4, "RuntimeError: sandbox is down")], step=3),
        whole(
            "tr-4",
            [Spoken("Server.generate", 2, 1, 0.1, 1.0, LONG, {"response_text": LONG})],
            step=4,
            seconds=60.0,
        ),
        whole("tr-5", [*deep, Spoken("x" * 150, 20, 1, 0.2, None, made_samples.HOSTILE, LONG)], step=5),
    ]
    found = report(tmp_path_factory.mktemp("traced"), *rollouts, incidents=(BAD,))
    run = made_runs.ALL["sick"]()
    page = traces.page(replace(run, traces=found), renderer(environment()))
    assert page is not None
    return page.html


@pytest.fixture
def file(html: str, tmp_path: Path, repo: Path) -> Path:
    return browsing.written(tmp_path, repo, html)


def everything_open(tab: Page) -> None:
    tab.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_axe_finds_no_barrier(
    browser: Browser, html: str, tmp_path: Path, repo: Path, width: int, scheme: str
) -> None:
    file = browsing.written(tmp_path, repo, html, "slate" if scheme == "dark" else "default")
    tab = opened(browser, width, scheme)
    tab.goto(file.as_uri())
    everything_open(tab)
    # the shell of these tests is no whole page: its language and title are the site's
    found = [one for one in barriers(tab) if not re.search(r": (html-has-lang|document-title) ", one)]
    tab.context.close()
    assert not found, "\n".join(found)


def test_it_is_never_wider_than_its_screen(browser: Browser, file: Path) -> None:
    tab = browsing.opened(browser, file)
    everything_open(tab)
    assert browsing.widths(tab) == []
    tab.close()


@pytest.mark.parametrize("scheme", ["default", "slate"])
def test_every_word_has_enough_contrast(
    browser: Browser, html: str, tmp_path: Path, repo: Path, scheme: str
) -> None:
    tab = browsing.opened(browser, browsing.written(tmp_path, repo, html, scheme))
    everything_open(tab)
    assert tab.evaluate(browsing.CONTRAST) == []
    tab.close()


def test_the_one_that_failed_is_open_and_the_others_are_folded(browser: Browser, file: Path) -> None:
    tab = browsing.opened(browser, file)
    assert tab.locator(".sg-fold").count() > 7
    (seen,) = tab.eval_on_selector_all(
        ".sg-fold[open]", "all => all.map(x => x.querySelector('summary').textContent)"
    )
    assert seen.startswith("Step 3")
    expect(tab.get_by_text("RuntimeError: sandbox is down").last).to_be_visible()
    tab.close()


def test_folds_open_and_close_by_keyboard(browser: Browser, file: Path) -> None:
    tab = browsing.opened(browser, file)
    fold = tab.locator(".sg-fold", has_text="Step 4").first
    fold.locator("> summary").focus()
    tab.keyboard.press("Enter")
    body = fold.locator(".sg-fold-body")
    expect(body).to_be_visible()
    tab.keyboard.press("Tab")  # the first long text in it
    assert tab.evaluate("document.activeElement.textContent").startswith("Arguments")
    text = fold.locator(".sg-turn pre").first
    expect(text).to_be_hidden()
    tab.keyboard.press("Space")
    expect(text).to_be_visible()
    fold.locator("> summary").focus()
    tab.keyboard.press("Enter")
    expect(body).to_be_hidden()
    tab.close()


def test_whoever_tabs_through_sees_where_he_is(browser: Browser, file: Path) -> None:
    tab = browsing.opened(browser, file)
    tab.locator(".sg-fold > summary").first.focus()
    tab.keyboard.press("Shift+Tab")
    tab.keyboard.press("Tab")
    outline = tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"
    tab.close()


def test_a_call_leads_into_its_folded_trajectory(browser: Browser, file: Path) -> None:
    tab = browsing.opened(browser, file)
    everything_open(tab)
    tab.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = false; })")
    tab.locator("#failed-calls + p + * a, #failed-calls + * a").first.click()
    expect(tab.get_by_text("RuntimeError: sandbox is down").last).to_be_visible()
    tab.close()


def test_a_trajectory_leads_back_to_the_incident_that_began_at_its_step(browser: Browser, file: Path) -> None:
    tab = browsing.opened(browser, file)
    links = tab.locator(f'.sg-fold a[href="../#{BAD.anchor}"]')
    assert links.count() == 1
    expect(links.first).to_be_visible()
    tab.close()


def test_without_javascript_folds_open_and_all_is_there(browser: Browser, file: Path) -> None:
    plain = browser.new_context(java_script_enabled=False).new_page()
    plain.goto(file.as_uri())
    plain.locator(".sg-fold > summary").first.click()
    assert plain.locator(".sg-fold[open]").count() == 2
    assert plain.locator(".sg-span").count() > 30
    plain.context.close()
