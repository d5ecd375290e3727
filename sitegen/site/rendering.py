"""Run pages: rendered once per change, kept in the archive's cache, in several processes when many."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import jinja2
import orjson

from sitegen.model import Findings, Page
from sitegen.pages import report_md
from sitegen.pages import run as run_page
from sitegen.pages.render import Render
from sitegen.reports import Desk, Entry, failed
from sitegen.reports.shapes import RunReport
from sitegen.site import api, cross
from sitegen.site.templates import environment

ROOM = "fragments"
PARALLEL_FROM = 16  # fewer changed runs than this are done before a second process has started


@dataclass(frozen=True, slots=True)
class RunEntry:
    """All that a site keeps of one rendered run."""

    page: Page
    api: str  # JSON document
    aliases: tuple[str, ...]
    report_md: str  # without figures: drawing them costs more than all the rest of a page
    again: bool = False  # a bug of ours stands in for the page: the next build tries again

    def pack(self) -> bytes:
        """Bytes for the cache."""
        return orjson.dumps(self)

    @classmethod
    def unpack(cls, data: bytes) -> RunEntry:
        """The entry of `pack`; raises ValueError for damaged bytes."""
        try:
            raw = orjson.loads(data)
            aliases, again = tuple(raw["aliases"]), bool(raw["again"])
            return cls(cross.page(raw["page"]), raw["api"], aliases, raw["report_md"], again)
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"damaged fragment: {error}") from error


def key(report_key: str, digest: str) -> str:
    """Cache key of a run's entry."""
    return hashlib.sha256(f"{report_key}\0{digest}".encode()).hexdigest()[:40]


def renderer(env: jinja2.Environment) -> Render:
    """A Render over `env`."""

    def render(template: str, /, **context: object) -> str:
        return env.get_template(template).render(context)

    return render


def entry(report: RunReport, render: Render) -> RunEntry:
    """Page, API document and report of one run."""
    page = run_page.page(report, render)
    searchable = Page(page.path, page.title, page.description, page.html, True, "run", _filters(report))
    document = api.run_document(report).decode()
    again = any(problem.kind == failed.KIND for problem in report.problems)
    return RunEntry(searchable, document, report.run.aliases, report_md.document(report), again)


def draw(
    changed: Iterable[tuple[str, Findings]], desk: Desk, overrides: Path | None, many: int, jobs: int | None
) -> Iterator[tuple[Entry, RunEntry]]:
    """What pages across runs show of each run, and its own page, in the order of `changed`.

    A run is read, reported and rendered in one place; in `jobs` processes where `many` are worth it.
    At most a few wait to be kept, so that memory stays flat.
    """
    workers = min(jobs or os.cpu_count() or 1, max(1, many // 8))
    if workers < 2 or many < PARALLEL_FROM:
        bench = Bench(desk, renderer(environment(overrides)))
        yield from (bench.draw(run, findings) for run, findings in changed)
        return
    context = multiprocessing.get_context("spawn")  # threads of numpy and Arrow do not survive a fork
    with ProcessPoolExecutor(workers, context, _start, (desk, overrides)) as pool:
        waiting: deque[Future[tuple[Entry, RunEntry]]] = deque()
        for run, findings in changed:
            waiting.append(pool.submit(_work, run, findings))
            if len(waiting) > 4 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


@dataclass(frozen=True, slots=True)
class Bench:
    """A desk and templates: all that a process needs to draw runs."""

    desk: Desk
    render: Render

    def draw(self, run: str, findings: Findings) -> tuple[Entry, RunEntry]:
        """Read, report and render `run`; where a bug of ours stops that, a page that says so."""
        report = self.desk.report(run, findings)
        try:
            return self._drawn(report)
        except Exception as error:
            if not failed.ours(error):
                raise
            return self._failed(run, findings, error)

    def _drawn(self, report: RunReport) -> tuple[Entry, RunEntry]:
        return self.desk.entry(report), entry(report, self.render)

    def _failed(self, run: str, findings: Findings, error: Exception) -> tuple[Entry, RunEntry]:
        try:
            return self._drawn(self.desk.failed(run, findings, error))
        except Exception:  # the incidents are what it fails on
            return self._drawn(self.desk.failed(run, failed.bare(findings), error))


def _filters(report: RunReport) -> tuple[tuple[str, str], ...]:
    row = report.row
    pairs = [("status", str(row.status)), ("model", row.model), ("algorithm", row.algorithm)]
    pairs += [("severity", word) for word in sorted({i.severity.word for i in report.incidents})]
    pairs += [("rule", code) for code in sorted({i.rule for i in report.incidents})]
    return tuple((name, value) for name, value in pairs if value)


_bench: Bench | None = None  # one per worker process


def _start(desk: Desk, overrides: Path | None) -> None:
    global _bench  # the environment compiles templates once per process
    _bench = Bench(desk, renderer(environment(overrides)))


def _work(run: str, findings: Findings) -> tuple[Entry, RunEntry]:
    assert _bench is not None
    return _bench.draw(run, findings)
