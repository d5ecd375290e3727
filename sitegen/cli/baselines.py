"""The run that a checked one is held against, wherever it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sitegen import archive as archives
from sitegen import reports
from sitegen.cli import options, scratch
from sitegen.cli.comment import Baseline
from sitegen.cli.whereabouts import Checked
from sitegen.errors import ConfigError
from sitegen.reports.shapes import RunReport


@dataclass
class Finder:
    """Looks for baselines among what was checked, at a path, then in the archive of the site.

    The archive is brought up to date for that, as `sitegen query` does.
    """

    reader: scratch.Reader
    checked: Sequence[Checked]
    _found: dict[str, RunReport | None] = field(default_factory=dict)

    def all(self, given: str | None) -> dict[str, Baseline]:
        """Run id -> its baseline: `given`, else what its run.toml names.

        Raises ConfigError where there is no run `given`.
        """
        out = {}
        for each in self.checked:
            wanted = given or each.report.run.baseline
            if not wanted:
                continue
            report = self._named(wanted)
            if report is None and given:
                raise ConfigError(
                    f"there is no run '{given}' to compare with: expected a run that is checked, the path of "
                    f"a log or of a run's folder, or the id of a run below '{self.reader.config.runs}'."
                )
            if report is None or report.run.id not in (each.report.run.id, each.site_id):
                out[each.report.run.id] = Baseline(wanted, report)
        return out

    def _named(self, name: str) -> RunReport | None:
        if name not in self._found:
            self._found[name] = self._beside(name) or self._at(name) or self._archived(name)
        return self._found[name]

    def _beside(self, name: str) -> RunReport | None:
        for each in self.checked:
            if name in (each.report.run.id, each.site_id, *each.report.run.aliases):
                return each.report
        return None

    def _at(self, name: str) -> RunReport | None:
        path = Path(name)
        return next(iter(self.reader.reports(path)), None) if path.exists() else None

    def _archived(self, name: str) -> RunReport | None:
        config = self.reader.config
        if not config.runs.is_dir():
            return None
        options.updated(config, self.reader.screen.progress)
        archive = archives.Archive(config.archive_home)
        names = {alias: run for run in archive.runs() for alias in archive.run(run).aliases}
        run = name if name in archive.runs() else names.get(name)
        return None if run is None else reports.Reports(archive, config).run(run)
