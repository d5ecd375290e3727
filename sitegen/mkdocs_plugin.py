"""The only module that knows MkDocs.

A page of ours is a Markdown file that holds front matter only; its HTML, complete and escaped, is put
in when the page is written and dropped again afterwards, so that MkDocs never holds all pages in
memory and no log ever passes through Markdown. MkDocs' templates do not escape: titles and
descriptions are escaped here.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort, ConfigurationError, PluginError
from mkdocs.plugins import BasePlugin
from mkdocs.structure.files import File, Files, InclusionLevel

from sitegen import config as settings
from sitegen import site as sites
from sitegen.config import Config
from sitegen.errors import ConfigError, SitegenError
from sitegen.model import Page

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page as MkDocsPage

# A mkdocs.yml without `nav` gets these, then its own pages.
NAV = {
    "Home": "index.md",
    "Runs": "runs/index.md",
    "Leaderboards": "leaderboards/index.md",
    "Incidents": "incidents/index.md",
    "Rules": "rules/index.md",
    "Problems": "problems/index.md",
}
STYLES = ("assets/sitegen.css", "assets/site.css")
SCRIPTS = ("assets/run.js", "assets/tables.js", "assets/search.js")
NAME = "mkdocs.yml"
_EPOCH = "SOURCE_DATE_EPOCH"


class SitegenPlugin(BasePlugin):  # type: ignore[type-arg,no-untyped-call]
    """`plugins: - sitegen:` of mkdocs.yml; the keys are those of `sitegen.config.Config`."""

    settings: Config
    progress: Callable[[str], None] | None = None
    site: sites.Site | None = None

    def load_config(
        self, options: dict[str, Any], config_file_path: str | None = None
    ) -> tuple[list[tuple[str, Exception]], list[Any]]:
        """Read the options; MkDocs shows each error with the name of the plugin."""
        base = Path(config_file_path).absolute().parent if config_file_path else Path.cwd()
        self.config = options
        try:
            self.settings = settings.read(options, base, where=NAME)
        except ConfigError as error:
            return [("sitegen", error)], []
        return [], []

    def on_config(self, config: MkDocsConfig) -> None:
        """Build the pages, put the theme override in place, keep other origins out."""
        title = self.settings.title if "title" in self.config else config.site_name
        try:
            self.site = sites.prepare(
                self.settings.runs,
                self.settings.archive_home,
                replace(self.settings, title=title),
                self.progress,
            )
        except SitegenError as error:
            raise PluginError(str(error)) from error
        self._epoch = os.environ.get(_EPOCH)
        os.environ[_EPOCH] = str(int(self.site.now or 0))  # MkDocs dates its sitemap with it
        _dress(config)

    def on_files(self, files: Files, config: MkDocsConfig) -> Files:
        """Add our pages, guides and assets; what the site itself brings wins."""
        assert self.site is not None
        for page in self.site.pages:
            _add(files, _page_file(page, config))
        for folder in ("assets", "docs"):
            root = sites.folder() / folder
            for source in sorted(root.rglob("*")):
                if source.is_file():
                    name = source.relative_to(root if folder == "docs" else root.parent).as_posix()
                    _add(files, File.generated(config, name, abs_src_path=str(source)))
        self._pages = {_uri(page): page for page in self.site.pages}
        if config.nav is None:
            own = [f.src_uri for f in files.documentation_pages() if f.src_uri not in self._pages]
            config.nav = [
                *({title: uri} for title, uri in NAV.items()),
                *([{"Guides": sorted(own)}] * bool(own)),
            ]
        return files

    def on_page_context(self, context: Any, *, page: MkDocsPage, **_: Any) -> Any:
        """Put the fragment in, just before the page is written."""
        ours = self._pages.get(page.file.src_uri)
        if ours is not None and page.file.generated_by == "sitegen":
            assert self.site is not None
            page.content = sites.region(ours, self.site.html(ours))
        return context

    def on_post_page(self, output: str, *, page: MkDocsPage, **_: Any) -> str:
        """Drop the fragment again."""
        page.content = ""
        return output

    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Files beside the pages, the search index, the list of all that was written."""
        assert self.site is not None
        target = Path(config.site_dir)
        try:
            sites.write(self.site.files, target)
            sites.index(target, str(config.theme.get("language") or "en"))
        except SitegenError as error:
            raise PluginError(str(error)) from error
        sites.Manifest.of(target).write(target)
        self._restore()

    def on_build_error(self, **_: Any) -> None:
        """Leave the environment as it was."""
        self._restore()

    def _restore(self) -> None:
        if getattr(self, "_epoch", None) is not None:
            os.environ[_EPOCH] = str(self._epoch)
        else:
            os.environ.pop(_EPOCH, None)


