"""A site in English and Chinese in a real browser: real runs, both languages, and the switch between them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from sitegen import mkdocs_plugin
from sitegen.site.templates import has_charts
from tests.site import test_browser as shared
from tests.site.barriers import LOOKS, barriers, opened
from tests.site.test_browser import Tab

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("site-browser")]
browser, tab = shared.browser, shared.tab

RUN = "runs/abacus-grpo-no-kl-lenient-checker/"
COMPARED = "abacus-grpo-baseline,abacus-grpo-no-kl-lenient-checker"
PAGES = ("", RUN, "runs/", "incidents/", "rules/", "rules/KL-05/", "leaderboards/", "problems/")
SETTINGS = """site_name: Runs
docs_dir: docs
theme: {name: material}
plugins:
  - sitegen: {languages: [en, zh], runs: runs, home: home, jobs: 1}
"""
# English that a Chinese page may hold: names and texts of logs, settings, and what stands in <code>.
_VOID = frozenset(
    ("meta", "link", "br", "img", "input", "hr", "path", "rect", "line", "circle", "use", "wbr")
)
_SENTENCE = re.compile(r"\b[a-z]{2,} [a-z]{2,} [a-z]{2,} [a-z]{2,}\b")


@pytest.fixture(scope="module")
def both(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> mkdocs_plugin.Built:
    place = tmp_path_factory.mktemp("both")
    for name in ("grpo-no-kl-lenient-checker", "grpo-baseline"):
        shutil.copytree(repo / "runs" / "abacus" / name, place / "runs" / "abacus" / name)
    (place / "docs").mkdir()
    (place / "mkdocs.yml").write_text(SETTINGS, encoding="utf-8")
    return mkdocs_plugin.build(place / "mkdocs.yml", out=place / "site")


@pytest.fixture(scope="module")
def origin(both: mkdocs_plugin.Built) -> Iterator[str]:
    yield from shared.serving(both.folder)


@pytest.mark.parametrize("width", [1280, 390, 320])
@pytest.mark.parametrize("path", PAGES)
def test_no_chinese_page_complains_or_is_wider_than_its_screen(tab: Tab, path: str, width: int) -> None:
    tab.page.set_viewport_size({"width": width, "height": 900})
    tab.page.goto(f"{tab.origin}zh/{path}")
    assert tab.page.locator("html").get_attribute("lang") == "zh"
    assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert tab.noise == []


def test_the_first_screen_of_a_run_holds_no_english_sentence(tab: Tab) -> None:
    tab.page.goto(f"{tab.origin}zh/{RUN}")
    for part in (".sg-verdict", ".sg-facts", ".sg-ribbon", "#what-happened", ".md-header"):
        said = tab.page.locator(part).first.inner_text()
        assert _SENTENCE.findall(said) == [], part
    expect(tab.page.locator(".sg-status").first).to_have_text("失败")
    expect(tab.page.locator(".sg-verdict")).to_contain_text("疑似 reward hacking（自第 109 步起）。")
    expect(tab.page.locator(".sg-head + .sg-about")).to_contain_text("2026年10月13日")


class Said(HTMLParser):
    """Texts and spoken attributes of a page outside code, scripts and what says that it is English."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[bool] = []  # whether what is open is left out
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        out = any(self.open) or tag in ("script", "style", "code", "pre") or given.get("lang") == "en"
        if not out:
            self.texts += [given.get(name) or "" for name in ("title", "aria-label", "placeholder", "alt")]
        if tag not in _VOID:
            self.open.append(out)

    def handle_endtag(self, tag: str) -> None:
        if self.open and tag not in _VOID:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if not any(self.open):
            self.texts.append(" ".join(data.split()))


def test_no_chinese_page_holds_an_english_sentence_but_of_people_and_logs(
    both: mkdocs_plugin.Built, repo: Path
) -> None:
    root = both.folder / "zh"
    people = " ".join(
        " ".join(file.read_text("utf-8").split())
        for file in (repo / "runs" / "abacus").rglob("*")
        if file.suffix in (".md", ".toml")
    )
    pages = sorted(root.rglob("*.html"))
    assert len(pages) > 70
    found = {
        f"{page.relative_to(root)}: {sentence}"
        for page in pages
        for text in Said(page.read_text("utf-8")).texts
        for sentence in _SENTENCE.findall(text)
        if sentence not in people
    }
    assert found == set()


def test_what_programs_read_is_chinese_too(both: mkdocs_plugin.Built) -> None:
    listed = (both.folder / "zh" / "llms.txt").read_text("utf-8")
    assert "\n## 规则\n" in listed and "次实验的报告" in listed
    page = (both.folder / "zh" / RUN / "index.md").read_text("utf-8")
    assert "\n## 发生了什么\n" in page and "\n## 数据\n" in page
    assert "\n## What happened\n" in (both.folder / RUN / "index.md").read_text("utf-8")


def test_guides_are_chinese_with_the_same_anchors(both: mkdocs_plugin.Built) -> None:
    for name, heading in (("add-a-run", "各 tracker 会丢什么"), ("publishing", "会去除什么")):
        chinese = (both.folder / "zh" / name / "index.html").read_text("utf-8")
        english = (both.folder / name / "index.html").read_text("utf-8")
        anchors = [re.findall(r'<h[1-6] id="([^"]+)"', html) for html in (chinese, english)]
        assert heading in chinese
        assert len(anchors[0]) > 5 and anchors[0] == anchors[1]


