"""What a program reads: a list of all runs, and each run's page as Markdown."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from markdown_it import MarkdownIt

from sitegen import mkdocs_plugin
from sitegen.reports.shapes import Compared, Difference
from sitegen.site import llms
from sitegen.site.addresses import Addresses
from tests.site.synthetic import Synthetic, archive

LINK = re.compile(r"\]\(([^)]*)\)")


def test_the_list_names_every_run_with_its_file(built: mkdocs_plugin.Built, invented: Synthetic) -> None:
    text = (built.folder / "llms.txt").read_text("utf-8")
    assert text.startswith("# RL run archive\n\n> Reports on 14 runs")
    files = [target for target in LINK.findall(text) if target.endswith("index.md")]
    assert files == [f"runs/{row.id}/index.md" for row in invented.report.runs]


def test_all_that_it_leads_to_is_there(built: mkdocs_plugin.Built) -> None:
    def missing(file: Path) -> list[str]:
        places = [
            file.parent / target for target in LINK.findall(file.read_text("utf-8")) if target[:1] != "#"
        ]
        return [
            str(place)
            for place in places
            if not (place / "index.html" if place.is_dir() else place).is_file()
        ]

    listed = [built.folder / "llms.txt", *built.folder.glob("runs/*/index.md")]
    assert len(listed) == 15
    assert [place for file in listed for place in missing(file)] == []


def test_a_published_site_is_named_in_full() -> None:
    report = archive(1, steps=20).report
    text = llms.document(report, Addresses("Ours", "https://example.org/x")).decode()
    assert "](https://example.org/x/runs/math-000/index.md)" in text
    assert "](https://example.org/x/rules/KL-05/)" in text


def test_what_a_log_says_stays_text(built: mkdocs_plugin.Built) -> None:
    html = MarkdownIt().render((built.folder / "llms.txt").read_text("utf-8"))
    assert "<script>" not in html and "&lt;script&gt;" in html


def test_a_run_says_what_was_set_differently() -> None:
    found = archive(1, steps=20).reports["math-000"]
    rows = (Difference("actor.lr", "`1e-6`|", "5e-7"),)
    compared = (Compared("baseline", "b", "The base", rows, ()), Compared("previous run", "p", "P", (), ()))
    text = llms.page(replace(found, compared=compared))
    assert "## Set up differently from the baseline, The base" in text
    assert "| `actor.lr` | `` `1e-6`\\| `` | `5e-7` |" in text
    assert "Nothing that both of them log differs." in text
