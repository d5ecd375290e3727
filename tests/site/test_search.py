"""What of a page is found, and by what."""

from __future__ import annotations

import gzip
from pathlib import Path

from sitegen.model import Page
from sitegen.site.search import character_pairs, index, region


def page(**changes: object) -> Page:
    return Page(
        **{"path": "runs/a/", "title": 'a "b"', "description": "", "html": "", "kind": "run"} | changes
    )  # type: ignore[arg-type]


def test_a_page_carries_its_title_kind_and_filters() -> None:
    html = region(page(filters=(("status", "failed"), ("rule", "KL-05"))), "<p>x</p>")
    assert html.startswith("<div data-pagefind-body>")
    assert 'data-pagefind-meta="title[data-v]" data-v="a &#34;b&#34;"' in html
    assert 'data-pagefind-filter="status[data-v]" data-v="failed"' in html
    assert 'data-pagefind-filter="rule[data-v]" data-v="KL-05"' in html
    assert html.endswith("<p>x</p></div>")


def test_a_page_left_out_of_search_is_not_marked() -> None:
    assert region(page(search=False), "<p>x</p>") == "<p>x</p>"


def test_of_a_page_of_samples_the_title_is_found_and_nothing_else() -> None:
    html = region(page(kind="samples"), "<p>显存占用</p>")
    found, after = html.split("</div>", 1)
    assert found.startswith("<div data-pagefind-body>")
    assert "a &#34;b&#34;" in found
    assert after == "<p>显存占用</p>"
    assert "pairs" not in html


def test_chinese_becomes_pairs_and_nothing_else_does() -> None:
    assert character_pairs("step 3: 显存占用47%，显存 a 单") == "占用 存占 显存"
    assert character_pairs("no such text") == ""


def test_a_page_says_how_bad_each_of_its_incidents_is() -> None:
    html = region(page(found=(("KL-05-1", "error"), ("ENT-02-1", "muted"))), "")
    assert 'data-pagefind-meta="found[data-v]" data-v="KL-05-1=error ENT-02-1=muted"' in html


def test_a_page_is_found_by_the_other_names_of_what_it_is_about() -> None:
    html = region(page(also=("CUDA out of memory", 'a "|"')), "")
    assert 'data-pagefind-meta="also[data-v]" data-v="CUDA out of memory | a &#34;|&#34;"' in html


def test_what_follows_the_first_card_is_found_too(tmp_path: Path) -> None:
    cards = (
        '<article id="a"><h3>first</h3></article><article id="b"><h3>second</h3></article><p>xylograph</p>'
    )
    shell = f"<html><body><article>{region(page(), cards)}</article><footer>colophon</footer></body></html>"
    (tmp_path / "index.html").write_text(shell)
    index(tmp_path)
    (fragment,) = (tmp_path / "pagefind/fragment").iterdir()
    told = gzip.decompress(fragment.read_bytes()).decode()
    assert "xylograph" in told
    assert "colophon" not in told
