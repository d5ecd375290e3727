"""Every page type against WCAG 2.2 AA, by axe: light and dark, desktop and phone, charts alive.

Comparisons, projects, samples, traces and Chinese pages: in the tests of their sites.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.site.barriers import LOOKS, barriers, opened
from tests.site.test_browser import PAGES, browser, origin

__all__ = ["browser", "origin"]

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("site-browser")]


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_no_page_type_has_a_barrier(browser: Browser, origin: str, width: int, scheme: str) -> None:
    found: list[str] = []
    page = opened(browser, width, scheme)
    for path in PAGES:
        page.goto(origin + path)
        page.wait_for_load_state("networkidle")
        found += barriers(page)
    page.context.close()
    assert not found, "\n".join(found)


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_search_has_no_barrier(browser: Browser, origin: str, width: int, scheme: str) -> None:
    page = opened(browser, width, scheme)
    page.goto(f"{origin}runs/")
    page.keyboard.press("/")
    page.keyboard.type("reference KL grew")
    page.locator(".sg-find-part .sg-pill").first.wait_for()
    found = barriers(page)
    page.context.close()
    assert not found, "\n".join(found)
