"""Every page type against WCAG 2.2 AA, by axe: light and dark, desktop and phone, charts alive."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from tests.site.test_browser import PAGES, browser, origin

__all__ = ["browser", "origin"]

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("site-browser")]

#: Marks on the ribbon are small; each has a card of its own on the page, whose link does the same.
EQUIVALENT = 'class="sg-mark'
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_no_page_type_has_a_barrier(browser: Browser, origin: str, width: int, scheme: str) -> None:
    found: list[str] = []
    dark = scheme == "dark"
    with browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light", bypass_csp=True
    ) as context:
        page = context.new_page()
        for path in PAGES:
            page.goto(origin + path)
            page.wait_for_load_state("networkidle")
            for fault in Axe().run(page, options=RULES).response["violations"]:
                nodes = [node for node in fault["nodes"] if EQUIVALENT not in node["html"]]
                places = [f"{node['target']} {node['html'][:160]}" for node in nodes[:3]]
                found += [f"/{path}: {fault['id']} ({len(nodes)}): {' | '.join(places)}"] * bool(nodes)
    assert not found, "\n".join(found)
