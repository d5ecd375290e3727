"""`sitegen report`: the convergence report of one run, as Markdown with its figures beside it."""

from __future__ import annotations

from pathlib import Path

import click

from sitegen.charts import figures
from sitegen.cli import options, scratch
from sitegen.cli.screen import Screen
from sitegen.errors import ConfigError
from sitegen.language import LANGUAGES, speaking
from sitegen.pages import report_figures, report_md
from sitegen.reports.shapes import RunReport


@click.command("report", short_help="Write the convergence report of one run as Markdown with figures.")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Markdown file. Default: stdout, without figures.",
)
@click.option("--run", "wanted", help="Which run, where PATH holds several (see the list in the message).")
@click.option(
    "--language",
    type=click.Choice(list(LANGUAGES)),
    help="Language of the report. Default: that of mkdocs.yml, else en.",
)
@click.option("--svg", is_flag=True, help="Figures as SVG instead of PNG.")
@options.config_option
@options.quiet_option
def command(
    path: Path,
    out: Path | None,
    wanted: str | None,
    language: str | None,
    svg: bool,
    config_file: Path | None,
    quiet: bool,
) -> int:
    """Write what happened in the run at PATH: verdict, trend figure, incidents with advice, where time goes.

    PATH is a log file, a run's folder or a folder of runs. Figures are written beside the Markdown as
    <name>-trend and <name>-efficiency.
    """
    screen = Screen(quiet)
    config = options.settings(config_file)
    with speaking(language or config.language):
        found = list(scratch.Reader(config, screen).reports(path))
        _write(_pick(found, wanted, path), out, svg, screen)
    return 0


def _write(report: RunReport, out: Path | None, svg: bool, screen: Screen) -> None:
    """The report and its figures, or the report alone on the screen."""
    if out is None:
        screen.write(report_md.document(report))
        return
    form = "svg" if svg else "png"
    drawings = report_figures.drawings(report)
    names = {kind: f"{out.stem}-{kind}.{form}" for kind in drawings}
    for kind, drawing in drawings.items():
        options.save(out.with_name(names[kind]), figures.draw(drawing, form))
    options.save(out, report_md.document(report, names).encode())
    screen.line(str(out))


def _pick(found: list[RunReport], wanted: str | None, path: Path) -> RunReport:
    if wanted is None and len(found) == 1:
        return found[0]
    known = ", ".join(report.run.id for report in found)
    if wanted is None:
        raise ConfigError(f"'{path}' holds {len(found)} runs: {known}. Choose one with --run.")
    for report in found:
        if report.run.id == wanted:
            return report
    raise ConfigError(f"'{path}' holds no run '{wanted}'. It holds: {known}.")
