"""The search index: what of a page is found, by which filters, and the run of Pagefind over a site."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from markupsafe import Markup, escape
from pagefind.service import get_executable

from sitegen.errors import SitegenError
from sitegen.model import Page
from sitegen.pages import samples, traces
from sitegen.site.pagefind_order import sort_index

FOLDER = "pagefind"
# The ready-made interfaces that Pagefind writes beside its index; ours is assets/search.js.
SEPARATOR = " | "  # assets/answers.js takes names apart by it
_UNUSED = ("pagefind-ui.*", "pagefind-modular-ui.*", "pagefind-component-ui.*", "pagefind-highlight.*")
_TIMEOUT_S = 1800
_REGION = "<div data-pagefind-body>"  # templates/overrides/main.html writes it for guides
_DRAWING = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
_IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_FIRST_IDEOGRAPH = 0x3040
_MOST_PAIRS = 5000


def region(page: Page, html: str) -> str:
    """`html` as an indexed region with its filters, or as it is where the page is left out of search."""
    if not page.search:
        return html
    marks = [_mark("pagefind-meta", "title", page.title), _mark("pagefind-filter", "kind", page.kind)]
    marks += [_mark("pagefind-filter", name, value) for name, value in page.filters]
    if page.found:
        marks.append(_mark("pagefind-meta", "found", " ".join(f"{at}={what}" for at, what in page.found)))
    if page.also:
        marks.append(_mark("pagefind-meta", "also", SEPARATOR.join(page.also)))
    titled = page.kind in (samples.KIND, traces.KIND)  # what a model wrote is not what people look for
    pairs = character_pairs(page.title if titled else html)
    if pairs:
        marks.append(_mark("pagefind-meta", "pairs", pairs))
    if titled:
        title = Markup("<span hidden>{}</span>").format(page.title)
        return f"{_REGION}{''.join(marks)}{title}</div>{html}"
    return f"{_REGION}{''.join(marks)}{html}</div>"


def character_pairs(text: str) -> str:
    """All pairs of neighbouring characters in the Chinese, Japanese and Korean of `text`, sorted.

    Pagefind takes such text for one long word and would find its beginning only. As metadata the pairs
    are found but never quoted; assets/search.js asks for pairs likewise.
    """
    letters = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), np.uint16)
    if not (letters >= _FIRST_IDEOGRAPH).any():
        return ""
    found = {run[at : at + 2] for run in _IDEOGRAPHS.findall(text) for at in range(len(run) - 1)}
    return " ".join(sorted(found)[:_MOST_PAIRS])


def index(site: Path, language: str = "en") -> None:
    """Write `site`/pagefind over the marked regions of all pages below `site`.

    `language` decides the stemming for the whole site: one index, whatever a page says of itself. Pagefind is
    given those regions alone: it takes four times as long to pass over navigation and drawings.
    Raises SitegenError where Pagefind is missing or fails.
    """
    binary = get_executable()
    if binary is None:
        raise SitegenError("Pagefind is not installed; expected the wheel: pip install 'pagefind[bin]'.")
    with tempfile.TemporaryDirectory() as folder:
        words = Path(folder)
        _write_words(site, words)
        command = [str(binary), "--site", folder, "--output-path", str(site / FOLDER)]
        _run([*command, "--force-language", language], site)
    for pattern in _UNUSED:
        for file in (site / FOLDER).glob(pattern):
            file.unlink()
    sort_index(site / FOLDER)


def _write_words(site: Path, folder: Path) -> None:
    """The pages below `site` again, below `folder`, with nothing but their marked regions."""
    for page in sorted(site.rglob("*.html")):
        html = page.read_text("utf-8")
        start = html.find(_REGION)
        if start < 0:
            continue
        end = html.rfind("</article>")  # of the theme; cards of incidents are articles inside of it
        words = _DRAWING.sub("", html[start : end if end > start else len(html)])
        target = folder / page.relative_to(site)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f'<html><meta charset="utf-8"><body>{words}</body></html>', "utf-8")


def _run(command: Sequence[str], site: Path) -> None:
    try:
        done = subprocess.run(  # noqa: S603  our own binary, no shell, paths only
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SitegenError(f"Pagefind could not index {site}: {error}") from error
    if done.returncode:
        raise SitegenError(f"Pagefind could not index {site}:\n{done.stdout}{done.stderr}".rstrip())


def _mark(kind: str, name: str, value: str) -> Markup:
    return Markup('<span hidden data-{}="{}[data-v]" data-v="{}"></span>').format(kind, name, escape(value))
