"""Notes by people on a whole site, built from logs, in a real browser."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from sitegen import mkdocs_plugin
from tests.browsers import served
from tests.site import test_browser as shared
from tests.site.conftest import build

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("site-browser")]
browser = shared.browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> mkdocs_plugin.Built:
    """Two runs: one that ran out of memory, with notes, and the one that fixed it."""
    place = tmp_path_factory.mktemp("noted")
    for name, batch, end in (("bad", 64, "torch.OutOfMemoryError: CUDA out of memory.\n"), ("good", 32, "")):
        folder = place / "runs" / name
        folder.mkdir(parents=True)
        config = f"{{'data': {{'train_batch_size': {batch}}}}}\n"
        steps = "".join(f"step:{n} - critic/score/mean:{0.2 + n / 100}\n" for n in range(1, 31))
        (folder / "train.log").write_text(config + steps + end)
    (place / "runs/bad/incidents").mkdir()
    (place / "runs/bad/incidents/RUN-01-1.md").write_text(
        "The batch was **too large** <script>alert(1)</script>.\n\nfixed by: good\n"
    )
    (place / "runs/bad/incidents/RUN-10-1.md").write_text("Nothing like that happened.\n")
    return build(place)


@pytest.fixture(scope="module")
def origin(site: mkdocs_plugin.Built) -> Iterator[str]:
    with served(site.folder) as address:
        yield address


@pytest.mark.parametrize("script", [True, False])
def test_a_reader_goes_from_the_verdict_to_the_note_and_to_the_run_that_fixed_it(
    browser: Browser, origin: str, script: bool
) -> None:
    context = browser.new_context(java_script_enabled=script)
    page = context.new_page()
    page.goto(f"{origin}runs/bad/")
    page.locator(".sg-verdict").get_by_role("link", name="RUN-01-1", exact=True).last.click()
    assert page.url.endswith("#RUN-01-1")
    note = page.locator("#RUN-01-1 .sg-note")
    expect(note).to_contain_text("The batch was too large <script>alert(1)</script>.")
    expect(note.locator("tbody tr")).to_have_text(["data.train_batch_size 64 32"], use_inner_text=True)
    note.get_by_role("link", name="good").click()
    page.wait_for_url(f"{origin}runs/good/")
    expect(page.locator(".sg-verdict")).to_contain_text("This run fixed bad.")
    context.close()


def test_the_archive_can_be_narrowed_to_what_is_explained(browser: Browser, origin: str) -> None:
    page = browser.new_page()
    page.goto(f"{origin}incidents/?explained=yes")
    rows = page.locator("#incidents tbody tr:visible")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("explained")
    expect(rows.get_by_role("link", name="good", exact=True)).to_have_attribute("href", "../runs/good/")
    page.close()


@pytest.mark.parametrize(("width", "letters"), [(320, "125%"), (640, "250%")])
def test_notes_fit_a_phone_and_large_letters(browser: Browser, origin: str, width: int, letters: str) -> None:
    page = browser.new_page(viewport={"width": width, "height": 700})
    page.goto(f"{origin}runs/bad/")
    page.locator("html").evaluate("(html, size) => { html.style.fontSize = size; }", letters)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_a_note_on_nothing_is_a_problem_with_its_place(site: mkdocs_plugin.Built) -> None:
    run = json.loads((site.folder / "api/v1/runs/bad.json").read_text())["runs"][0]
    [problem] = [one for one in run["problems"] if one["kind"] == "note"]
    assert (problem["path"], problem["line"]) == ("bad/incidents/RUN-10-1.md", 1)
    assert problem["hint"] == "Did you mean RUN-01-1.md?"


def test_the_api_says_what_is_explained(site: mkdocs_plugin.Built) -> None:
    rows = json.loads((site.folder / "api/v1/incidents.json").read_text())["incidents"]
    [row] = [one for one in rows if one["explained"]]
    assert (row["id"], row["fixed_by"]) == ("bad/RUN-01-1", "good")
    run = json.loads((site.folder / "api/v1/runs/bad.json").read_text())["runs"][0]
    note = next(one for one in run["notes"] if one["incident"] == "RUN-01-1")
    assert note["changed"] == [{"key": "data.train_batch_size", "here": "64", "there": "32"}]
