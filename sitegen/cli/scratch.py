"""Read logs that lie anywhere, through an archive that is thrown away."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from sitegen import archive as archives
from sitegen import reports
from sitegen.archive import ids
from sitegen.cli import options
from sitegen.cli.screen import Screen
from sitegen.cli.whereabouts import Checked, in_a_folder, onsets
from sitegen.config import Config
from sitegen.errors import ConfigError
from sitegen.model import Incident
from sitegen.reports import asked, explained
from sitegen.reports.shapes import RunReport


@dataclass(frozen=True, slots=True)
class Reader:
    """Reports for paths that need not be part of any archive."""

    config: Config
    screen: Screen

    def reports(self, path: Path) -> Iterator[RunReport]:
        """A report per run found at `path`: a log file, the folder of a run, or a folder of runs.

        Raises ConfigError where there is nothing to read.
        """
        return (each.report for each in self.checked(path))

    def checked(self, path: Path) -> Iterator[Checked]:
        """As `reports`, with where the files of each run are."""
        if not path.exists():
            raise ConfigError(
                f"there is nothing at '{path}'. Give a log file, a run's folder or a folder of runs."
            )
        with tempfile.TemporaryDirectory(prefix="sitegen-") as home:
            update = options.updated(self.config.with_paths(runs=path, home=Path(home)), self.screen.progress)
            for problem in update.problems:
                self.screen.note(f"{problem.kind}: {problem.path}: {problem.message}")
            if not update.runs:
                raise ConfigError(_nothing(path, update.ignored))
            archive = archives.Archive(Path(home))
            found = reports.build(archive, self.config)
            for run in update.runs:
                report = found.run(run)
                if len(update.runs) == 1:
                    report = _alone(report)
                lines = onsets(archive, report)
                if path.is_dir() and len(update.runs) == 1:
                    report = named(report, path)
                folder = path if path.is_dir() else path.parent
                yield Checked(report, folder, self.config.runs, lines)


def _alone(report: RunReport) -> RunReport:
    """`report` without what it says of other runs, which are elsewhere."""
    elsewhere = (explained.SUCCESSOR, asked.BASELINE)
    told = tuple(one for one in report.problems if one.kind not in elsewhere)
    return replace(report, problems=told)


def named(report: RunReport, folder: Path) -> RunReport:
    """`report` under the name of the run's own folder, where only the log file gave it a name."""
    run = report.run
    name = ids.slug(folder.resolve().name)
    if in_a_folder(run) or run.id == name:
        return report
    title = folder.resolve().name if run.title in (run.id, run.path) else run.title

    def own(one: Incident) -> Incident:
        return replace(one, run=name, id=f"{name}/{one.anchor}")

    return replace(
        report,
        run=replace(run, id=name, title=title),
        row=replace(report.row, id=name, title=title),
        incidents=tuple(map(own, report.incidents)),
        muted=tuple(replace(one, incident=own(one.incident)) for one in report.muted),
    )


def _nothing(path: Path, ignored: tuple[str, ...]) -> str:
    seen = f" Not recognised: {', '.join(ignored[:5])}{' …' if len(ignored) > 5 else ''}." if ignored else ""
    return (
        f"no training log found at '{path}'.{seen} Expected verl's console output (`step:1 - actor/…`), "
        "its file logger's JSONL, a notebook or Markdown with such output, the `logs/metrics` dialect, or "
        "what TensorBoard, W&B, MLflow, SwanLab, Trackio or ClearML left."
    )
