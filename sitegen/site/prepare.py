"""Everything a site consists of, without a word about who writes it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sitegen import archive as archives
from sitegen import reports
from sitegen.config import Config
from sitegen.language import speaking
from sitegen.model import Page
from sitegen.pages import chart_data
from sitegen.reports.shapes import ArchiveReport
from sitegen.site import alike, api, badges, choices, cross, downloads, feeds, llms, previews, rendering
from sitegen.site.addresses import Addresses
from sitegen.site.publish import Content, Derived
from sitegen.site.redirects import redirects
from sitegen.site.rendering import RunEntry, renderer
from sitegen.site.templates import digest, environment

_CSV = "csv"  # room of the cache: SHA-256 of what steps.csv of a run holds


@dataclass(frozen=True, slots=True)
class Site:
    """Pages and files of a site.

    Run pages carry no HTML here: thousands of them would fill the memory. `html` fetches it when it
    is written.

    Args:
        pages: all pages; those of runs with empty `html`.
        files: site path -> bytes, a file to copy, or a function that makes the bytes.
        now: newest time stamp in the archive, Unix seconds.
        report: what the cross-run pages were made of.
        load: path of a run page -> its HTML.
        rendered: run pages that were drawn in this build, not taken from the cache.
    """

    pages: tuple[Page, ...]
    files: Mapping[str, Content]
    now: float | None
    report: ArchiveReport
    load: Callable[[str], str] = field(repr=False)
    rendered: int = 0

    def html(self, page: Page) -> str:
        """The fragment of `page`."""
        return page.html or self.load(page.path)

    def preview(self, path: str) -> str:
        """Path of the picture that belongs to the page at `path`, "" for none."""
        own = previews.name(path.split("/")[1]) if path.startswith("runs/") and path != "runs/" else ""
        return next((one for one in (own, previews.SITE) if one in self.files), "")


def prepare(
    runs_folder: Path, home_folder: Path, config: Config, progress: Callable[[str], None] | None = None
) -> Site:
    """Read what changed under `runs_folder`, annotate and render.

    `progress` is told what happens, one short line at a time. Raises SitegenError.
    """
    with speaking(config.language):
        return _prepared(runs_folder, home_folder, config, progress)


def _prepared(
    runs_folder: Path, home_folder: Path, config: Config, progress: Callable[[str], None] | None
) -> Site:
    say = progress or (lambda line: None)
    archives.update(runs_folder, home_folder, jobs=config.jobs, redaction=config.redact, progress=progress)
    archive = archives.Archive(home_folder)
    found = reports.Reports(archive, config)
    bench = _bench(archive, found, config)
    drawn = _Runs(bench, config.jobs)
    pages: list[Page] = []
    files: dict[str, Content] = {}
    aliases: dict[str, tuple[str, ...]] = {}
    charted: set[str] = set()
    for run, entry in drawn.entries(say):
        pages += [replace(page, html="") for page in (entry.page, *entry.more)]
        aliases[run] = entry.aliases
        charted |= {run} if entry.charts else set()
        files |= _run_files(archive, run, drawn)
        files |= {f"runs/{run}/data/{name}": drawn.chart(run, name) for name in entry.charts}
    found.forget()
    render = renderer(environment(config.templates, bench.site_url))
    pages += cross.kept(archive, found.archive, render, config.title, bench.look)
    drawn.similar = alike.kept(archive, found.archive.incidents, render, bench.look)
    files |= _files(found.archive, aliases, Addresses(config.title, config.site_url), drawn.similar)
    files[choices.NAME] = choices.document(found.archive, aliases, charted)
    if bench.previews is not None:
        files[previews.SITE] = previews.of_site(archive, found.archive, config.title, bench.look)
    # drawn pages come after cached ones: a warm build must not list them in another order
    pages.sort(key=lambda page: page.path)
    return Site(
        tuple(pages),
        dict(sorted(files.items())),
        found.archive.now,
        found.archive,
        drawn.html,
        drawn.rendered,
    )


def _bench(archive: archives.Archive, found: reports.Reports, config: Config) -> rendering.Bench:
    base = Addresses(config.title, config.site_url).base
    known = frozenset(archive.runs())
    return rendering.Bench(
        found,
        archive,
        look=digest(config.templates, base),
        overrides=config.templates,
        site_url=base,
        shadowed=frozenset(run for run in known if not badges.free(run, known)),
        previews=config.title if config.draws_previews else None,
    )


def _files(
    report: ArchiveReport, aliases: Mapping[str, tuple[str, ...]], site: Addresses, similar: alike.Similar
) -> dict[str, Content]:
    """Site path -> bytes of all files that span runs or stand for old names."""
    taken = [*(row.id for row in report.runs), *(run for run, _, _ in report.removed)]
    return {
        **api.documents(report, similar.ids),
        **feeds.documents(report, site),
        **badges.documents(report, aliases),
        llms.NAME: llms.document(report, site),
        **redirects(aliases, taken),
    }


class _Runs:
    """Entries of all runs, from the cache where nothing that they show has changed."""

    def __init__(self, bench: rendering.Bench, jobs: int | None) -> None:
        self._bench, self._jobs = bench, jobs
        self.keys = {run: bench.key(run) for run in bench.archive.runs()}
        self.rendered = 0
        self.similar = alike.Similar({}, {})

    def entries(self, say: Callable[[str], None]) -> Iterator[tuple[str, RunEntry]]:
        """(run, entry) of every run; those that changed are drawn, and come last."""
        stale = []
        for run in self.keys:
            entry = self._cached(run)
            if entry is None or entry.again or not self._pictured(run):
                stale.append(run)
            else:
                yield run, entry
        self.rendered = len(stale)
        if stale:
            say(f"judging and drawing {len(stale)} of {len(self.keys)} runs")
        yield from zip(stale, rendering.draw(self._bench, stale, self._jobs), strict=True)
        self._bench.archive.prune(rendering.ROOM, set(self.keys.values()))
        self._bench.archive.prune(previews.ROOM, set(map(self._bench.preview_key, self.keys)))
        self._bench.archive.prune(_CSV, set(self.keys.values()))
        names = (chart_data.MAIN, chart_data.EXACT)
        self._bench.archive.prune(
            rendering.CHARTS,
            {rendering.chart_key(key, name) for key in self.keys.values() for name in names},
        )

    def html(self, path: str) -> str:
        """Fragment of `path`, the page of a run or one below it."""
        run = path.split("/")[1]
        return self.similar.filled(self.load(run).html(path), run)

    def load(self, run: str) -> RunEntry:
        """The entry that `entries` left in the cache."""
        entry = self._cached(run)
        assert entry is not None, "an entry was removed while the site was built"
        return entry

    def picture(self, run: str) -> Callable[[], bytes] | None:
        """Makes the bytes of the run's picture; None where it could not be drawn."""
        if self._bench.preview(run) is None:
            return None
        return lambda: self._bench.preview(run) or b""

    def _pictured(self, run: str) -> bool:
        return self._bench.previews is None or self._bench.preview(run) is not None

    def chart(self, run: str, name: str) -> Path:
        """The file `name` of the charts of `run`, in the cache."""
        return self._bench.archive.kept(rendering.CHARTS, rendering.chart_key(self.keys[run], name))

    def _cached(self, run: str) -> RunEntry | None:
        data = self._bench.archive.cached(rendering.ROOM, self.keys[run])
        try:
            entry = None if data is None else RunEntry.unpack(data)
        except ValueError:
            return None  # damaged: drawn again
        whole = entry is not None and all(self.chart(run, name).is_file() for name in entry.charts)
        return entry if whole else None


def _run_files(archive: archives.Archive, run: str, drawn: _Runs) -> dict[str, Content]:
    """Site path -> what makes the bytes of all files of one run."""
    steps = archive.steps(run)
    files: dict[str, Content] = {
        f"{api.ROOT}runs/{run}.json": lambda: drawn.load(run).api.encode(),
        f"runs/{run}/index.md": lambda: drawn.load(run).report_md.encode(),
    }
    if steps.is_file():
        files[f"runs/{run}/data/steps.parquet"] = steps
        files[f"runs/{run}/data/steps.csv"] = _csv(archive, steps, drawn.keys[run])
    for name, table in (("samples", archive.samples(run)), ("traces", archive.traces(run))):
        if table:
            files[f"runs/{run}/data/{name}.parquet"] = table
    if picture := drawn.picture(run):
        files[previews.name(run)] = picture
    return files


def _csv(archive: archives.Archive, steps: Path, key: str) -> Derived:
    def make() -> bytes:
        data = downloads.csv(steps)
        archive.keep(_CSV, key, hashlib.sha256(data).hexdigest().encode())
        return data

    return Derived((archive.cached(_CSV, key) or b"").decode("ascii", "replace"), make)
