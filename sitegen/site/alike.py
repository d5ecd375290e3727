"""Similar incidents on run pages: found over the whole archive, and put in when a page is written.

A run's page is kept until the run changes; what other runs have to say to it changes with every new run.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from sitegen.archive import Archive
from sitegen.pages.render import Render, root
from sitegen.reports.shapes import IncidentRow
from sitegen.reports.similar import similar, why

ROOM = "similar"
# templates/partials/incident.html leaves it; no text of a log can, for its `<` is escaped
_PLACE = re.compile(r"<!--sg-similar ([\w.-]+)-->")


@dataclass(frozen=True, slots=True)
class Similar:
    """What is known of the incidents of an archive.

    Args:
        html: incident id -> fragment for its card; incidents that resemble nothing are not in it.
        ids: incident id -> ids of the incidents that it resembles.
    """

    html: Mapping[str, str]
    ids: Mapping[str, tuple[str, ...]]

    def filled(self, page: str, run: str) -> str:
        """The page of `run` with its similar incidents in place."""
        return _PLACE.sub(lambda at: self.html.get(f"{run}/{at[1]}", ""), page)


def kept(archive: Archive, rows: tuple[IncidentRow, ...], render: Render, look: str) -> Similar:
    """From the archive's cache, or found and kept; `look` stands for templates and code."""
    key = hashlib.sha256(look.encode() + orjson.dumps(rows)).hexdigest()
    found = _unpack(archive.cached(ROOM, key))
    if found is None:
        found = _found(rows, render)
        archive.keep(ROOM, key, orjson.dumps([found.html, found.ids]))
    archive.prune(ROOM, {key})
    return found


def _found(rows: tuple[IncidentRow, ...], render: Render) -> Similar:
    alike = {name: found for name, found in similar(rows).items() if found}
    way = root("runs/x/")
    html = {
        name: render("parts/similar.html", root=way, found=[(one, why(one)) for one in found])
        for name, found in alike.items()
    }
    return Similar(html, {name: tuple(one.row.id for one in found) for name, found in alike.items()})


def _unpack(data: bytes | None) -> Similar | None:
    try:
        html, ids = orjson.loads(data or b"")
        return Similar(dict(html), {name: tuple(found) for name, found in ids.items()})
    except (ValueError, TypeError, AttributeError):
        return None  # damaged or not there: found again
