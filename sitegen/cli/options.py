"""Arguments that several verbs share, and the settings they lead to."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from sitegen import archive as archives
from sitegen import mkdocs_plugin
from sitegen.config import Config
from sitegen.errors import ConfigError

Command = TypeVar("Command", bound=Callable[..., Any])

runs_argument = click.argument("runs", type=click.Path(path_type=Path), required=False)
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
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    place = runs.resolve()
    return cache / "sitegen" / f"{place.name}-{hashlib.sha256(bytes(place)).hexdigest()[:8]}"


def updated(config: Config, say: Callable[[str], None]) -> archives.Update:
    """Bring the archive of a site up to date. Raises ArchiveError."""
    return archives.update(
        config.runs, config.archive_home, jobs=config.jobs, redaction=config.redact, progress=say
    )


def existing(runs: Path) -> Path:
    """`runs` where it exists. Raises ConfigError that says what was expected and what to do."""
    if runs.exists():
        return runs
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
