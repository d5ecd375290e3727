"""`sitegen ingest`: update the archive and say what was read and what could not be."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from sitegen import archive as archives
from sitegen import live, rules
from sitegen.cli import options
from sitegen.cli.screen import Screen
from sitegen.config import Config
from sitegen.errors import CardError, ConfigError, Problem
from sitegen.model import Run
from sitegen.reports import asked

_QUIET_KINDS = {"redacted"}  # worth a word, but nothing was lost


@click.command("ingest", short_help="Read runs into the archive and say what was read.")
@options.runs_argument
@click.option("--strict", is_flag=True, help="Exit 1 when something could not be read.")
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep the copy of a live source here, below the RUNS of a site, instead of in the user's cache.",
)
@options.site_options
def command(
    runs: options.Runs | None,
    strict: bool,
    into: Path | None,
    config_file: Path | None,
    home: Path | None,
    quiet: bool,
) -> int:
    """Read what changed under RUNS into the archive; print what was read and what could not be.

    RUNS is a folder, or the address of a tracker's server, whose runs are copied first; asked again, only
    what changed is fetched. Credentials come from the environment (MLFLOW_TRACKING_USERNAME and
    MLFLOW_TRACKING_PASSWORD, MLFLOW_TRACKING_TOKEN, WANDB_API_KEY).

    \b
      sitegen ingest runs
      sitegen ingest mlflow+http://host:5000/#experiment
      sitegen ingest wandb://entity/project/run --into runs/my-run
    """  # noqa: D301  \b is click's sign for "keep these lines"
    screen = Screen(quiet)
    if into is not None:
        if not isinstance(runs, live.Address):
            raise ConfigError("--into needs the address of a live source, such as mlflow+http://host:5000/.")
        runs = options.copied(runs, into, screen)
    folder, home = options.local(runs, home, screen)
    config = options.settings(config_file, folder, home)
    options.existing(config.runs)
    update = options.updated(config, screen.progress)
    archive = archives.Archive(config.archive_home)
    found = [archive.run(run) for run in update.runs]
    if not found:
        screen.note(f"no runs in '{config.runs}': put one folder per run there, with the logs training left.")
    _table(screen, found, set(update.changed))
    for run in update.removed:
        screen.line(f"gone: {run}")
    unread = [*update.problems, *(problem for run in found for problem in run.problems)]
    unread += _asked_in_vain(found, config, screen)
    _problems(screen, unread)
    for path in update.ignored:
        screen.line(f"ignored: {path} (no known format)")
    return 1 if strict and any(problem.kind not in _QUIET_KINDS for problem in unread) else 0


def _asked_in_vain(runs: Sequence[Run], config: Config, screen: Screen) -> list[Problem]:
    """What files run.toml ask of rules and other runs that is not there."""
    if not any(map(asked.anything, runs)):
        return []
    try:
        found = asked.of_runs(runs, rules.catalog(config.rules))
    except CardError as error:
        screen.note(f"presets and mutes of run.toml were not checked, a card is wrong: {error}")
        return []
    return [problem for problems in found.values() for problem in problems]


def _table(screen: Screen, runs: Sequence[Run], changed: set[str]) -> None:
    if not runs:
        return
    rows = [
        (
            run.id,
            "read" if run.id in changed else "unchanged",
            str(run.steps),
            _span(run),
            str(len(run.segments)),
            str(len(run.summary)),
            ", ".join(run.formats) or "-",
        )
        for run in runs
    ]
    columns = ("run", "state", "steps", "span", "segments", "metrics", "formats")
    screen.table(columns, rows, numbers=(2, 4, 5))


def _span(run: Run) -> str:
    return "-" if run.first_step is None else f"{run.first_step}-{run.last_step}"


def _problems(screen: Screen, problems: Sequence[Problem]) -> None:
    for problem in problems:
        place = problem.path if problem.line is None else f"{problem.path}:{problem.line}"
        hint = f". {problem.hint}" if problem.hint else ""
        screen.line((f"{problem.kind}: ", "warning"), f"{place}: {problem.message}{hint}")
