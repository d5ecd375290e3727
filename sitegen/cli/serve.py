"""`sitegen serve`: the site on this machine, built again when logs grow."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from sitegen import mkdocs_plugin, site
from sitegen.cli import options
from sitegen.cli.screen import Screen


@click.command("serve", short_help="Build, serve on this machine, rebuild when logs grow.")
@options.runs_argument
@click.option(
    "-p", "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 = any free."
)
@options.site_options
def command(
    runs: options.Runs | None, port: int, config_file: Path | None, home: Path | None, quiet: bool
) -> int:
    """Build and serve the site on loopback until Ctrl-C; open pages reload after each build."""
    screen = Screen(quiet)
    own = options.site_config_file(config_file)
    given, home = options.local(runs, home, screen)
    settings = options.settings(config_file, given, home)
    shown, kept = options.existing(settings.runs), settings.home

    def address(line: str) -> None:
        screen.line(line) if line.startswith("http") else screen.note(line)

    with tempfile.TemporaryDirectory(prefix="sitegen-") as folder:

        def build(number: int) -> Path:
            out = Path(folder) / "site"
            mkdocs_plugin.build(own, runs=shown, home=kept, out=out, progress=screen.progress)
            return out

        watched = [shown, *([own] if own.parent == Path.cwd() else [])]
        site.serve(build, watched, port=port, say=address)
    return 0
