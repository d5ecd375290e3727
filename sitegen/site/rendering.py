"""Run pages: judged and drawn once per change, kept in the archive's cache, in several processes if many."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import jinja2
import orjson

from sitegen.archive import Archive
from sitegen.language import spoken
from sitegen.model import Findings, Page
from sitegen.pages import chart_data, preview, samples, traces, words
from sitegen.pages import run as run_page
from sitegen.pages.render import Render
from sitegen.reports import Entry, Reports, failed, spread
from sitegen.reports.shapes import RunReport
from sitegen.reports.visible import defused
from sitegen.site import api, cross, llms, previews
from sitegen.site.templates import environment

ROOM, CHARTS = "fragments", "charts"


@dataclass(frozen=True, slots=True)
class RunEntry:
    """All that a site keeps of one rendered run."""

    page: Page
    api: str  # JSON document
    aliases: tuple[str, ...]
    report_md: str  # the page as Markdown, without figures: they cost more than all the rest of a page
    again: bool = False  # a bug of ours stands in for the page: the next build tries again
    more: tuple[Page, ...] = ()  # pages below the run's
    charts: tuple[str, ...] = ()  # files that its charts read; their bytes are in the room `CHARTS`

    def pack(self) -> bytes:
        """Bytes for the cache."""
        return orjson.dumps(self)

    @classmethod
    def unpack(cls, data: bytes) -> RunEntry:
        """The entry of `pack`; raises ValueError for damaged bytes."""
        try:
            raw = orjson.loads(data)
            aliases, again = tuple(raw["aliases"]), bool(raw["again"])
            more = tuple(cross.page(one) for one in raw["more"])
            drawn = tuple(raw["charts"])
            return cls(cross.page(raw["page"]), raw["api"], aliases, raw["report_md"], again, more, drawn)
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"damaged fragment: {error}") from error

    def light(self) -> RunEntry:
        """The entry without its texts."""
        more = tuple(replace(one, html="") for one in self.more)
        return replace(self, page=replace(self.page, html=""), api="", report_md="", more=more)

    def html(self, path: str) -> str:
        """Fragment of the page at `path`. Raises KeyError."""
        return {one.path: one.html for one in (self.page, *self.more)}[path]


def key(report_key: str, digest: str) -> str:
    """Cache key of a run's entry."""
    return hashlib.sha256(f"{report_key}\0{digest}".encode()).hexdigest()[:40]


def chart_key(key: str, name: str) -> str:
    """Where `CHARTS` has the file `name` of the entry at `key`."""
    return f"{key}.{name}"


def renderer(env: jinja2.Environment) -> Render:
    """A Render over `env`. All HTML of pages comes from here, so names that hide or turn text end here."""

    def render(template: str, /, **context: object) -> str:
        return defused(env.get_template(template).render(context))

    return render


def entry(report: RunReport, render: Render, best_badge: bool = True) -> RunEntry:
    """Page, API document and report of one run; `best_badge` = the badge of its score has an address."""
    page = run_page.page(report, render, best_badge)
    searchable = replace(page, filters=_filters(report), found=_found(report))
    document = api.run_document(report).decode()
    again = any(problem.kind == failed.KIND for problem in report.problems)
    below = (samples.page(report, render), traces.page(report, render))
    more = tuple(one for one in below if one is not None)
    return RunEntry(searchable, document, report.run.aliases, llms.page(report), again, more)


# What tables know of a run, its pages, and the files of its charts by name.
Drawn = tuple[Entry, RunEntry, Mapping[str, bytes]]