def test_the_switch_keeps_the_page_the_query_and_the_place(tab: Tab) -> None:
    tab.page.goto(f"{tab.origin}{RUN}?axis=time#KL-05-1")
    tab.page.locator(".sg-language").click()
    tab.page.wait_for_url(f"{tab.origin}zh/{RUN}?axis=time#KL-05-1")
    expect(tab.page.locator(".sg-language")).to_have_text("English")
    tab.page.locator(".sg-language").click()
    tab.page.wait_for_url(f"{tab.origin}{RUN}?axis=time#KL-05-1")
    assert tab.noise == []


def test_each_language_names_the_page_in_the_other(tab: Tab) -> None:
    for start in ("", "zh/"):
        tab.page.goto(f"{tab.origin}{start}rules/KL-05/")
        found = tab.page.locator("link[hreflang]").evaluate_all(
            "all => all.map(one => [one.hreflang, one.href])"
        )
        assert found == [["en", f"{tab.origin}rules/KL-05/"], ["zh", f"{tab.origin}zh/rules/KL-05/"]]


def test_search_of_a_language_finds_pages_of_it(tab: Tab) -> None:
    tab.page.goto(f"{tab.origin}zh/")
    tab.page.keyboard.press("/")
    tab.page.keyboard.type("梯度爆炸")
    first = tab.page.locator("dialog a").first
    expect(first).to_be_visible()
    assert "/zh/" in (first.get_attribute("href") or first.evaluate("one => one.href"))


@pytest.mark.parametrize("words", ["突增", "KL 突增"])
def test_chinese_leads_to_its_place_and_says_how_bad_it_is(tab: Tab, words: str) -> None:
    tab.page.goto(f"{tab.origin}zh/")
    tab.page.keyboard.press("/")
    tab.page.keyboard.type(words)
    run = tab.page.locator(".sg-find-list > li", has_text="No KL penalty")
    expect(run.locator(".sg-find-about")).to_have_text("实验失败")
    part = run.locator(".sg-find-part").first
    expect(part.locator("a")).to_have_attribute("href", re.compile(r"/zh/runs/.*#KL-05-1$"))
    expect(part.locator(".sg-pill")).to_have_text("错误")
    expect(part.locator("a")).to_have_text("KL-05 KL 突增")
    assert not re.search("[a-z]{4,}", tab.page.locator(".sg-find-bar, .sg-find-note").first.inner_text())
    assert tab.noise == []


def test_a_site_of_one_language_has_no_switch(built: mkdocs_plugin.Built) -> None:
    html = (built.folder / "index.html").read_text(encoding="utf-8")
    assert "sg-language" not in html
    assert "hreflang" not in html
    assert '<html lang="en"' in html


def test_charts_speak_the_language_of_their_page(tab: Tab) -> None:
    if not has_charts():
        pytest.skip("no uPlot: python -m sitegen.packaging.libraries")
    tab.page.goto(f"{tab.origin}zh/{RUN}")
    expect(tab.page.locator("html")).to_have_attribute("data-sg-charts", "alive")
    expect(tab.page.locator(".sg-tools")).to_contain_text("平滑")
    expect(tab.page.get_by_label("查找指标").first).to_be_visible()
    assert not re.search("[a-z]{4,}", tab.page.locator(".sg-layers").inner_text())
    assert tab.noise == []


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_no_chinese_page_has_a_barrier(browser: Browser, origin: str, width: int, scheme: str) -> None:
    page, found = opened(browser, width, scheme), list[str]()
    for path in (*PAGES, "projects/", "projects/abacus/", "compare/", f"compare/?runs={COMPARED}"):
        page.goto(f"{origin}zh/{path}")
        page.wait_for_load_state("networkidle")
        found += barriers(page)
    page.context.close()
    assert not found, "\n".join(found)


def test_a_comparison_speaks_the_language_of_its_page(tab: Tab) -> None:
    tab.page.goto(f"{tab.origin}zh/compare/?runs={COMPARED}")
    expect(tab.page.locator("html")).to_have_attribute("data-sg-compared", "alive")
    expect(tab.page.locator("#parting table")).to_be_visible()
    titles = tab.page.locator(".sg-compared h2").all_inner_texts()
    assert titles == ["曲线", "结果", "从哪里开始分叉", "不同的配置", "异常"]
    for part in (".sg-tools", "#outcomes thead", "#parting tbody", "#incidents ul"):
        assert _SENTENCE.findall(tab.page.locator(part).first.inner_text()) == [], part
    assert tab.noise == []


def test_tables_speak_and_sort_in_the_language_of_their_page(tab: Tab) -> None:
    tab.page.goto(f"{tab.origin}zh/runs/?sort=-best")
    expect(tab.page.locator("th[aria-sort=descending]")).to_have_text(re.compile("^最佳"))
    expect(tab.page.locator("form.sg-filters output")).to_have_text("2 次实验")
    tab.page.locator("#runs").get_by_role("checkbox").first.check()
    expect(tab.page.locator(".sg-chooser")).to_contain_text("1 次实验，请再选一次")
    tab.page.locator(".sg-language").click()
    tab.page.wait_for_url(f"{tab.origin}runs/?sort=-best")
    expect(tab.page.locator("th[aria-sort=descending]")).to_have_text(re.compile("^Best"))
    assert tab.noise == []


def test_a_guide_in_the_language_of_the_site_says_nothing_of_another(tab: Tab) -> None:
    for place, heading in (("zh/", "添加实验"), ("", "Add a run")):
        tab.page.goto(f"{tab.origin}{place}add-a-run/")
        expect(tab.page.locator("h1")).to_contain_text(heading)
        expect(tab.page.locator(".sg-guide-note")).to_have_count(0)
