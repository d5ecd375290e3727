"""`sitegen check`: findings for runs or raw logs, no site needed."""

from __future__ import annotations

import re
from pathlib import Path

import click

from sitegen.cli import baselines, comment, findings, options, sarif, scratch
from sitegen.cli.screen import Screen
from sitegen.cli.whereabouts import Checked
from sitegen.errors import ConfigError
from sitegen.model import Severity
from sitegen.reports.shapes import RunReport

_NEVER = "never"
_FORMATS = ("text", "json", "markdown", "sarif")
_LEVELS = [severity.word for severity in Severity]


@click.command("check", short_help="Findings for runs or raw logs, without a site.")
@click.argument("paths", nargs=-1, required=True, type=options.runs_type, metavar="PATH…")
@click.option("-f", "--format", "form", type=click.Choice(_FORMATS), default="text", show_default=True)
@click.option(
    "--fail-on",
    type=click.Choice([*_LEVELS, _NEVER]),
    default="error",
    show_default=True,
    help="Exit 1 when a finding is this bad or worse.",
)
@click.option(
    "--baseline",
    metavar="RUN",
    help="With `markdown`: the run to compare with, as a path or an id; else what a run.toml names.",
)
@click.option(
    "--site-url",
    metavar="URL",
    help="With `markdown` and `sarif`: address of the site, to link to. Default: `site_url` of mkdocs.yml.",
)
@click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write to a file.")
@options.config_option
@options.quiet_option
def command(
    paths: tuple[options.Runs, ...],
    form: str,
    fail_on: str,
    baseline: str | None,
    site_url: str | None,
    out: Path | None,
    config_file: Path | None,
    quiet: bool,
) -> int:
    """Read PATH (a log, a folder of one run or of runs, the address of a live source); say what is wrong.

    Nothing is written but the result; a baseline that is not among PATHs is looked up in the archive of the
    site. `--format sarif` suits code-review tools, `markdown` is the comment for a pull request.
    """
    screen = Screen(quiet)
    config = options.settings(config_file)
    places = tuple(options.at(path, screen) for path in paths)
    reader = scratch.Reader(config, screen)
    checked = [each for place in places for each in reader.checked(place)]
    found = [each.report for each in checked]
    if form == "text":
        _show(screen, findings.text(found), out)
    else:
        site = _site(config.site_url if site_url is None else site_url)
        result = _written(form, checked, reader, baseline, site)
        options.save(out, result) if out is not None else screen.write(result)
    return 1 if _fails(found, fail_on) else 0


def _written(
    form: str, checked: list[Checked], reader: scratch.Reader, baseline: str | None, site: str
) -> bytes:
    if form == "json":
        return findings.json([each.report for each in checked])
    if form == "sarif":
        return sarif.document(checked, site)
    return comment.document(checked, baselines.Finder(reader, checked).all(baseline), site)


def _site(url: str) -> str:
    """The address with a slash at its end, or "". Raises ConfigError for what is no address of a site."""
    if url and not re.fullmatch(r"https?://[^\s()<>\"'`]+", url):
        raise ConfigError(f"'{url}' is no address of a site: expected https://… without brackets or quotes.")
    return f"{url.rstrip('/')}/" if url else ""


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
