"""The plugin: pages and files of ours in MkDocs' hands.

A page of ours is a Markdown file that holds front matter only; its HTML, complete and escaped, is put
in when the page is written and dropped again afterwards, so that MkDocs never holds all pages in
memory and no log ever passes through Markdown. MkDocs' templates do not escape: titles and
descriptions are escaped here.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page as MkDocsPage

from sitegen import config as settings
from sitegen import rules
from sitegen import site as sites
from sitegen.config import Config
from sitegen.errors import CardError, ConfigError, SitegenError
from sitegen.language import ENGLISH, LANGUAGES, speaking, t
from sitegen.mkdocs_plugin import languages
from sitegen.model import Page

if TYPE_CHECKING:
    from jinja2 import Environment
    from mkdocs.config.defaults import MkDocsConfig

# A mkdocs.yml without `nav` gets these, then its own pages.
NAV = {
    "Home": "index.md",
    "Runs": "runs/index.md",
    "Leaderboards": "leaderboards/index.md",
    "Incidents": "incidents/index.md",
    "Rules": "rules/index.md",
    "Problems": "problems/index.md",
}
STYLES = (
    "assets/sitegen.css",
    "assets/charts.css",
    "assets/site.css",
    "assets/links.css",
    "assets/compare.css",
)
SCRIPTS = (
    languages.WORDS,
    "assets/run.js",
    "assets/choose.js",  # adds a column, which tables.js must find
    "assets/tables.js",
    "assets/answers.js",
    "assets/finds.js",
    "assets/search.js",
    "assets/links.js",
    "assets/compare.js",
)
# Extensions of Markdown that the guides need: boxes, and anchors that are the same in all languages.
GUIDES_NEED = ("admonition", "attr_list")
LIVE = "assets/live.js"  # only where the library it brings is in this install
NAME = "mkdocs.yml"
_PARAGRAPH, _TAG = re.compile(r"<p>(.*?)</p>", re.DOTALL), re.compile(r"<[^>]*>")
_DESCRIBED = 200  # characters of a description
_STILL = (
    "charts stay drawings: uPlot is not in this install; "
    "python -m sitegen.packaging.libraries brings it into a checkout"
)
_EPOCH = "SOURCE_DATE_EPOCH"
_MATERIAL_FONT = {"text": "Roboto", "code": "Roboto Mono"}


class SitegenPlugin(BasePlugin):  # type: ignore[type-arg,no-untyped-call]
    """`plugins: - sitegen:` of mkdocs.yml; the keys are those of `sitegen.config.Config`."""

    settings: Config
    progress: Callable[[str], None] | None = None
    site: sites.Site | None = None
    publishes = False  # `build` puts the files in place itself
    main = ""  # language of the site's root, where this is another one below it
    _epoch: str | None = None
    failure: SitegenError | None = None  # MkDocs keeps the text of an exception only

    def load_config(
        self, options: dict[str, Any], config_file_path: str | None = None
    ) -> tuple[list[tuple[str, Exception]], list[Any]]:
        """Read the options; MkDocs shows each error with the name of the plugin."""
        file = Path(config_file_path or NAME).absolute()
        self.config = options
        self.settings, faults = settings.sift(options, file.parent, file)
        if faults:
            whole = bool(self.settings.rules) or not options.get("rules")
            faults += tuple(unknown_choices(self.settings, whole))
            return [("sitegen", ConfigError("\n".join(faults)))], []
        return [], []

    def on_config(self, config: MkDocsConfig) -> None:
        """Build the pages, put the theme override in place, keep other origins out."""
        if not self.main:
            self.settings = replace(self.settings, language=self.language(config))
        config.theme["language"] = self.settings.language
        title = self.settings.title if "title" in self.config else config.site_name
        try:
            self.site = sites.prepare(
                self.settings.runs,
                self.settings.archive_home,
                replace(self.settings, title=title, site_url=config.site_url or ""),
                self.progress,
            )
        except SitegenError as error:
            raise self._failed(error) from error
        if self.progress and not sites.has_charts():
            self.progress(_STILL)
        self._epoch = os.environ.get(_EPOCH)
        os.environ[_EPOCH] = str(int(self.site.now or 0))  # MkDocs dates its sitemap with it
        _dress(config)
        if self.settings.languages:
            config.extra_javascript.append(languages.SWITCH)

    def on_files(self, files: Files, config: MkDocsConfig) -> Files:
        """Add our pages, guides and assets; what the site itself brings wins."""
        assert self.site is not None
        for page in self.site.pages:
            _add(files, _page_file(page, config))
        for source in sorted((sites.folder() / "assets").rglob("*")):
            if source.is_file():
                name = source.relative_to(sites.folder()).as_posix()
                _add(files, self._asset(config, name, source))
        for source in sorted(languages.GUIDES.glob("*.md")):
            self._add_guide(files, config, source)
        self._pages = {_uri(page): page for page in self.site.pages}
        if config.nav is None:
            own = [f.src_uri for f in files.documentation_pages() if f.src_uri not in self._pages]
            config.nav = [
                *({self._said(title): uri} for title, uri in NAV.items()),
                *([{self._said("Guides"): sorted(own)}] * bool(own)),
            ]
        return files

    def on_env(self, env: Environment, **_: Any) -> Environment:
        """Let the theme's templates of ours speak as the pages do."""
        if self.settings.language != ENGLISH:
            env.add_extension(sites.spoken_in(self.settings.language))
        return env

    def on_page_context(self, context: Any, *, page: MkDocsPage, **_: Any) -> Any:
        """Put the fragment in, just before the page is written, and what a link to the page says of it."""
        assert self.site is not None
        ours = self._pages.get(page.file.src_uri)
        if ours is not None and page.file.generated_by == "sitegen":
            page.content = sites.region(ours, self.site.html(ours))
        else:
            own = str(page.meta.get("description") or "") or _first_words(page.content or "")
            page.meta["description"] = escape(unescape(own))
        context["sitegen_languages"] = languages.links(
            page.url, self.settings, self.main or self.settings.language
        )
        context["sitegen_english"] = self.settings.language != ENGLISH and _guide(page.file)
        context["sitegen_preview"] = self.site.preview(page.file.src_uri.removesuffix("index.md"))
        return context

    def on_post_page(self, output: str, *, page: MkDocsPage, **_: Any) -> str:
        """Say what the page may load and run, and drop the fragment again."""
        guarded = self._guarded(output, page.content or "")
        page.content = ""
        return guarded

    def on_post_template(self, output_content: str, *, template_name: str, **_: Any) -> str:
        """The same for 404.html."""
        return self._guarded(output_content, "") if template_name.endswith(".html") else output_content

    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Files beside the pages, the search index, the list of all that was written."""
        assert self.site is not None
        target = Path(config.site_dir)
        try:
            if not self.publishes:
                sites.write(self.site.files, target)
            sites.index(target, str(config.theme.get("language") or "en"))
        except SitegenError as error:
            raise self._failed(error) from error
        sites.Manifest.of(target).write(target)
        self._restore()

    def on_build_error(self, **_: Any) -> None:
        """Leave the environment as it was."""
        if self.site is not None:
            self._restore()

    def language(self, config: MkDocsConfig) -> str:
        """What the settings say, else the language of the theme where pages can speak it."""
        named = str(config.theme.get("language") or ENGLISH).split("-")[0]
        known = (*self.settings.languages, named if named in LANGUAGES else ENGLISH)
        return self.settings.language if "language" in self.config else known[0]

    def _said(self, text: str) -> str:
        with speaking(self.settings.language):
            return t(text)

    def _asset(self, config: MkDocsConfig, name: str, source: Path) -> File:
        """A file as it is, or what scripts say in the language of the site."""
        if name == languages.WORDS and self.settings.language != ENGLISH:
            return File.generated(config, name, content=languages.words(source, self.settings.language))
        return File.generated(config, name, abs_src_path=str(source))

    def _add_guide(self, files: Files, config: MkDocsConfig, source: Path) -> None:
        """A guide in the language of the site, where we have it; one of the site's own wins."""
        there = files.get_file_from_path(source.name)
        told = languages.guide(source, self.settings.language)
        if there is not None and there.abs_src_path == str(source) != str(told):
            files.remove(there)  # a site whose pages are our guides themselves
        _add(files, self._asset(config, source.name, told))

    def _guarded(self, html: str, fragment: str) -> str:
        return sites.guarded(html, fragment) if self.settings.policy else html.replace(sites.PLACE, "", 1)

    def _failed(self, error: SitegenError) -> PluginError:
        self.failure = error
        return PluginError(str(error))

    def _restore(self) -> None:
        if self._epoch is None:
            os.environ.pop(_EPOCH, None)
        else:
            os.environ[_EPOCH] = self._epoch


