"""From dumps of generations to pages of a built site."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Browser

from sitegen import mkdocs_plugin
from tests.browsers import started
from tests.pages.browsing import CONTRAST
from tests.site.barriers import LOOKS, barriers, opened
from tests.site.conftest import build

HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> \u202eevil"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, one of which collapses at step 30 and dumps what it generates."""
    place = tmp_path_factory.mktemp("samples")
    for run in ("dumping", "silent"):
        folder = place / "runs" / run
        folder.mkdir(parents=True)
        lines = (
            f"step:{step} - critic/score/mean:{0.2 + 0.01 * step if step < 30 else 0.02}"
            for step in range(1, 61)
        )
        (folder / "train.log").write_text("\n".join(lines) + "\n")
    for step in (1, 20, 28, 32, 40, 60):
        _dump(place / "runs/dumping/rollouts", step)
        _dump(place / "runs/dumping/validation", step)
    return build(place).folder


def _dump(folder: Path, step: int) -> None:
    folder.mkdir(exist_ok=True)
    rows = [
        {
            "input": f"user\nWhat is {i} + {i}?\nassistant\n",
            "output": f"{HOSTILE if step >= 30 else 'So it is'} {2 * i}. uniqueword{step}x{i} "
            + "long " * 200 * (i % 3),
            "gts": str(2 * i),
            "score": float(step < 30 or i == 1),
            "step": step,
            "acc": True,
        }
        for i in range(12)
    ]
    (folder / f"{step}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_the_samples_lie_below_the_run_that_dumped_them(site: Path) -> None:
    assert (site / "runs/dumping/samples/index.html").is_file()
    assert not (site / "runs/silent/samples").exists()


def test_the_download_holds_every_row(site: Path) -> None:
    table = pq.read_table(site / "runs/dumping/data/samples.parquet")
    assert table.num_rows == 144
    assert not (site / "runs/silent/data/samples.parquet").exists()


def test_the_run_page_stays_small_and_the_samples_page_bearable(site: Path) -> None:
    assert (site / "runs/dumping/index.html").stat().st_size <= 250_000
    assert (site / "runs/dumping/samples/index.html").stat().st_size <= 800_000


def test_samples_are_not_in_the_search_index(site: Path) -> None:
    html = (site / "runs/dumping/samples/index.html").read_text()
    found = html[html.index("data-pagefind-body") :]
    assert "uniqueword" not in found[: found.index("</div>")]
    assert "uniqueword" in html


def test_a_warm_build_gives_the_same_page(site: Path) -> None:
    page = site / "runs/dumping/samples/index.html"
    before = page.read_bytes()
    again: mkdocs_plugin.Built = build(site.parent)
    assert again.site.rendered == 0
    assert page.read_bytes() == before


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started() as found:
        yield found


@pytest.mark.browser
def test_hostile_samples_do_nothing_in_a_browser(site: Path, browser: Browser) -> None:
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    faults: list[str] = []
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.on("dialog", lambda dialog: faults.append(dialog.message))
    tab.goto((site / "runs/dumping/samples/index.html").as_uri())
    for width in (1280, 768, 390, 320):
        tab.set_viewport_size({"width": width, "height": 900})
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert "owned" not in tab.title()
    assert tab.locator(".sg-samples script, .sg-samples img").count() == 0
    assert faults == []
    tab.close()


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_word_has_enough_contrast(
    site: Path, browser: Browser, scheme: Literal["light", "dark"]
) -> None:
    tab = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    tab.goto((site / "runs/dumping/samples/index.html").as_uri())
    assert tab.evaluate(CONTRAST) == []
    tab.close()


@pytest.mark.browser
def test_the_way_from_an_incident_to_its_samples(site: Path, browser: Browser) -> None:
    tab = browser.new_page(viewport={"width": 390, "height": 900})
    tab.goto((site / "runs/dumping/index.html").as_uri())
    link = tab.locator("article.sg-incident a[href^='samples/#at-']").first
    href = link.get_attribute("href") or ""
    tab.goto((site / "runs/dumping/samples/index.html").as_uri() + href.removeprefix("samples/"))
    assert tab.locator(href.removeprefix("samples/")).get_by_text("the onset").count() >= 2
    tab.close()


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_no_barrier_stands_before_samples(browser: Browser, site: Path, width: int, scheme: str) -> None:
    page = opened(browser, width, scheme)
    page.goto((site / "runs/dumping/samples/index.html").as_uri())
    found = barriers(page)
    page.context.close()
    assert not found, "\n".join(found)
