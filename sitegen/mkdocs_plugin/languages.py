"""A site in several languages: its own at the root, each other one whole below `/<code>/`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from sitegen import site as sites
from sitegen.config import Config
from sitegen.language import LANGUAGES, SCRIPT, catalog

GUIDES = sites.folder() / "docs"  # in English; in other languages beside it
SWITCH = "assets/language.js"
WORDS = "assets/words.js"


@dataclass(frozen=True, slots=True)
class Link:
    """A page in a language, as seen from the page that is shown."""

    code: str
    name: str
    href: str
    here: bool


def links(url: str, settings: Config, main: str) -> tuple[Link, ...]:
    """The page at `url`, below the root of its language, in every language; none for a site of one.

    `main` is the language of the site's root.
    """
    if not settings.others:
        return ()
    own = settings.language
    root = "../" * (url.count("/") + (own != main))
    return tuple(
        Link(code, LANGUAGES[code], f"{root}{_folder(code, main)}{url}" or "./", code == own)
        for code in dict.fromkeys((main, *settings.languages))
    )


def guide(source: Path, code: str) -> Path:
    """A guide in language `code`, where there is one: the same headings, anchors and commands."""
    told = GUIDES.parent / "guides" / code / source.name
    return told if told.is_file() else source


def words(script: Path, code: str) -> str:
    """`script`, which says what scripts say, with the words of a language."""
    said = json.dumps(catalog(code)[SCRIPT], ensure_ascii=False, indent=0)
    return f"{script.read_text('utf-8')}Object.assign(window.sitegen.words, {said});\n"


def _folder(code: str, main: str) -> str:
    return "" if code == main else f"{code}/"
