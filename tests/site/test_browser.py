"""The site in a real browser: quiet, at home, usable, and complete without JavaScript."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Route, expect

from sitegen import mkdocs_plugin
from tests.browsers import Quiet, served, started

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("site-browser")]

BELOW = "/deep/site/"  # a site may lie anywhere below an origin
PAGES = (
    "",
    "runs/",
    "runs/math-000/",
    "runs/math-002/",
    "runs/math-003/",
    "runs/gone-run/",
    "leaderboards/",
    "leaderboards/best-gsm8k/",
    "incidents/",
    "rules/",
    "rules/KL-05/",
    "rules/PHASE-03/",
    "problems/",
    "add-a-run/",
    "publishing/",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started() as found:
        yield found


class Below(Quiet):
    """Serves what lies below BELOW."""

    def translate_path(self, path: str) -> str:
        return super().translate_path(path.removeprefix(BELOW.rstrip("/")))


@pytest.fixture(scope="module")
def origin(built: mkdocs_plugin.Built) -> Iterator[str]:
    """Address of the built site, some folders below its origin."""
    yield from serving(built.folder)


def serving(folder: Path) -> Iterator[str]:
    """Serve `folder` some folders below an origin while the address is used."""
    with served(folder, Below) as address:
        yield f"{address.rstrip('/')}{BELOW}"


@dataclass
class Tab:
    """A page, and everything about it that nobody should hear."""

    page: Page
    origin: str
    noise: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.noise.append(str(error)))
        self.page.on("request", self._request)
        self.page.on("requestfailed", self._failed)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.noise.append(message.text)

    def _failed(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # the page was left before it had all
            self.noise.append(f"failed: {request.url}")

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self.origin, "data:", "blob:")):
            self.noise.append(f"left the site: {request.url}")


@pytest.fixture
def tab(browser: Browser, origin: str) -> Iterator[Tab]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield Tab(context.new_page(), origin)
    context.close()


def visible_rows(tab: Tab) -> int:
    return tab.page.locator("#runs tbody tr:visible, #incidents tbody tr:visible").count()


@pytest.mark.parametrize("path", ["leaderboards/", "leaderboards/best-gsm8k/"])
def test_why_a_run_is_marked_stands_within_its_row(browser: Browser, origin: str, path: str) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.goto(origin + path)
    beyond = """all => all.map(
        x => x.getBoundingClientRect().bottom - x.closest("tr").getBoundingClientRect().bottom)"""
    over = page.eval_on_selector_all("td .sg-flag", beyond)
    page.close()
    assert over and max(over) <= 1


@pytest.mark.parametrize("path", PAGES)
def test_no_page_complains_asks_another_origin_or_is_wider_than_its_screen(tab: Tab, path: str) -> None:
    tab.page.goto(tab.origin + path)
    tab.page.wait_for_load_state("networkidle")
    for width in (1280, 390, 320):
        tab.page.set_viewport_size({"width": width, "height": 800})
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.noise == []


def test_text_twice_as_large_needs_no_sideways_scroll_on_the_smallest_screen(
    browser: Browser, origin: str
) -> None:
    twice = "html { font-size: 250% !important }"  # the theme's is 125 %
    with browser.new_context(viewport={"width": 320, "height": 800}, bypass_csp=True) as context:
        page, wide = context.new_page(), list[str]()
        for path in PAGES:
            page.goto(origin + path)
            page.wait_for_load_state("networkidle")
            page.add_style_tag(content=twice)
            page.wait_for_timeout(100)
            wide += [path] * (page.evaluate("document.documentElement.scrollWidth") > 320)
    assert wide == []


def test_chips_narrow_the_table_and_the_address_remembers(tab: Tab) -> None:
    tab.page.goto(f"{tab.origin}runs/")
    everything = visible_rows(tab)
    tab.page.get_by_label("failed").check()
    few = visible_rows(tab)
    assert 0 < few < everything
    assert "status=failed" in tab.page.url
    tab.page.reload()
    assert visible_rows(tab) == few
    tab.page.get_by_role("button", name="Clear").click()
    expect(tab.page.get_by_role("button", name="Clear")).to_be_hidden()
    assert visible_rows(tab) == everything
    assert "status" not in tab.page.url


def test_words_narrow_the_table_too(tab: Tab) -> None:
    tab.page.goto(f"{tab.origin}incidents/?q=hacking")
    assert visible_rows(tab) > 0
    stories = tab.page.locator("#incidents tbody tr:visible .sg-story").all_inner_texts()
    assert all("hacking" in story for story in stories)


def test_facets_of_one_kind_widen_and_of_two_kinds_narrow(tab: Tab) -> None:
    tab.page.goto(f"{tab.origin}runs/?status=failed")
    failed = visible_rows(tab)
    tab.page.goto(f"{tab.origin}runs/?status=failed&status=crashed")
    assert visible_rows(tab) > failed
    tab.page.goto(f"{tab.origin}runs/?status=failed&status=crashed&algorithm=DAPO")
    assert visible_rows(tab) <= failed


def test_a_column_sorts_with_missing_values_last(tab: Tab) -> None:
    tab.page.goto(f"{tab.origin}runs/")
    tab.page.locator("#runs th button", has_text="Best").click()
    tab.page.wait_for_url("**/runs/?sort=-best")
    cells = tab.page.locator("#runs tbody tr td:nth-child(5)")
    values = [cells.nth(i).get_attribute("data-v") for i in range(cells.count())]
    numbers = [float(value) for value in values if value is not None]
    assert numbers == sorted(numbers, reverse=True)
    assert values[: len(numbers)].count(None) == 0
    assert tab.page.locator("#runs th[aria-sort=descending]").count() == 1


def test_search_finds_an_incident_by_keyboard_alone(tab: Tab) -> None:
    tab.page.goto(f"{tab.origin}runs/")
    tab.page.keyboard.press("/")
    tab.page.keyboard.type("reference KL grew")
    expect(tab.page.locator(".sg-find-list a").first).to_be_visible()
    tab.page.get_by_label("kind").select_option("run")
    expect(tab.page.locator(".sg-find-list > li a").first).to_have_attribute(
        "href", re.compile(re.escape(f"{BELOW}runs/"))
    )
    tab.page.get_by_label("Search the site").focus()
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_url(f"{tab.origin}runs/math-*/**")
    assert tab.noise == []


def test_a_find_says_what_it_is_and_how_bad(tab: Tab) -> None:
    tab.page.goto(f"{tab.origin}runs/")
    tab.page.keyboard.press("/")
    tab.page.keyboard.type("reference KL grew")
    run = tab.page.locator(".sg-find-list > li").first
    expect(run.locator(".sg-find-about")).to_have_text(re.compile("^run(failed|attention)$"))
    part = run.locator(".sg-find-part", has_text="REW-03")
    expect(part.locator(".sg-pill")).to_have_text("error")
    part.get_by_role("link").click()
    tab.page.wait_for_url("**/runs/math-*/#REW-03-1")
    expect(tab.page.locator("#REW-03-1 .sg-pill").first).to_have_text("error")
    assert tab.noise == []


def test_a_rule_that_is_found_says_its_severity(tab: Tab) -> None:
    tab.page.goto(f"{tab.origin}runs/")
    tab.page.keyboard.press("/")
    tab.page.get_by_label("kind").select_option("rule")
    expect(tab.page.locator(".sg-find-about").first).to_have_text(
        re.compile("^rule(critical|error|warning|remark)$")
    )


@pytest.mark.parametrize("words", ["显存", "显存占用", "峰值"])
def test_chinese_is_found_in_the_middle_of_a_sentence(tab: Tab, words: str) -> None:
    tab.page.goto(f"{tab.origin}runs/")
    tab.page.keyboard.press("/")
    tab.page.get_by_label("Search the site").fill(words)
    expect(tab.page.locator(".sg-find-list > li > .sg-find-head a")).to_have_count(1)


def test_nothing_of_search_is_loaded_before_somebody_searches(tab: Tab) -> None:
    asked: list[str] = []
    tab.page.on("request", lambda request: asked.append(request.url))
    tab.page.goto(f"{tab.origin}runs/")
    tab.page.wait_for_load_state("networkidle")
    assert [url for url in asked if "pagefind" in url] == []


def test_a_page_opened_from_a_file_says_that_search_needs_a_server(
    browser: Browser, built: mkdocs_plugin.Built
) -> None:
    page = browser.new_page()
    page.goto((built.folder / "runs/index.html").as_uri())
    page.keyboard.press("/")
    expect(page.locator(".sg-find-note")).to_contain_text("Search needs a web server")
    page.close()


def test_tables_are_complete_without_javascript(
    browser: Browser, origin: str, built: mkdocs_plugin.Built
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{origin}runs/")
    assert page.locator("#runs tbody tr").count() == len(built.site.report.runs)
    expect(page.locator("form.sg-filters")).to_be_hidden()
    context.close()


def test_the_dark_scheme_follows_the_system(browser: Browser, origin: str) -> None:
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    page.goto(f"{origin}runs/")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(int(part) for part in background.strip("rgb()").split(",")) < 64
    context.close()


def test_a_thousand_rows_are_filtered_within_a_blink(tab: Tab) -> None:
    tab.page.goto(f"{tab.origin}runs/")
    script = Path(__file__).resolve().parents[2].joinpath("templates/assets/tables.js").read_text("utf-8")
    milliseconds = tab.page.evaluate(
        """script => {
          const body = document.querySelector("#runs tbody"), rows = Array.from(body.rows);
          while (body.rows.length < 2000) rows.forEach(row => body.append(row.cloneNode(true)));
          document.querySelectorAll("#runs th button").forEach(b => b.replaceWith(...b.childNodes));
          const form = document.querySelector("form.sg-filters").cloneNode(true);
          document.querySelector("form.sg-filters").replaceWith(form);
          (0, eval)(script);
          const started = performance.now();
          form.querySelector("[name=q]").value = "qwen failed";
          form.dispatchEvent(new Event("input", {bubbles: true}));
          document.querySelector("#runs th button").click();
          return performance.now() - started;
        }""",
        script,
    )
    assert visible_rows(tab) == 50
    assert int(tab.page.locator("form.sg-filters output").inner_text().split()[0]) > 100
    assert milliseconds < 1000  # about 60 on an idle machine


def test_a_script_that_slipped_into_a_page_does_not_run(built: mkdocs_plugin.Built, browser: Browser) -> None:
    page = (built.folder / "runs/index.html").read_text()
    evil = "<script>window.ran = 1</script><a href='javascript:window.ran=2'>slipped in</a>"
    html = page.replace("<h1>", f"{evil}<h1>", 1)
    assert evil in html
    tab = browser.new_page()
    refused: list[str] = []
    tab.on("console", lambda one: refused.append(one.text))
    tab.route("**/*", lambda route: route.fulfill(body=html, content_type="text/html"))
    tab.goto("http://site.example/runs/")
    tab.get_by_role("link", name="slipped in").click()
    assert tab.evaluate("window.ran") is None
    assert any("Content Security Policy" in text for text in refused)
    tab.close()


def test_of_thousands_of_rows_those_in_sight_are_laid_out_and_all_are_searched(tab: Tab) -> None:
    def many(route: Route) -> None:
        html = route.fetch().text()
        start, end = html.index("<tbody>", html.index('id="runs"')) + len("<tbody>"), html.index("</tbody>")
        rows = re.findall(r"<tr\b.*?</tr>", html[start:end], re.DOTALL)
        best = "<tr><td>x</td><td>needle</td><td>m</td><td>a</td><td data-v='99'>99</td>" + "<td></td>" * 6
        body = "".join(rows * (1000 // len(rows))) + best + "</tr>"
        route.fulfill(body=html[:start] + body + html[end:], content_type="text/html")

    tab.page.route("**/runs/", many)
    tab.page.goto(f"{tab.origin}runs/")
    seen = tab.page.locator("#runs tbody tr:visible")
    expect(seen).to_have_count(50)
    tab.page.locator("#runs th button", has_text="Best").click()
    expect(seen.first).to_contain_text("needle")
    expect(seen).to_have_count(50)
    tab.page.locator("#runs th button", has_text="Status").click()
    tab.page.locator(".sg-more-rows").scroll_into_view_if_needed()
    expect(seen).to_have_count(100)
    tab.page.get_by_label("Filter by text").fill("needle")
    expect(seen).to_have_count(1)
    expect(tab.page.locator(".sg-more-rows")).to_be_hidden()
    tab.page.get_by_label("Filter by text").fill("")
    tab.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert seen.count() > 900