def unknown_choices(config: Config, whole: bool = True) -> list[str]:
    """Choices of a faulty mkdocs.yml that no card knows, to be told with its other faults.

    Where cards cannot be read, their faults: it is not known then what they know. `whole`: all folders of
    cards that the file names are there.
    """
    try:
        cards = rules.catalog(config.rules)
    except CardError as error:
        return str(error).splitlines()
    return rules.faults(cards, config.params, config.presets, config.muted, config.where, whole)


class _Shell(MkDocsPage):
    """A page that is all front matter; setting Markdown up for each of thousands takes seconds."""

    def render(self, config: MkDocsConfig, files: Files) -> None:
        """Nothing: the fragment is put in when the page is written."""
        self.content = ""


def _dress(config: MkDocsConfig) -> None:
    """Our theme override below the site's own, our styles and scripts before the site's own."""
    config.markdown_extensions += [one for one in GUIDES_NEED if one not in config.markdown_extensions]
    config.theme.dirs.insert(1 if config.theme.custom_dir else 0, str(sites.folder() / "overrides"))
    config.extra_css[:0] = STYLES
    live = (LIVE,) if sites.has_charts() else ()
    for script in reversed((*SCRIPTS, *live)):
        config.extra_javascript.insert(0, script)
    if config.theme.get("font") == _MATERIAL_FONT:
        config.theme["font"] = False  # nobody asked for it, and Material would fetch it from Google


