"""`python -m tests.pictures`: build the demo site and photograph the pages that README.md shows."""

from __future__ import annotations

import io
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser

from sitegen import mkdocs_plugin

from .browsers import served, started

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / ".github" / "images"
SETTLED_MS = 1500  # charts have come alive


@dataclass(frozen=True, slots=True)
class Picture:
    """A page at a size, scrolled to a place of it."""

    name: str
    path: str
    width: int = 1280
    height: int = 900
    scheme: str = "light"
    at: str = ""  # CSS selector of what stands at the top


PICTURES = (
    Picture("run-page", "runs/abacus-grpo-no-kl-lenient-checker/", height=1180),
    Picture("runs", "runs/"),
    Picture("rule", "rules/KL-05/", at="#scorecard"),
    Picture("compare", "compare/?runs=abacus-grpo-no-kl-lenient-checker,abacus-grpo-baseline"),
    Picture("phone", "runs/lantern-ppo-critic-lr-ramp/", width=420, scheme="dark"),
)


def take(browser: Browser, address: str, picture: Picture) -> bytes:
    """The picture as a PNG of 256 colours, which the drawings have fewer of."""
    context = browser.new_context(
        viewport={"width": picture.width, "height": picture.height},
        color_scheme="dark" if picture.scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(address + picture.path)
    page.wait_for_load_state("networkidle")
    if picture.at:
        page.locator(picture.at).evaluate("place => scrollTo(0, place.offsetTop - 60)")
    page.wait_for_timeout(SETTLED_MS)
    photograph = Image.open(io.BytesIO(page.screenshot()))
    context.close()
    small = io.BytesIO()
    photograph.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
    return small.getvalue()


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        built = mkdocs_plugin.build(
            ROOT / "mkdocs.yml", runs=ROOT / "runs", home=place / "home", out=place / "site"
        )
        with served(built.folder) as address, started(charts=True) as browser:
            for picture in PICTURES:
                (FOLDER / f"{picture.name}.png").write_bytes(take(browser, address, picture))
    return 0


if __name__ == "__main__":
    sys.exit(main())
