"""Arguments that several verbs share, and the settings they lead to."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from sitegen import archive as archives
from sitegen import live, mkdocs_plugin
from sitegen.cli.screen import Screen
from sitegen.config import Config
from sitegen.errors import ConfigError

Command = TypeVar("Command", bound=Callable[..., Any])


Runs = Path | live.Address


class _Runs(click.Path):
    """A folder, or the address of a live source."""

    name = "runs"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and live.is_address(value):
            return live.parse(value)
        return super().convert(value, param, ctx)


runs_type = _Runs(path_type=Path)
runs_argument = click.argument("runs", type=runs_type, required=False)
home_option = click.option(
    "--home",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the archive. Default: `.sitegen` beside RUNS where that is below this folder, else a "
    "folder of its own in the user's cache: nothing is left beside logs that lie elsewhere.",
)
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
config_option = click.option(
    "-c",
    "--config",
    "config_file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="The site's mkdocs.yml. Default: the one in this folder, else the packaged one.",
)


def site_options(command: Command) -> Command:
    """The options of a verb that works on a site: its settings, its archive, whether progress is told."""
    return config_option(home_option(quiet_option(command)))


def has_own_file() -> bool:
    """Whether this folder has a mkdocs.yml of its own."""
    return mkdocs_plugin.config_file(Path.cwd()).parent.resolve() == Path.cwd().resolve()


def named(config_file: Path | None) -> str:
    """Where cards come from, in words: those of sitegen, and those that a mkdocs.yml names."""
    if config_file is None and not has_own_file():
        return "among those of sitegen, and this folder has no mkdocs.yml that names others (-c names one)"
    return f"among those of sitegen and the folders that '{config_file or mkdocs_plugin.NAME}' names"


def site_config_file(given: Path | None) -> Path:
    """The mkdocs.yml to use: the one given, the one in this folder, or the packaged one."""
    return given if given is not None else mkdocs_plugin.config_file(Path.cwd())


def settings(config_file: Path | None, runs: Path | None = None, home: Path | None = None) -> Config:
    """Settings of the site with what the command line says on top. Raises ConfigError."""
    own = site_config_file(config_file)
    packaged = config_file is None and own.parent.resolve() != Path.cwd().resolve()
    base = Config() if packaged else mkdocs_plugin.read_settings(own)
    asked = base.with_paths(runs=runs, home=home)
    if asked.home is None and Path.cwd() not in asked.archive_home.resolve().parents:
        return asked.with_paths(home=cache_home(asked.runs))
    return asked


def cache_home(runs: Path) -> Path:
    """Where the archive of `runs` is kept when its own neighbourhood is not ours to write to."""
    place = runs.resolve()
    return _cache() / f"{place.name}-{hashlib.sha256(bytes(place)).hexdigest()[:8]}"


def local(runs: Runs | None, home: Path | None, screen: Screen) -> tuple[Path | None, Path | None]:
    """RUNS and home as folders: a live source is copied first, below `home` or the user's cache.

    Raises LiveError and ConfigError as `live.copy` does.
    """
    if not isinstance(runs, live.Address):
        return runs, home
    place = home or _cache() / runs.name
    return copied(runs, place / "live" / runs.name, screen), place


def copied(address: live.Address, folder: Path, screen: Screen) -> Path:
    """The folder, with the copy of a live source brought up to date. Raises as `live.copy` does."""
    screen.progress(f"asking {address}")
    done = live.copy(address, folder, screen.progress)
    screen.progress(f"{done.runs} runs there, {done.fetched} of them new or changed")
    return folder


def at(path: Runs, screen: Screen) -> Path:
    """A path as it is; of the address of a live source the copy, in the user's cache."""
    if isinstance(path, live.Address):
        return copied(path, _cache() / path.name / "live" / path.name, screen)
    return path


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sitegen"


def updated(config: Config, say: Callable[[str], None]) -> archives.Update:
    """Bring the archive of a site up to date. Raises ArchiveError."""
    return archives.update(
        config.runs, config.archive_home, jobs=config.jobs, redaction=config.redact, progress=say
    )


def existing(runs: Path) -> Path:
    """`runs` where it exists. Raises ConfigError that says what was expected and what to do."""
    if runs.exists():
        return runs
    ends = ("/".join(runs.parts[i:]) for i in range(len(runs.parts)))
    if meant := next(filter(live.is_address, ends), None):  # from mkdocs.yml, taken for a path below it
        raise ConfigError(
            f"'{meant}' is the address of a live source, which stands on the command line only. In mkdocs.yml"
            " give a folder, and copy the runs into it: sitegen ingest ADDRESS --into runs/tracker."
        )
    raise ConfigError(
        f"there is no folder '{runs}'. Expected a folder with one folder per run, each with the logs that "
        f"training left. Give its path (`sitegen … path/to/runs`), or make it: mkdir -p {runs}/my-run and "
        "copy a log into it."
    )


def save(out: Path, data: bytes) -> None:
    """Write a result, making its folder where needed. Raises ConfigError where that cannot be done."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_bytes(data)
    except OSError as error:
        raise ConfigError(f"cannot write '{out}': {error.strerror}. Give a file you may write.") from error