def _uri(page: Page) -> str:
    return f"{page.path}index.md"


def _guide(file: File) -> bool:
    """Whether a page is one of the guides that come with sitegen, in English."""
    source = file.abs_src_path
    return source is not None and Path(source).is_relative_to(languages.GUIDES)


def _page_file(page: Page, config: MkDocsConfig) -> File:
    uri = _uri(page)
    if uri in NAV.values():
        return File.generated(config, uri, content=front_matter(page), inclusion=InclusionLevel.INCLUDED)
    file = File.generated(config, uri, content=front_matter(page), inclusion=InclusionLevel.NOT_IN_NAV)
    file.page = _Shell(None, file, config)
    return file


def front_matter(page: Page) -> str:
    """YAML that MkDocs reads; values are HTML-escaped, for its templates do not."""
    lines = {
        "title": _scalar(page.title),
        "description": _scalar(page.description),
        "hide": "[navigation, toc]",
        "sitegen": page.kind,
    }
    return "---\n" + "".join(f"{key}: {value}\n" for key, value in lines.items()) + "---\n"


def _first_words(html: str) -> str:
    """The first paragraph of a page as text, for those who list its address."""
    found = _PARAGRAPH.search(html)
    text = " ".join(unescape(_TAG.sub("", found[1])).split()) if found else ""
    return text if len(text) <= _DESCRIBED else text[: _DESCRIBED - 1].rstrip() + "…"


def _scalar(text: str) -> str:
    """A double-quoted YAML scalar; what YAML may not hold becomes a replacement sign."""
    clean = "".join(sign if sign.isprintable() else "\ufffd" for sign in escape(text))
    return json.dumps(clean, ensure_ascii=False)


def _add(files: Files, file: File) -> None:
    if files.get_file_from_path(file.src_uri) is None:
        files.append(file)
