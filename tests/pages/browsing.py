"""Fragments of pages in a real Chromium, under Material's own styles."""

from __future__ import annotations

from pathlib import Path

import material
from playwright.sync_api import Browser, Page

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


def written(folder: Path, repo: Path, html: str, scheme: str = "default") -> Path:
    """A file with the fragment in Material's shell."""
    styles = Path(material.__file__).parent / "templates" / "assets" / "stylesheets"
    assets = repo / "templates" / "assets"
    file = folder / "page.html"
    file.write_text(
        SHELL.format(
            material=next(styles.glob("main.*.css")).as_uri(),
            palette=next(styles.glob("palette.*.css")).as_uri(),
            ours=(assets / "sitegen.css").as_uri(),
            script=(assets / "run.js").as_uri(),
            scheme=scheme,
            html=html,
        )
    )
    return file


def opened(browser: Browser, file: Path, width: int = 1280) -> Page:
    """The file in a tab of its own."""
    tab = browser.new_page(viewport={"width": width, "height": 900})
    tab.goto(file.as_uri())
    return tab


def widths(tab: Page) -> list[int]:
    """Screens on which the page is wider than the screen."""
    found = []
    for width in (1280, 768, 390, 320):
        tab.set_viewport_size({"width": width, "height": 900})
        if tab.evaluate("document.documentElement.scrollWidth") > width:
            found.append(width)
    return found
