"""Where the templates are, and the Jinja environment that reads them."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import jinja2
from jinja2.ext import Extension

import sitegen
from sitegen.charts import spark
from sitegen.errors import SitegenError
from sitegen.language import ENGLISH, known, markup, speaking, spoken, t
from sitegen.pages import rows, words

PACKAGE = Path(sitegen.__file__).resolve().parent
# Code that decides what a fragment looks like: a change there makes cached fragments stale.
_DRAWING_ROOMS = ("pages", "charts", "site", "language")


class Spoken(Extension):
    """Templates are written in English; in another language their texts are replaced when they are loaded."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        """`source` in the spoken language."""
        return markup.translated(source, known)


def spoken_in(code: str) -> type[Extension]:
    """An extension that says our templates in language `code`, and leaves those of others alone."""

    class Ours(Extension):
        def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
            if filename is None or not Path(filename).is_relative_to(folder()):
                return source
            with speaking(code):
                return markup.translated(source, known)

    return Ours


@cache
def folder() -> Path:
    """The `templates/` folder: `sitegen/templates` in a wheel, beside the package in a checkout.

    Raises SitegenError where neither holds our templates.
    """
    for place in (PACKAGE / "templates", PACKAGE.parent / "templates"):
        if (place / "home.html").is_file():
            return place
    raise SitegenError(
        "sitegen's templates are missing: expected sitegen/templates in an installed wheel, or templates/ "
        "beside the package in a checkout. Install sitegen again."
    )


def has_charts() -> bool:
    """Whether this install has the JavaScript library that charts come alive with."""
    return (folder() / "assets" / "lib" / "uplot.js").is_file()


def environment(overrides: Path | None = None, site_url: str = "") -> jinja2.Environment:
    """Jinja with autoescape and StrictUndefined, in the language that is spoken now.

    Templates know `site_url`, which ends with "/" or is "", and `t`.

    A template in `overrides` wins over ours of the same name and may still say
    `{% extends "sitegen/<name>" %}`.
    """
    ours = jinja2.FileSystemLoader(folder())
    loaders: list[jinja2.BaseLoader] = [ours, jinja2.PrefixLoader({"sitegen": ours})]
    if overrides is not None:
        loaders.insert(0, jinja2.FileSystemLoader(overrides))
    env = jinja2.Environment(
        loader=jinja2.ChoiceLoader(loaders),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        extensions=() if spoken() == ENGLISH else (Spoken,),
    )
    env.filters.update(words.FILTERS | rows.FILTERS)
    env.globals.update(spark=spark, status_words=words.STATUSES, site_url=site_url, t=t)
    return env


def digest(overrides: Path | None = None, site_url: str = "") -> str:
    """Hash of all that turns a report into a fragment: version, address, templates, drawing code."""
    state = hashlib.sha256(f"{sitegen.__version__}\0{site_url}\0{spoken()}\0".encode())
    files = [file for place in (folder(), overrides) if place for file in sorted(place.rglob("*.html"))]
    files += [file for room in _DRAWING_ROOMS for file in sorted((PACKAGE / room).rglob("*.py"))]
    files += sorted((PACKAGE / "language").glob(f"{spoken()}.toml"))
    for file in files:
        state.update(file.name.encode() + b"\0" + file.read_bytes())
    return state.hexdigest()[:24]
