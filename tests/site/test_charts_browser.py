"""Charts in a real browser: alive over their drawings, exact, linked, and in the address."""

from __future__ import annotations

import functools
import http.server
import os
import re
import shutil
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from sitegen import mkdocs_plugin
from sitegen.site.templates import has_charts
from tests.site import charted
from tests.site.conftest import build
from tests.site.test_browser import FLAGS

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("charts-browser")]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if os.environ.get("CI") != "true":
        if path is None:
            pytest.skip("no Chromium: set CHROMIUM")
        if not has_charts():
            pytest.skip("no uPlot: python -m sitegen.packaging.libraries")
    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=path, args=FLAGS.split())
        yield started
        started.close()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> mkdocs_plugin.Built:
    place = tmp_path_factory.mktemp("charted")
    charted.write(place / "runs")
    return build(place)


@pytest.fixture(scope="module")
def origin(site: mkdocs_plugin.Built) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(site.folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


class Tab:
    """A run page whose charts are alive; `noise` is what nobody should hear."""

    def __init__(self, page: Page, origin: str) -> None:
        self.page, self.origin, self.noise = page, origin, list[str]()
        page.on("console", lambda one: self.noise.append(one.text) if one.type == "error" else None)
        page.on("pageerror", lambda error: self.noise.append(str(error)))

    def open(self, run: str, query: str = "") -> Tab:
        self.page.goto(f"{self.origin}runs/{run}/{query}")
        expect(self.page.locator("html")).to_have_attribute("data-sg-charts", "alive")
        return self

    def chart(self, metric: str) -> Locator:
        """The figure of a metric, in sight."""
        figure = self.page.locator(f"#{metric}")
        figure.scroll_into_view_if_needed()
        expect(figure).to_have_class(re.compile("sg-alive"))
        return figure

    def at(self, figure: Locator, share: float) -> None:
        """The mouse at a share of the width of a chart."""
        box = figure.locator(".u-over").bounding_box()
        assert box
        self.page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)

    def drag(self, figure: Locator, start: float, end: float) -> None:
        self.at(figure, start)
        self.page.mouse.down()
        self.at(figure, (start + end) / 2)
        self.at(figure, end)
        self.page.mouse.up()

    def told(self, figure: Locator) -> tuple[int, str]:
        """Step and exact value beside the cursor."""
        tip = figure.locator(".sg-tip")
        expect(tip).to_be_visible()
        expect(tip).not_to_contain_text("≈")
        return int(re.findall(r"step (\d+)", tip.inner_text())[0]), tip.locator(".sg-tip-value").inner_text()

    @property
    def query(self) -> str:
        return self.page.evaluate("location.search")


@pytest.fixture
def tab(browser: Browser, origin: str) -> Iterator[Tab]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    made = Tab(context.new_page(), origin)
    yield made
    assert made.noise == []
    context.close()


SCORE, KL, GRAD = "m-critic-score-mean", "m-actor-kl-loss", "m-actor-grad-norm"


def test_hovering_tells_the_step_and_the_value_to_its_last_digit(tab: Tab) -> None:
    score = tab.open("long").chart(SCORE)
    tab.at(score, 0.5)
    step, value = tab.told(score)
    assert 195 <= step <= 206
    assert value == f"{charted.value(step)!r} reward units"


def test_the_cursor_is_on_every_chart_of_the_page_at_once(tab: Tab) -> None:
    score = tab.open("long").chart(SCORE)
    tab.at(score, 0.25)
    step, _ = tab.told(score)
    notes = tab.page.locator(".sg-alive figcaption .sg-at")
    assert notes.count() >= 5
    told = {text.split("@")[1].strip() for text in notes.all_inner_texts()}
    assert str(step) in told


def test_dragging_zooms_all_charts_and_the_link_shows_it_again(tab: Tab) -> None:
    score = tab.open("long").chart(SCORE)
    tab.drag(score, 0.25, 0.5)
    expect(tab.page.get_by_role("button", name=re.compile("^steps .* ×"))).to_be_visible()
    found = re.search(r"zoom=(\d+)\.\.(\d+)", tab.query)
    assert found
    first, last = int(found[1]), int(found[2])
    assert 95 <= first <= 106 and 195 <= last <= 206
    tab.open("long", tab.query).chart(KL)
    assert tab.page.evaluate("sitegen.charts.page.state.zoom") == [first, last]


def test_a_double_click_shows_all_steps_again(tab: Tab) -> None:
    score = tab.open("long", "?zoom=100..200").chart(SCORE)
    score.locator(".u-over").dblclick()
    expect(tab.page).to_have_url(re.compile("/runs/long/$"))


def test_without_javascript_the_drawings_are_there(browser: Browser, origin: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{origin}runs/long/")
    assert page.locator("#overview svg.sg-svg").count() >= 5
    assert page.locator(".sg-menu-open").count() == 0
    context.close()


def test_without_the_data_the_drawings_stay(browser: Browser, origin: str) -> None:
    page = browser.new_page()
    page.route("**/charts.bin", lambda route: route.fulfill(status=404, body=""))
    page.goto(f"{origin}runs/long/")
    expect(page.locator("html")).to_have_attribute("data-sg-charts", re.compile("^still:"))
    expect(page.locator("#overview svg.sg-svg").first).to_be_visible()
    page.close()