@dataclass(frozen=True, slots=True)
class Bench:
    """All that a process needs to judge and draw runs. What it makes, it keeps in the archive's cache.

    Args:
        found: reports of the archive.
        archive: where to keep what was drawn.
        look: digest of the templates.
        overrides: folder of templates that a site has of its own.
        site_url: address of the published site with "/" at its end, "" = not known.
        shadowed: runs whose badge of the best score has no address.
        previews: name of the site on pictures of runs, None = none are drawn.
    """

    found: Reports
    archive: Archive
    look: str
    overrides: Path | None
    site_url: str = ""
    shadowed: frozenset[str] = frozenset()
    previews: str | None = None

    def key(self, run: str) -> str:
        """Where the cache has the entry of `run`."""
        return key(f"{self.found.shown(run)} {run in self.shadowed}", self.look)

    def preview_key(self, run: str) -> str:
        """Where the cache has the picture of `run`."""
        return previews.key(self.key(run), self.previews or "")

    def preview(self, run: str) -> bytes | None:
        """The picture of `run`; None where there is none, and for a site without them."""
        if self.previews is None:
            return None
        return previews.kept(self.archive, previews.ROOM, self.preview_key(run))

    def batch(self, runs: Sequence[str], threads: int) -> list[RunEntry]:
        """Judge and draw `runs` together. The entries come without their texts: those are in the cache."""
        findings = self.found.judged(runs, threads)
        made = []
        for run in runs:
            row, drawn, files = self.draw(run, findings[run])
            self.found.keep(run, row)
            for name, data in files.items():
                self.archive.keep(CHARTS, chart_key(self.key(run), name), data)
            self.archive.keep(ROOM, self.key(run), drawn.pack())
            made.append(drawn.light())
        return made

    def draw(self, run: str, findings: Findings) -> Drawn:
        """Read, report and render `run`; where a bug of ours stops that, a page that says so."""
        report = self.found.desk.report(run, findings)
        try:
            return self._drawn(report)
        except Exception as error:
            if not failed.ours(error):
                raise
            return self._failed(run, findings, error)

    def _drawn(self, report: RunReport) -> Drawn:
        render = _renderer(self.overrides, self.site_url, spoken())
        drawn = entry(report, render, report.run.id not in self.shadowed)
        if self.previews is not None:
            self._picture(report, self.previews)
        files = chart_data.files(report)
        return self.found.desk.entry(report), replace(drawn, charts=tuple(files)), files

    def _picture(self, report: RunReport, site: str) -> None:
        """Draw and keep the picture; a page does without one where a bug of ours stops it."""
        try:
            what = preview.of_run(report, site)
            previews.keep(self.archive, previews.ROOM, self.preview_key(report.run.id), what)
        except Exception as error:
            if not failed.ours(error):
                raise

    def _failed(self, run: str, findings: Findings, error: Exception) -> Drawn:
        try:
            return self._drawn(self.found.desk.failed(run, findings, error))
        except Exception:  # the incidents are what it fails on
            return self._drawn(self.found.desk.failed(run, failed.bare(findings), error))


def _filters(report: RunReport) -> tuple[tuple[str, str], ...]:
    row = report.row
    stamp = row.ended_at if row.ended_at is not None else row.started_at
    pairs = [("status", str(row.status)), ("model", row.model), ("algorithm", row.algorithm)]
    pairs += [("project", row.project), ("month", words.month(stamp))]
    pairs += [("severity", word) for word in sorted({i.severity.word for i in report.incidents})]
    pairs += [("rule", code) for code in sorted({i.rule for i in report.incidents})]
    return tuple((name, value) for name, value in pairs if value)


def _found(report: RunReport) -> tuple[tuple[str, str], ...]:
    """Anchor and severity of every incident of the page, by which search says how bad a find is."""
    told = ((one.anchor, one.severity.word) for one in report.incidents)
    return (*told, *((one.incident.anchor, "muted") for one in report.muted))


def draw(bench: Bench, runs: Sequence[str], jobs: int | None) -> Iterator[RunEntry]:
    """Judge and draw `runs`, in their order; in `jobs` processes where there are enough of them."""
    for made in spread(Bench.batch, bench, runs, jobs):
        yield from made


@cache
def _renderer(overrides: Path | None, site_url: str, language: str) -> Render:
    return renderer(environment(overrides, site_url))  # compiles templates once per process and language
