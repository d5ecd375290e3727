"""What axe finds on a page against WCAG 2.2 AA."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
#: Marks on the ribbon are small; each has a card of its own on the page, whose link does the same.
EQUIVALENT = 'class="sg-mark'
LOOKS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]


def opened(browser: Browser, width: int, scheme: str) -> Page:
    """A page in a context of its own that lets axe in."""
    dark = scheme == "dark"
    size = {"width": width, "height": 900}
    context = browser.new_context(viewport=size, color_scheme="dark" if dark else "light", bypass_csp=True)  # type: ignore[arg-type]
    return context.new_page()


def barriers(page: Page) -> list[str]:
    """What is wrong with the page that is open, a line for each rule."""
    found: list[str] = []
    for fault in Axe().run(page, options=RULES).response["violations"]:
        nodes = [node for node in fault["nodes"] if EQUIVALENT not in node["html"]]
        places = [f"{node['target']} {node['html'][:160]}" for node in nodes[:3]]
        found += [f"{page.url}: {fault['id']} ({len(nodes)}): {' | '.join(places)}"] * bool(nodes)
    return found
