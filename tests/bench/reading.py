"""What a reader waits for on a large site: the first find of a search, a table of 5 000 rows in order."""

from __future__ import annotations

import os
import re
import shutil
import statistics
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from .charts import FLAGS, TIMES, served
from .host import Host
from .measure import Bench, Result

NAME = "reading"
ASKED = ("KL jumped", "gradient explosion", "entropy", "GRD-02", "CUDA out of memory", "reward hacking")
ROWS = 5000
_BODY = re.compile(r'(<table[^>]* id="runs".*?<tbody>)(.*?)(</tbody>)', re.DOTALL)
# Milliseconds from a click until the browser has drawn what came of it.
_CLICK = """(button) => new Promise((done) => {
  const began = performance.now();
  button.click();
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
})"""


def run(bench: Bench) -> list[Result]:
    """Search and sorting on the site of the archive."""
    site = bench.cold.site
    runs = len(list((site / "runs").iterdir()))
    large = _many_rows(site, bench.size(ROWS, 50))
    with served(site) as origin, sync_playwright() as play:
        path = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = play.chromium.launch(executable_path=path, args=list(FLAGS))
        finds = [[_find(browser, origin, words) for words in ASKED] for _ in range(TIMES)]
        sorts = _sorted(browser, f"{origin}{large.relative_to(site).as_posix()}")
        browser.close()
    large.unlink()
    waits = [statistics.median(visit[at][0] for visit in finds) for at in range(len(ASKED))]
    sizes = [finds[0][at][1] for at in range(len(ASKED))]
    slowest, heaviest = ASKED[waits.index(max(waits))], ASKED[sizes.index(max(sizes))]
    sorting, column = max(sorts)
    told = f"of {len(ASKED)} questions to a site of {runs} runs"
    return [
        Result("first find", max(waits) / 1000, "s", 1.0, "down", f'"{slowest}", slowest {told}'),
        Result("find weighs", max(sizes) / 1000, "KB", 350, "down", f'"{heaviest}", heaviest {told}'),
        Result(
            "sorted", sorting, "ms", 200, "down", f"{bench.size(ROWS, 50)} rows by {column}, slowest column"
        ),
    ]


def _many_rows(site: Path, count: int) -> Path:
    """The page of all runs with its rows repeated until there are `count`, beside it."""
    html = (site / "runs/index.html").read_text("utf-8")
    found = _BODY.search(html)
    assert found
    rows = re.findall(r"<tr\b.*?</tr>", found[2], re.DOTALL)
    body = "\n".join((rows * (count // len(rows) + 1))[:count])
    made = site / "runs/many.html"
    made.write_text(html[: found.start(2)] + body + html[found.end(2) :], "utf-8")
    return made


def _find(browser: Browser, address: str, words: str) -> tuple[float, int]:
    """(milliseconds from the last key until a find is seen, bytes that were sent for it)."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        page = context.new_page()
        page.goto(address, wait_until="load")
        page.wait_for_timeout(500)
        Host.sent.clear()
        return _asked(page, words), sum(Host.sent)


def _asked(page: Page, words: str) -> float:
    """Milliseconds until the first find; the index is not there before."""
    found: float = page.evaluate(
        """async (words) => {
          const began = performance.now();
          document.querySelector("[data-sg-find]").click();
          const input = document.querySelector(".sg-find input");
          input.value = words;
          input.dispatchEvent(new Event("input"));
          while (!document.querySelector(".sg-find-list a")) await new Promise(requestAnimationFrame);
          return performance.now() - began;
        }""",
        words,
    )
    page.wait_for_timeout(500)
    return found


def _sorted(browser: Browser, address: str) -> list[tuple[float, str]]:
    """(median milliseconds, name) of sorting by each column, both ways."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        page = context.new_page()
        page.goto(address)
        out = []
        for button in page.locator("#runs th button").all():
            taken = [float(button.evaluate(_CLICK)) for _ in range(TIMES)]
            out.append((statistics.median(taken), button.inner_text().lower()))
        return out
