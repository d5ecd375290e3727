"""`/previews/<run>.png` and `/previews/site.png`: what a link unfolds into, drawn once and kept.

matplotlib takes half a second to load, so nothing here does before something is drawn. A kept picture says
which font of the machine it needed; most need none and stay good whatever is installed.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import version

from sitegen.archive import Archive
from sitegen.charts.drawing import Preview
from sitegen.pages import preview as pages
from sitegen.reports.shapes import ArchiveReport

ROOM, SITE_ROOM, FOLDER = "previews", "site-preview", "previews/"
SITE = f"{FOLDER}site.png"
_MARK = 16  # bytes before the picture


def key(entry_key: str, site: str) -> str:
    """Where the cache has the picture of a run whose entry is at `entry_key`."""
    return hashlib.sha256(f"{entry_key}\0{site}\0{_drawn_by()}".encode()).hexdigest()[:40]


@cache
def _drawn_by() -> str:
    return version(
        "matplotlib"
    )  # reads the package's description: milliseconds, too much for each of many runs


def name(run: str) -> str:
    """Path of a run's picture below the site root; no run is called like the picture of the site."""
    return f"{FOLDER}runs/{run}.png"


def kept(archive: Archive, room: str, at: str) -> bytes | None:
    """The picture at key `at`, None where there is none or it would look different now."""
    data = archive.cached(room, at)
    if data is None or not data[_MARK:].startswith(b"\x89PNG"):
        return None
    mark = data[:_MARK].decode("ascii", "replace").strip()
    return data[_MARK:] if not mark or mark == _machine() else None


def keep(archive: Archive, room: str, at: str, what: Preview) -> None:
    """Draw `what` and keep it at key `at`."""
    from sitegen.charts import preview

    mark = preview.machine() if preview.foreign(what) else ""
    archive.keep(room, at, mark.ljust(_MARK).encode() + preview.draw(what))


def of_site(archive: Archive, report: ArchiveReport, site: str, look: str) -> bytes:
    """The picture of all pages that are no run's; `look` stands for templates and code."""
    what = pages.of_site(report, site)
    at = key(repr((what, look)), site)
    found = kept(archive, SITE_ROOM, at)
    if found is None:
        keep(archive, SITE_ROOM, at, what)
        found = kept(archive, SITE_ROOM, at)
    archive.prune(SITE_ROOM, {at})
    assert found is not None
    return found


def _machine() -> str:
    from sitegen.charts import preview

    return preview.machine()
