"""`sitegen build`: everything, from logs to a site."""

from __future__ import annotations

from pathlib import Path

import click

from sitegen import mkdocs_plugin
from sitegen import site as sites
from sitegen.cli import options
from sitegen.cli.screen import Screen


@click.command("build", short_help="Build the site from a folder of runs.")
@options.runs_argument
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the site. Default: `site` beside mkdocs.yml.",
)
@click.option(
    "--offline",
    metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write a copy there as well that opens without a server (double-click index.html; no search).",
)
@options.site_options
def command(
    runs: options.Runs | None,
    out: Path | None,
    offline: Path | None,
    config_file: Path | None,
    home: Path | None,
    quiet: bool,
) -> int:
    """Build the site: read what changed under RUNS, annotate, render, index.

    A second build works on what changed only. The last good site stays until the new one is complete.
    """
    screen = Screen(quiet)
    folder, home = options.local(runs, home, screen)
    settings = options.settings(config_file, folder, home)
    built = mkdocs_plugin.build(
        options.site_config_file(config_file),
        runs=options.existing(settings.runs),
        home=settings.home,
        out=out,
        progress=screen.progress,
    )
    if offline is not None:
        sites.copy(built.folder, sites.Manifest.read(built.folder).files, offline)
    report = built.site.report
    sick = sum(row.status.value in ("crashed", "failed") for row in report.runs)
    screen.progress(f"{len(report.runs)} runs, {sick} crashed or failed; the site is ready:")
    screen.line(f"{built.folder / 'index.html'}")
    if offline is not None:
        screen.progress(f"and a copy that needs no server: {offline / 'index.html'}")
    return 0