@dataclass(frozen=True, slots=True)
class Built:
    """A finished build: where it lies and what it holds."""

    folder: Path
    site: sites.Site


def config_file(folder: Path) -> Path:
    """The mkdocs.yml in `folder`, or the packaged one where there is none."""
    own = folder / NAME
    return own if own.is_file() else sites.folder() / NAME


def read_settings(config_file: Path) -> Config:
    """What stands below `- sitegen:` in `config_file`. Raises ConfigError."""
    try:
        return _load(config_file, Path("site"))[1].settings
    except (ConfigurationError, Abort) as error:
        raise ConfigError(f"{config_file.name}: {error}") from error


def build(
    config_file: Path,
    *,
    runs: Path | None = None,
    home: Path | None = None,
    out: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> Built:
    """Build the site that `config_file` describes; what is given here wins over what stands there.

    The build happens beside `out` and is moved there when it is complete (see `site.publish`).
    Raises SitegenError.
    """
    target = _site_dir(config_file, out)
    staging = target.parent / f".{target.name}.new"
    try:
        config, plugin = _load(config_file, staging)
        plugin.settings = plugin.settings.with_paths(runs=runs, home=home)
        plugin.progress = progress
        mkdocs_build(config)
        assert plugin.site is not None
        sites.publish(staging, target)
        return Built(target, plugin.site)
    except (PluginError, ConfigurationError, Abort) as error:
        raise ConfigError(f"{config_file.name}: {error}") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _site_dir(config_file: Path, out: Path | None) -> Path:
    if out is not None:
        return out.absolute()
    packaged = config_file.absolute().parent == sites.folder().absolute()
    return (Path.cwd() if packaged else config_file.absolute().parent) / "site"


def _load(config_file: Path, site_dir: Path) -> tuple[MkDocsConfig, SitegenPlugin]:
    config = load_config(str(config_file), site_dir=str(site_dir))
    plugin = config.plugins.get("sitegen")
    if not isinstance(plugin, SitegenPlugin):
        raise ConfigError(f"{config_file}: expected the plugin; add `- sitegen` below `plugins:`.")
    return config, plugin


def _dress(config: MkDocsConfig) -> None:
    """Our theme override below the site's own, our styles and scripts before the site's own."""
    config.theme.dirs.insert(1 if config.theme.custom_dir else 0, str(sites.folder() / "overrides"))
    config.extra_css[:0] = STYLES
    for script in reversed(SCRIPTS):
        config.extra_javascript.insert(0, script)
    if "font" not in (config.user_configs[0].get("theme") or {}):
        config.theme["font"] = False  # Material would ask Google for it


def _uri(page: Page) -> str:
    return f"{page.path}index.md"


def _page_file(page: Page, config: MkDocsConfig) -> File:
    uri = _uri(page)
    inclusion = InclusionLevel.INCLUDED if uri in NAV.values() else InclusionLevel.NOT_IN_NAV
    return File.generated(config, uri, content=front_matter(page), inclusion=inclusion)


def front_matter(page: Page) -> str:
    """YAML that MkDocs reads; values are HTML-escaped, for its templates do not."""
    lines = {
        "title": _scalar(page.title),
        "description": _scalar(page.description),
        "hide": "[navigation, toc]",
        "sitegen": page.kind,
    }
    return "---\n" + "".join(f"{key}: {value}\n" for key, value in lines.items()) + "---\n"


def _scalar(text: str) -> str:
    """A double-quoted YAML scalar; what YAML may not hold becomes a replacement sign."""
    clean = "".join(sign if sign.isprintable() else "\ufffd" for sign in escape(text))
    return json.dumps(clean, ensure_ascii=False)


def _add(files: Files, file: File) -> None:
    if files.get_file_from_path(file.src_uri) is None:
        files.append(file)
