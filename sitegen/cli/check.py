"""`sitegen check`: findings for runs or raw logs, no site needed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from sitegen.cli import findings, options, scratch
from sitegen.cli.screen import Screen
from sitegen.model import Severity
from sitegen.reports.shapes import RunReport

_NEVER = "never"
_LEVELS = [severity.word for severity in Severity]


@click.command("check", short_help="Findings for runs or raw logs, without a site.")
@click.argument("paths", nargs=-1, required=True, type=options.runs_type, metavar="PATH…")
@click.option(
    "-f", "--format", "form", type=click.Choice(tuple(findings.FORMATS)), default="text", show_default=True
)
@click.option(
    "--fail-on",
    type=click.Choice([*_LEVELS, _NEVER]),
    default="error",
    show_default=True,
    help="Exit 1 when a finding is this bad or worse.",
)
@click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write to a file.")
@options.config_option
@options.quiet_option
def command(
    paths: tuple[options.Runs, ...],
    form: str,
    fail_on: str,
    out: Path | None,
    config_file: Path | None,
    quiet: bool,
) -> int:
    """Read PATH (a log, a folder of one run or of runs, the address of a live source); say what is wrong.

    Nothing is written but the result. `--format sarif` suits code-review tools, `markdown` a comment.
    """
    screen = Screen(quiet)
    config = options.settings(config_file)
    places = tuple(options.at(path, screen) for path in paths)
    found = list(_reports(places, scratch.Reader(config, screen)))
    result = findings.FORMATS[form](found)
    if isinstance(result, findings.Lines):
        _show(screen, result, out)
    elif out is None:
        screen.write(result)
    else:
        options.save(out, result)
    return 1 if _fails(found, fail_on) else 0


def _reports(paths: tuple[Path, ...], reader: scratch.Reader) -> Iterator[RunReport]:
    for path in paths:
        yield from reader.reports(path)


def _show(screen: Screen, lines: findings.Lines, out: Path | None) -> None:
    if out is not None:
        options.save(out, lines.plain())
        return
    for parts in lines.parts:
        screen.line(*parts)


def _fails(reports: list[RunReport], fail_on: str) -> bool:
    if fail_on == _NEVER:
        return False
    least = Severity.of(fail_on)
    return any(incident.severity >= least for report in reports for incident in report.incidents)
