"""A whole build: settings, MkDocs, and the finished site put in place."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort, MkDocsException

from sitegen import site as sites
from sitegen.archive import locked
from sitegen.config import Config
from sitegen.errors import ConfigError
from sitegen.mkdocs_plugin.plugin import NAME, SitegenPlugin

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig

Say = Callable[[str], None]


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
    with _listening(config_file, None):
        # Settings are there before the site has a page of its own.
        config, plugin = _load(config_file, docs_dir=str(sites.folder() / "docs"))
        return replace(plugin.settings, site_url=config.site_url or "")


def build(
    config_file: Path,
    *,
    runs: Path | None = None,
    home: Path | None = None,
    out: Path | None = None,
    progress: Say | None = None,
) -> Built:
    """Build the site that `config_file` describes; what is given here wins over what stands there.

    The build happens beside `out` and is moved there when it is complete (see `site.publish`).
    Raises SitegenError.
    """
    with _listening(config_file, progress):
        config, plugin = _load(config_file)
        target = out.absolute() if out is not None else _site_dir(config_file, config)
        staging = target.parent / f".{target.name}.new"
        config.site_dir = str(staging)
        plugin.settings = plugin.settings.with_paths(runs=runs, home=home)
        plugin.progress, plugin.publishes = progress, True
        # Two builds of one archive would share the staging folder: the second waits for the first.
        with locked(plugin.settings.archive_home, progress or (lambda line: None), "site.lock"):
            return Built(target, _staged(config, plugin, staging, target))


def _staged(config: MkDocsConfig, plugin: SitegenPlugin, staging: Path, target: Path) -> sites.Site:
    """Build into `staging`, move to `target`, leave no staging behind."""
    shutil.rmtree(staging, ignore_errors=True)  # of a build that was killed
    try:
        mkdocs_build(config)
        assert plugin.site is not None
        for code in plugin.settings.others:
            _in_language(code, config, plugin, staging / code)
        sites.publish(staging, target, plugin.site.files)
        return plugin.site
    except MkDocsException:
        if plugin.failure is not None:
            raise plugin.failure from None
        raise
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _in_language(code: str, own: MkDocsConfig, plugin: SitegenPlugin, folder: Path) -> None:
    """The whole site once more in language `code`, into `folder`."""
    config, other = _load(Path(own.config_file_path))
    config.site_dir = str(folder)
    config.site_url = f"{own.site_url.rstrip('/')}/{code}/" if own.site_url else own.site_url
    other.settings = replace(plugin.settings, language=code)
    other.progress, other.main = plugin.progress, plugin.settings.language
    try:
        mkdocs_build(config)
    except MkDocsException:
        plugin.failure = other.failure
        raise
    sites.Manifest.forget(folder)  # the list of the whole site names these files too


def _site_dir(config_file: Path, config: MkDocsConfig) -> Path:
    packaged = config_file.absolute().parent == sites.folder().absolute()
    return Path.cwd() / "site" if packaged else Path(config.site_dir)


def _load(config_file: Path, **changes: str) -> tuple[MkDocsConfig, SitegenPlugin]:
    config = load_config(str(config_file), **changes)
    plugin = config.plugins.get("sitegen")
    if not isinstance(plugin, SitegenPlugin):
        raise ConfigError(f"{config_file}: expected the plugin; add `- sitegen` below `plugins:`.")
    return config, plugin


@contextmanager
def _listening(config_file: Path, progress: Say | None) -> Iterator[None]:
    """Pass MkDocs' warnings on, and turn what it gives up with into a ConfigError that says why.

    MkDocs logs the reason and raises an exception without it.
    """
    ear = _Ear(progress)
    logger = logging.getLogger("mkdocs")
    logger.addHandler(ear)
    try:
        yield
    except (MkDocsException, Abort) as error:
        said = "\n".join(ear.errors) or str(error)
        raise ConfigError(f"{config_file.name}: {said}") from error
    finally:
        logger.removeHandler(ear)


class _Ear(logging.Handler):
    def __init__(self, progress: Say | None) -> None:
        super().__init__(logging.WARNING)
        self.errors: list[str] = []
        self._say = progress or (lambda line: None)

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.ERROR:
            self.errors.append(record.getMessage())
        else:
            self._say(f"mkdocs: {record.getMessage()}")
