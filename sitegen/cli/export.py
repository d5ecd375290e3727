"""`sitegen export`: one run as a folder that travels."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from sitegen import archive as archives
from sitegen import reports
from sitegen.archive import portable
from sitegen.charts import figures
from sitegen.cli import options, parcel
from sitegen.cli.screen import Screen, clean
from sitegen.config import Config, nearest
from sitegen.errors import ConfigError
from sitegen.ingest import exported
from sitegen.pages import report_figures, report_md
from sitegen.reports.shapes import RunReport

_README = """\
# {title}

A training run, exported by sitegen. Put this folder, packed or not, below the `runs/` of an archive and
build: the page is the one it had. Keys, tokens, passwords in URLs, private keys and e-mail addresses were
replaced before it was stored; host names, paths and prompts printed into a log were not.

* `report.md` with its figures: what happened, to read
* `run.json`: facts, configuration, summary of every metric, problems
* `steps.parquet`: every step record; `extras.parquet`: NaN, infinities, values logged twice
* `lines.parquet`: log lines that matter; `samples.parquet` and `traces.parquet`, where there are any: dumped
  generations, and what its agents did
"""


@click.command("export", short_help="Write one run, without secrets, as a folder or file that ingests again.")
@click.argument("run")
@click.argument("runs", type=options.runs_type, required=False)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="Folder to write, or a file that ends with .tar.zst. Default: `<run>-export` in this folder.",
)
@options.site_options
def command(
    run: str,
    runs: options.Runs | None,
    out: Path | None,
    config_file: Path | None,
    home: Path | None,
    quiet: bool,
) -> int:
    """Write RUN as one folder without secrets: Parquet, JSON, and a report to read.

    RUN is the id of a run below RUNS (default `runs/`), or the path of a log or of a run's folder. Put below
    the RUNS of another archive, the folder gives the same page; so does the one file, packed as it is.

    \b
      sitegen export my-project-my-run -o outbox/my-run
      sitegen export path/to/run -o outbox/my-run.tar.zst
    """  # noqa: D301  \b is click's sign for "keep these lines"
    screen = Screen(quiet)
    if Path(run).exists() and runs is None:
        with tempfile.TemporaryDirectory(prefix="sitegen-") as scratch:
            config = options.settings(config_file).with_paths(runs=Path(run), home=Path(scratch))
            archive = _updated(config, screen)
            return _export(archive, config, _only(archive, run), out, screen)
    folder, home = options.local(runs, home, screen)
    config = options.settings(config_file, folder, home)
    options.existing(config.runs)
    archive = _updated(config, screen)
    known = archive.runs()
    if run not in known:
        raise ConfigError(
            f"there is no run '{clean(run)}' below '{config.runs}'.{nearest(run, known)} "
            "`sitegen ingest` lists the ids; a path of a log or a run's folder will do as well."
        )
    return _export(archive, config, run, out, screen)


def _updated(config: Config, screen: Screen) -> archives.Archive:
    options.updated(config, screen.progress)
    return archives.Archive(config.archive_home)


def _only(archive: archives.Archive, path: str) -> str:
    known = archive.runs()
    if len(known) == 1:
        return known[0]
    if not known:
        raise ConfigError(f"no training log found at '{clean(path)}'. Give a log, or the folder of a run.")
    raise ConfigError(
        f"'{clean(path)}' holds {len(known)} runs: {', '.join(known)}. "
        f"Choose one: sitegen export {known[0]} {clean(path)}"
    )


def _export(archive: archives.Archive, config: Config, run: str, out: Path | None, screen: Screen) -> int:
    place = out or Path(f"{run}-export")
    parcel.check(place)
    report = reports.build(archive, config).run(run)
    files: dict[str, bytes | Path] = {**_documents(report), **portable.tables(archive, run)}
    parcel.write(place, run, {**files, exported.RECORD: portable.record(archive, run)})
    screen.line(str(place))
    return 0


def _documents(report: RunReport) -> dict[str, bytes]:
    drawings = report_figures.drawings(report)
    names = {kind: f"report-{kind}.png" for kind in drawings}
    found = {names[kind]: figures.draw(drawing, "png") for kind, drawing in drawings.items()}
    found["report.md"] = report_md.document(report, names).encode()
    title = " ".join(report.run.title.split())
    found["README.md"] = _README.format(title=title.replace("`", "'")).encode()
    return found
