"""What people ask for, and what search answers: the rule and where it happened, or that there is nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from sitegen import mkdocs_plugin
from tests.cli.conftest import healthy, sick
from tests.site import test_browser as shared
from tests.site.test_browser import Tab

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("site-browser")]
browser, tab = shared.browser, shared.tab

NCCL = (
    "[rank3]:[E1109 03:12:44.1 ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum=812, OpType=ALLGATHER, Timeout(ms)=600000) ran for 600021 milliseconds.\n"
)
ASKED = {
    "CUDA out of memory": ("RUN-01", "memory"),
    "OOM": ("RUN-01", "memory"),
    "显存不足": ("RUN-01", "memory"),
    "NCCL timeout": ("RUN-03", "network"),
    "NCCL 超时": ("RUN-03", "network"),
    "entropy collapse": ("ENT-01", "hot"),
    "熵坍塌": ("ENT-01", "hot"),
    "reward hacking": ("REW-03", "hacked"),
    "奖励黑客": ("REW-03", "hacked"),
    "KL blow-up": ("KL-06", "hacked"),
}


@pytest.fixture(scope="module")
def origin(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Two runs of the bundled archive, and two that died."""
    place = tmp_path_factory.mktemp("asked")
    for name, kept in (("hot", "grpo-lr-sweep-hot"), ("hacked", "grpo-no-kl-lenient-checker")):
        shutil.copytree(repo / "runs/abacus" / kept, place / "runs" / name)
    for name, text in (("memory", sick()), ("network", healthy() + NCCL)):
        (place / "runs" / name).mkdir()
        (place / "runs" / name / "train.log").write_text(text)
    settings = mkdocs_plugin.config_file(place)
    built = mkdocs_plugin.build(settings, runs=place / "runs", home=place / "home", out=place / "site")
    yield from shared.serving(built.folder)


def ask(tab: Tab, words: str) -> None:
    tab.page.goto(tab.origin)
    tab.page.keyboard.press("/")
    tab.page.get_by_label("Search the site").fill(words)


def found(tab: Tab) -> list[str]:
    """Addresses of the first three pages that were found, and of the places on them."""
    first = tab.page.locator(".sg-find-list > li:nth-child(-n+3) a")
    expect(first.first).to_be_visible(timeout=20_000)
    return [str(link.get_attribute("href")).removeprefix(shared.BELOW) for link in first.all()]


@pytest.mark.parametrize("words", ASKED)
def test_the_rule_and_where_it_happened_are_among_the_first_three(tab: Tab, words: str) -> None:
    code, run = ASKED[words]
    ask(tab, words)
    links = found(tab)
    assert f"rules/{code}/" in links
    assert any(link.startswith(f"runs/{run}/#{code}-") for link in links)
    assert tab.noise == []


@pytest.mark.parametrize("words", ["zzqxv", "qqq", "entropy zzqxv", "鹦鹉", "xkcdzz-99"])
def test_what_is_nowhere_is_not_found(tab: Tab, words: str) -> None:
    ask(tab, words)
    expect(tab.page.locator(".sg-find-note")).to_have_text(f"Nothing found for “{words}”.", timeout=20_000)
    assert tab.page.locator(".sg-find-list > li").count() == 0


@pytest.mark.parametrize("words", ["entrop", "Gradients explode", "ppo_micro_batch", "lenient"])
def test_beginnings_and_forms_of_words_are_found(tab: Tab, words: str) -> None:
    ask(tab, words)
    assert found(tab)


def test_of_the_index_only_what_holds_the_words_is_loaded(tab: Tab) -> None:
    loaded: list[str] = []
    tab.page.on("request", lambda request: loaded.append(request.url))
    ask(tab, "reward hacking")
    found(tab)
    chunks = {url for url in loaded if url.endswith(".pf_index")}
    assert 1 <= len(chunks) <= 6


def test_a_filter_stays_in_force(tab: Tab) -> None:
    ask(tab, "entropy collapse")
    found(tab)
    tab.page.get_by_label("kind").select_option("rule")
    expect(tab.page.locator(".sg-find-list a[href*='/runs/']")).to_have_count(0)
    assert f"{shared.BELOW}rules/ENT-01/".removeprefix(shared.BELOW) in found(tab)
    tab.page.get_by_label("kind").select_option("run")
    expect(tab.page.locator(".sg-find-list a[href*='/rules/']")).to_have_count(0)


def test_a_place_says_what_happened_and_how_bad_it_was(tab: Tab) -> None:
    ask(tab, "reward hacking")
    part = tab.page.locator(".sg-find-part", has_text="REW-03").first
    expect(part.locator(".sg-pill")).to_have_text("error")
    expect(part.locator("p")).to_contain_text("steps")
    assert not part.locator("p").inner_text().startswith(".")


def test_the_other_names_of_a_rule_stand_on_its_page(tab: Tab) -> None:
    tab.page.goto(f"{tab.origin}rules/REW-03/")
    expect(tab.page.get_by_text("Also called:")).to_contain_text("奖励黑客")
