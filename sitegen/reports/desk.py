"""The report of one run, made wherever there is time: a desk can be sent to another process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sitegen import rules
from sitegen.archive import Archive
from sitegen.model import Findings, Floats, Rule, Run
from sitegen.reports import asked, assemble, compare, explained, failed, samples, traces
from sitegen.reports.compare import Peers
from sitegen.reports.entries import Entry, entry
from sitegen.reports.explained import Successors
from sitegen.reports.rows import incident_rows
from sitegen.reports.shapes import RunReport, SeedGroup


@dataclass(frozen=True, slots=True)
class Desk:
    """What it takes to report on any run of an archive.

    Args:
        home: the `.sitegen` folder.
        catalog: rules as pages know them.
        off: rules that the site switched off; a run.toml may still name them.
        peers: what each run is compared with; of a run that is not in it, nothing.
        kin: run -> the seed group it belongs to.
        successors: what notes say about which run mended which; likewise.
    """

    home: Path
    catalog: tuple[Rule, ...]
    off: tuple[Rule, ...] = ()
    peers: Mapping[str, Peers] = field(default_factory=dict)
    kin: Mapping[str, SeedGroup] = field(default_factory=dict)
    successors: Mapping[str, Successors] = field(default_factory=dict)

    def report(self, run: str, findings: Findings) -> RunReport:
        """All about `run`, read from its Parquet; where that fails on a bug of ours, a report that says so.

        Raises ArchiveError for a run that is not there.
        """
        archive = Archive(self.home)
        try:
            made = assemble.report(
                self._run(run, findings), findings, archive.series(run), archive.log_lines(run), self.catalog
            )
            others = self._others(run)
            peers = tuple((relation, other.id, other.title) for relation, other in others.items())
            made = replace(made, compared=compare.compared(made.run, others), peers=peers)
            made = replace(made, clock=self._clock(made), seeds=self.kin.get(run))
            made = self._noted(made)
            if (dumped := archive.samples(run)) is not None:
                made = replace(made, samples=samples.choose(made.run, made.incidents, dumped))
            if (traced := archive.traces(run)) is not None:
                made = replace(made, traces=traces.choose(made.run, made.incidents, traced))
        except Exception as error:
            if not failed.ours(error):
                raise
            return self.failed(run, findings, error)
        name = rules.failure(findings)
        return failed.unjudged(made, name) if name else made

    def failed(self, run: str, findings: Findings, error: Exception) -> RunReport:
        """What can be said of a run whose report or page could not be made because of `error`."""
        return self._noted(failed.report(self._run(run, findings), findings, error, self.catalog))

    def entry(self, report: RunReport) -> Entry:
        """What pages across runs know of it."""
        return entry(report, incident_rows(report, self._times(report)))

    def _others(self, run: str) -> Mapping[str, Run]:
        """Relation -> run, for what `run` is compared with."""
        archive, peers = Archive(self.home), self.peers.get(run, Peers())
        if peers.baseline is not None and peers.baseline == peers.previous:
            return {"baseline and previous run": archive.run(peers.baseline)}
        found = {"baseline": peers.baseline, "previous run": peers.previous}
        return {relation: archive.run(other) for relation, other in found.items() if other is not None}

    def _run(self, run: str, findings: Findings) -> Run:
        beside = self.peers.get(run, Peers())
        known = asked.checked(Archive(self.home).run(run), (*self.catalog, *self.off), beside)
        judged = None if rules.failure(findings) else findings
        return explained.checked(known, judged, self.successors.get(run, Successors()))

    def _noted(self, report: RunReport) -> RunReport:
        """`report` with what people wrote."""
        archive, found = Archive(self.home), self.successors.get(report.run.id, Successors())
        mends = tuple((each, archive.run(each).title) for each in found.mends)
        return replace(report, notes=explained.views(report.run, found, archive.run), mends=mends)

    def _clock(self, report: RunReport) -> Floats | None:
        """Time stamps of a run that does not log how long its steps took."""
        timed = any(view.metric.key in ("time_step", "time_per_step") for view in report.metrics)
        return None if timed or report.run.ended_at is None else Archive(self.home).clock(report.run.id)

    def _times(self, report: RunReport) -> Mapping[int, float]:
        """Step -> Unix seconds for the onsets of the run's incidents."""
        wanted = {one.first for one in report.incidents if one.first is not None}
        if not wanted or report.run.ended_at is None:  # a log without any time stamp
            return {}
        times = Archive(self.home).times(report.run.id)
        return {step: time for step, time in times.items() if step in wanted}
