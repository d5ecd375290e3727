"""Links to places: copied by mouse and keyboard, with the step they were copied at, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Locator, expect

from sitegen import mkdocs_plugin
from tests.site import test_browser as shared
from tests.site.test_browser import Tab

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("site-browser")]
browser, origin, tab = shared.browser, shared.origin, shared.tab


def clipboard(tab: Tab) -> str:
    """What Ctrl+V would write now."""
    tab.page.evaluate(
        """() => {
          const area = document.createElement("textarea");
          area.id = "pasted";
          document.body.append(area);
          area.focus();
        }"""
    )
    tab.page.keyboard.press("Control+V")
    pasted = tab.page.locator("#pasted").input_value()
    tab.page.evaluate("document.getElementById('pasted').remove()")
    return pasted


def copied(tab: Tab, link: Locator) -> str:
    """What a click on a link to copy left in the clipboard, which is written a moment after it."""
    link.click()
    expect(link).to_have_text("copied")
    return clipboard(tab)


@pytest.fixture
def run(tab: Tab) -> Tab:
    """A sick run's page with a clipboard."""
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.page.goto(f"{tab.origin}runs/math-002/")
    return tab


def test_the_link_of_a_heading_is_copied_by_keyboard_and_said(run: Tab) -> None:
    link = run.page.get_by_role("link", name="Copy the link to Validation")
    link.focus()
    expect(link).to_have_css("opacity", "1")
    run.page.keyboard.press("Enter")
    expect(link).to_have_text("copied")
    expect(run.page.get_by_role("status").filter(has_text="copied")).to_have_count(1)
    assert clipboard(run) == f"{run.origin}runs/math-002/#validation"
    expect(link).to_have_text("#")
    assert run.noise == []


def test_an_incident_and_a_chart_have_theirs(run: Tab) -> None:
    incident = run.page.get_by_label("Link to this incident, REW-03-1")
    assert copied(run, incident) == f"{run.origin}runs/math-002/#REW-03-1"
    chart = run.page.locator("#overview .sg-chart[id]").first
    chart.hover()
    place = f"{run.origin}runs/math-002/#{chart.get_attribute('id')}"
    assert copied(run, chart.locator(".sg-anchor")) == place


def test_every_link_to_copy_is_named_and_large_enough(run: Tab) -> None:
    links = run.page.locator(".sg-anchor:visible")
    assert links.count() > 8
    for at in range(links.count()):
        box = links.nth(at).bounding_box()
        assert box is not None and min(box["width"], box["height"]) >= 24
        assert re.fullmatch(r"Copy the link to \S.*", links.nth(at).get_attribute("aria-label") or "")


def test_a_site_without_https_copies_too(tab: Tab) -> None:
    tab.page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    tab.page.goto(f"{tab.origin}runs/math-002/")
    link = tab.page.get_by_role("link", name="Copy the link to Metrics")
    link.focus()
    tab.page.keyboard.press("Enter")
    expect(link).to_have_text("copied")
    assert clipboard(tab) == f"{tab.origin}runs/math-002/#metrics"


def test_a_refused_clipboard_is_said(tab: Tab) -> None:
    tab.page.add_init_script(
        "Object.defineProperty(navigator, 'clipboard',"
        " { value: { writeText: () => Promise.reject(new Error('no')) } })"
    )
    tab.page.goto(f"{tab.origin}runs/math-002/")
    link = tab.page.get_by_role("link", name="Copy the link to Metrics")
    link.focus()
    tab.page.keyboard.press("Enter")
    expect(link).to_have_text("not allowed")


def test_a_run_that_is_still_written_pins_the_step_it_was_copied_at(tab: Tab) -> None:
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.page.goto(f"{tab.origin}runs/math-004/")
    expect(tab.page.locator(".sg-head")).to_contain_text("still being written, as of step 20")
    address = copied(tab, tab.page.get_by_role("link", name="Copy the link to Metrics"))
    assert address == f"{tab.origin}runs/math-004/?step=20#metrics"
    tab.page.goto(address)
    expect(tab.page.locator(".sg-pinned")).to_have_count(0)  # nothing is newer yet


def test_a_link_of_an_earlier_step_says_what_is_newer(tab: Tab) -> None:
    tab.page.goto(f"{tab.origin}runs/math-002/?step=20#REW-03-1")
    note = tab.page.locator(".sg-pinned")
    expect(note).to_contain_text("copied at step 20; the run ended at step 40")
    expect(tab.page.locator("#REW-03-1")).to_contain_text("began after step 20")
    mark = tab.page.locator(".sg-pin")
    bar = tab.page.locator("[data-sg-range]").bounding_box()
    place = mark.bounding_box()
    assert bar is not None and place is not None
    assert (place["x"] - bar["x"]) / bar["width"] == pytest.approx(20 / 39, abs=0.01)
    note.get_by_role("link").click()
    expect(tab.page.locator(".sg-pinned")).to_have_count(0)
    assert "step=" not in tab.page.url
    assert tab.noise == []


def test_what_began_before_is_left_as_it_is(tab: Tab) -> None:
    tab.page.goto(f"{tab.origin}runs/math-002/?step=30")
    expect(tab.page.locator(".sg-pinned")).to_have_count(1)
    expect(tab.page.locator(".sg-later")).to_have_count(0)


def test_a_pinned_link_that_is_shared_again_keeps_its_step(tab: Tab) -> None:
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.page.goto(f"{tab.origin}runs/math-004/?step=7")
    link = tab.page.get_by_role("link", name="Copy the link to Metrics")
    assert copied(tab, link) == f"{tab.origin}runs/math-004/?step=7#metrics"


def test_a_step_the_run_does_not_reach_any_more_is_said(tab: Tab) -> None:
    tab.page.goto(f"{tab.origin}runs/math-004/?step=33")
    expect(tab.page.locator(".sg-pinned")).to_contain_text("copied at step 33; the run goes to step 20 only")


@pytest.mark.parametrize("step", ["x", "-1", "1e9", "<b>", "9" * 400, ""])
def test_what_is_no_step_is_ignored(tab: Tab, step: str) -> None:
    tab.page.goto(f"{tab.origin}runs/math-002/?step={step}")
    tab.page.wait_for_load_state("networkidle")
    expect(tab.page.locator(".sg-pinned")).to_have_count(0)
    assert tab.noise == []


def test_an_old_name_leads_on_with_step_and_place(tab: Tab) -> None:
    tab.page.goto(f"{tab.origin}runs/math-000-old/?step=5#metrics")
    tab.page.wait_for_url(f"{tab.origin}runs/math-000/?step=5#metrics")


def test_the_badges_show_and_their_markdown_names_this_site(run: Tab) -> None:
    box = run.page.locator(".sg-badge").first
    box.scroll_into_view_if_needed()
    assert box.locator("img").evaluate("image => image.decode().then(() => image.naturalWidth)") > 50
    box.get_by_role("button", name="Copy").click()
    expect(box.get_by_role("button", name="Copied")).to_be_visible()
    address = f"{run.origin}badges/math-002.svg"
    assert clipboard(run) == f"[![status of math-002]({address})]({run.origin}runs/math-002/)"


def test_a_page_without_javascript_has_no_empty_controls(
    browser: Browser, origin: str, built: mkdocs_plugin.Built
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{origin}runs/math-002/?step=20")
    expect(page.locator(".sg-anchor, .sg-copy-button, .sg-pinned")).to_have_count(0)
    expect(page.locator("[data-sg-address-note]")).to_be_visible()
    context.close()
