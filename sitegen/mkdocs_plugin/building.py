"""A whole build: settings, MkDocs, and the finished site put in place."""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.config.base import ValidationError
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort, MkDocsException

from sitegen import places
from sitegen import site as sites
from sitegen.archive import locked
from sitegen.config import Config
from sitegen.errors import ConfigError
from sitegen.mkdocs_plugin.plugin import NAME, SitegenPlugin, unknown_choices

Say = Callable[[str], None]
_OURS = (
    "Config value 'plugins': Plugin 'sitegen' option 'sitegen': "  # opens what MkDocs says of our settings
)


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
        spoken = plugin.language(config)
        return replace(plugin.settings, site_url=config.site_url or "", language=spoken)


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
        said = _all_faults(config_file) or ear.errors or [str(error)]
        raise ConfigError("\n".join(_told(config_file, one) for one in said)) from error
    finally:
        logger.removeHandler(ear)


def _all_faults(config_file: Path) -> list[str]:
    """Every setting that MkDocs refuses, which itself stops at the first; [] where it refuses none."""
    config = MkDocsConfig(config_file_path=str(config_file))
    faults = []
    try:
        with config_file.open("rb") as stream:
            config.load_file(stream)
        for name, option in config._schema:
            option.pre_validation(config, key_name=name)
        for name, option in config._schema:
            try:
                config[name] = option.validate(config.get(name))
            except ValidationError as error:
                faults.append(f"Config value '{name}': {error}")
    except Exception:  # whatever is wrong, MkDocs has told it
        return []
    return [*faults, *(f"{_OURS}{one}" for one in _ours_unknown(config) if faults)]


def _ours_unknown(config: MkDocsConfig) -> list[str]:
    """What no card knows, where the settings of the plugin are fine otherwise: else it told that itself."""
    plugins = config["plugins"] or {}
    found = plugins.get("sitegen") if hasattr(plugins, "get") else None
    return unknown_choices(found.settings) if isinstance(found, SitegenPlugin) else []


def _told(config_file: Path, said: str) -> str:
    """What MkDocs says of a setting, opened by the line where it stands; ours names its lines itself."""
    ours = said.removeprefix(_OURS)
    if ours != said:
        return ours
    named = re.match(r"Config value '(\w+)'", said)
    line = places.line_of(config_file, [named[1]]) if named else None
    return f"{config_file.name}{f':{line}' if line else ''}: {said}"


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
