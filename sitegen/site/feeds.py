"""`/feed.xml` (Atom) and `/feed.json` (JSON Feed): runs and incidents, newest first.

Remarks are left out: a feed is for what somebody should hear of. Nothing in it depends on when the site
was built; a log without time stamps is dated 1970, which readers list last.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from xml.etree import ElementTree

import orjson

from sitegen.language import spoken, t
from sitegen.model import Severity
from sitegen.pages import words
from sitegen.reports.shapes import ArchiveReport, IncidentRow, RunRow
from sitegen.site.addresses import Addresses

ATOM, JSON = "feed.xml", "feed.json"
MOST = 100  # entries: months of an archive that grows daily
_NAMESPACE = "http://www.w3.org/2005/Atom"
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Entry:
    """A run or an incident as news."""

    path: str  # below the site root
    title: str
    text: str
    stamp: float | None  # Unix seconds
    labels: tuple[str, ...]


def documents(archive: ArchiveReport, site: Addresses) -> dict[str, bytes]:
    """Site path -> bytes of both feeds."""
    found = entries(archive)
    return {ATOM: atom(found, site, archive.now), JSON: json_feed(found, site)}


def entries(archive: ArchiveReport) -> tuple[Entry, ...]:
    """What is new, newest first, at most `MOST`."""
    found = [*map(_run, archive.runs)]
    found += [_incident(row) for row in archive.incidents if row.severity > Severity.INFO]
    found.sort(key=lambda one: (-(one.stamp if one.stamp is not None else float("-inf")), one.path))
    return tuple(found[:MOST])


def atom(found: tuple[Entry, ...], site: Addresses, now: float | None) -> bytes:
    """RFC 4287. `now` dates the feed."""
    root = ElementTree.Element("feed", {"xmlns": _NAMESPACE, "xml:lang": spoken()})
    _add(root, "title", site.title)
    _add(root, "subtitle", t("Runs and incidents, without remarks"))
    _add(root, "id", site.identity(ATOM))
    _add(root, "updated", _time(now))
    if site.base:
        ElementTree.SubElement(root, "link", rel="self", type="application/atom+xml", href=site.of(ATOM))
    ElementTree.SubElement(root, "link", rel="alternate", type="text/html", href=site.of(""))
    _add(ElementTree.SubElement(root, "author"), "name", site.title)
    for one in found:
        _atom_entry(root, one, site)
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    return text + b"\n"


def _atom_entry(root: ElementTree.Element, one: Entry, site: Addresses) -> None:
    entry = ElementTree.SubElement(root, "entry")
    _add(entry, "title", one.title)
    _add(entry, "id", site.identity(one.path))
    _add(entry, "updated", _time(one.stamp))
    ElementTree.SubElement(entry, "link", rel="alternate", type="text/html", href=site.of(one.path))
    _add(entry, "summary", one.text)
    for label in one.labels:
        ElementTree.SubElement(entry, "category", term=_clean(label))


def json_feed(found: tuple[Entry, ...], site: Addresses) -> bytes:
    """JSON Feed 1.1."""
    document: dict[str, object] = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": _clean(site.title),
        "description": t("Runs and incidents, without remarks"),
        "language": spoken(),
        **({"home_page_url": site.of(""), "feed_url": site.of(JSON)} if site.base else {}),
        "items": [_json_item(one, site) for one in found],
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _json_item(one: Entry, site: Addresses) -> Mapping[str, object]:
    return {
        "id": site.identity(one.path),
        "url": site.of(one.path),
        "title": _clean(one.title),
        "content_text": _clean(one.text),
        "date_published": _time(one.stamp),
        "tags": [_clean(label) for label in one.labels],
    }


def _run(row: RunRow) -> Entry:
    told = [row.headline, words.plural(row.steps, "step")]
    if row.best:
        told.append(t("Best {value} ({label})", value=words.number(row.best.value), label=row.best.label))
    text = t(" ").join(t("{sentence}.", sentence=one) for one in told)
    stamp = row.ended_at if row.ended_at is not None else row.started_at
    labels = _labels("run", str(row.status), row.model, row.algorithm)
    title = t("{status}: {run}", status=t(str(row.status)).capitalize(), run=row.title)
    return Entry(f"runs/{row.id}/", title, text, stamp, labels)


def _incident(row: IncidentRow) -> Entry:
    where = words.span(row.first, row.last)
    told = f"{row.rule} {row.title}"
    title = t("{incident}, {when}: {run}", incident=told, when=where, run=row.run_title)
    labels = _labels("incident", row.severity.word, row.rule, row.model, row.algorithm)
    return Entry(f"runs/{row.run}/#{row.id.rsplit('/', 1)[-1]}", title, row.message, row.happened_at, labels)


def _labels(*texts: str | None) -> tuple[str, ...]:
    return tuple(text for text in texts if text)


def _add(parent: ElementTree.Element, name: str, text: str) -> None:
    ElementTree.SubElement(parent, name).text = _clean(text)


def _clean(text: str) -> str:
    """`text` without what XML cannot hold, on one line."""
    return " ".join(_NO_XML.sub("\ufffd", text).split()) or words.MISSING


def _time(stamp: float | None) -> str:
    """RFC 3339 in UTC."""
    try:
        moment = datetime.fromtimestamp(int(stamp or 0), UTC)
    except (OverflowError, OSError, ValueError):  # a log may claim any year
        moment = datetime.fromtimestamp(0, UTC)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
