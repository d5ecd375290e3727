"""The text and tables of our pages as Markdown, for a plain MkDocs site of the same content."""

from __future__ import annotations

import shutil
from html.parser import HTMLParser
from pathlib import Path

SKIPPED = {"script", "style", "svg", "nav", "header", "footer", "form", "button", "template"}
HEADINGS = {f"h{level}": level for level in range(1, 7)}
CONFIG = """\
site_name: plain
theme: {name: material, font: false}
plugins: [search]
markdown_extensions: [tables]
nav: [index.md]
not_in_nav: /runs/*.md
"""


class Markdown(HTMLParser):
    """Headings, paragraphs, list items and tables of the article; charts and controls are left out."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[str] = []
        self._words: list[str] = []
        self._cells: list[str] = []
        self._skipping = 0
        self._inside = False
        self._header_done = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "article":
            self._inside = True
        elif tag in SKIPPED:
            self._skipping += 1
        elif tag == "table":
            self._flush()
            self._header_done = False
        elif tag in HEADINGS or tag in (
            "p",
            "li",
            "div",
            "section",
            "details",
            "summary",
            "dt",
            "dd",
            "figcaption",
        ):
            self._flush()

    def handle_endtag(self, tag: str) -> None:
        if tag == "article":
            self._flush()
            self._inside = False
        elif tag in SKIPPED:
            self._skipping -= 1
        elif tag in HEADINGS:
            self._flush("#" * HEADINGS[tag] + " ")
        elif tag in ("td", "th"):
            self._cells.append(self._text().replace("|", "/"))
        elif tag == "tr":
            self._row()
        elif tag == "li":
            self._flush("- ")
        elif tag == "table":
            self.blocks.append("")
        elif tag in ("p", "dt", "dd", "summary", "figcaption"):
            self._flush()

    def handle_data(self, data: str) -> None:
        if self._inside and not self._skipping:
            self._words.append(data)

    def _text(self) -> str:
        text = " ".join("".join(self._words).split())
        self._words.clear()
        return text

    def _flush(self, mark: str = "") -> None:
        text = self._text()
        if text:
            self.blocks += [mark + text, ""]

    def _row(self) -> None:
        if not self._cells:
            return
        self.blocks.append("| " + " | ".join(self._cells) + " |")
        if not self._header_done:
            self.blocks.append("|" + " --- |" * len(self._cells))
            self._header_done = True
        self._cells.clear()


def markdown(html: str) -> str:
    """The article of a page as Markdown."""
    reader = Markdown()
    reader.feed(html)
    return "\n".join(reader.blocks) + "\n"


def write(site: Path, folder: Path) -> int:
    """A MkDocs project with one page per run page of `site`; returns how many."""
    shutil.rmtree(folder, ignore_errors=True)
    docs = folder / "docs" / "runs"
    docs.mkdir(parents=True)
    (folder / "mkdocs.yml").write_text(CONFIG)
    (folder / "docs" / "index.md").write_text("# Plain\n")
    pages = sorted(site.glob("runs/*/index.html"))
    for page in pages:
        (docs / f"{page.parent.name}.md").write_text(markdown(page.read_text()))
    return len(pages)
