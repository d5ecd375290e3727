"""Feeds of what is new: valid, escaped, and the same for the same archive."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import feedparser
import pytest

from sitegen import mkdocs_plugin
from sitegen.model import Severity
from sitegen.reports.shapes import ArchiveReport
from sitegen.site import feeds
from sitegen.site.addresses import Addresses
from tests.site.synthetic import HOSTILE, archive

ATOM = "{http://www.w3.org/2005/Atom}"
PUBLISHED = Addresses("Ours & theirs", "https://example.org/runs-of-us")
UNPUBLISHED = Addresses("Ours & theirs")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
ABSOLUTE = re.compile(r"(https://example\.org/runs-of-us/|urn:uuid:)\S*")


@pytest.fixture(scope="module")
def report() -> ArchiveReport:
    return archive(14, steps=40).report


def faults(feed: bytes) -> list[str]:
    """What RFC 4287 asks for and `feed` lacks."""
    root = ElementTree.fromstring(feed)
    found = [] if root.tag == f"{ATOM}feed" else ["the root is no feed"]
    for part in (root, *root.iter(f"{ATOM}entry")):
        names = [child.tag.removeprefix(ATOM) for child in part]
        found += [f"{part.tag}: {names.count(one)} x {one}" for one in ("id", "title", "updated")
                  if names.count(one) != 1]  # fmt: skip
        stamp = part.findtext(f"{ATOM}updated") or ""
        found += [] if TIME.fullmatch(stamp) else [f"no time: {stamp}"]
        found += [] if ABSOLUTE.fullmatch(part.findtext(f"{ATOM}id") or "") else ["the id is no IRI"]
        alternates = [one.get("href") for one in part.findall(f"{ATOM}link") if one.get("rel") == "alternate"]
        found += [] if len(alternates) == 1 and alternates[0] else [f"alternates: {alternates}"]
    found += [] if root.findtext(f"{ATOM}author/{ATOM}name") else ["no author"]
    ids = [one.text for one in root.iter(f"{ATOM}id")]
    return found + ([] if len(ids) == len(set(ids)) else ["an id stands twice"])


@pytest.mark.parametrize("site", [PUBLISHED, UNPUBLISHED])
def test_the_feed_has_all_that_atom_asks_for(report: ArchiveReport, site: Addresses) -> None:
    assert faults(feeds.documents(report, site)["feed.xml"]) == []


def test_a_reader_of_feeds_understands_it(report: ArchiveReport) -> None:
    read = feedparser.parse(feeds.documents(report, PUBLISHED)["feed.xml"])
    assert not read.bozo
    assert read.version == "atom10"
    assert read.feed.title == "Ours & theirs"
    first = read.entries[0]
    assert first.link.startswith("https://example.org/runs-of-us/runs/math-0")
    assert first.updated_parsed[:3] == (2026, 11, 3)


def test_json_says_the_same_as_atom(report: ArchiveReport) -> None:
    both = feeds.documents(report, PUBLISHED)
    root = ElementTree.fromstring(both["feed.xml"])
    document = json.loads(both["feed.json"])
    assert document["version"] == "https://jsonfeed.org/version/1.1"
    assert document["feed_url"] == "https://example.org/runs-of-us/feed.json"
    assert [item["id"] for item in document["items"]] == [
        entry.findtext(f"{ATOM}id") for entry in root.iter(f"{ATOM}entry")
    ]
    assert all({"id", "url", "title", "content_text", "date_published"} <= set(i) for i in document["items"])


def test_runs_and_incidents_come_newest_first_and_remarks_not_at_all(report: ArchiveReport) -> None:
    found = feeds.entries(report)
    stamps = [one.stamp for one in found if one.stamp is not None]
    assert stamps == sorted(stamps, reverse=True)
    assert {"run", "incident"} == {one.labels[0] for one in found}
    assert any(row.severity == Severity.INFO for row in report.incidents)
    assert not any("LOG-02" in one.path for one in found)


def test_an_incident_leads_to_its_place_on_the_page(report: ArchiveReport) -> None:
    item = next(one for one in feeds.entries(report) if one.labels[0] == "incident")
    assert re.fullmatch(r"runs/math-\d{3}/#[A-Z]+-\d\d-1", item.path)
    assert PUBLISHED.of(item.path) == f"https://example.org/runs-of-us/{item.path}"


def test_what_a_log_says_is_text_and_signs_that_xml_cannot_hold_are_replaced(report: ArchiveReport) -> None:
    feed = feeds.documents(report, UNPUBLISHED)["feed.xml"]
    titles = [one.text or "" for one in ElementTree.fromstring(feed).iter(f"{ATOM}title")]
    [hostile] = [title for title in titles if "<script>" in title and title.startswith(("Healthy", "Att"))]
    assert "\x07" in HOSTILE and "\x07" not in hostile and "\ufffd" in hostile
    lone = replace(report.runs[0], title="a\ud800b\x00\uffff")
    with_lone = feeds.documents(replace(report, runs=(lone,), incidents=()), UNPUBLISHED)
    assert faults(with_lone["feed.xml"]) == []


def test_a_log_without_times_is_dated_1970_and_comes_last(report: ArchiveReport) -> None:
    timeless = next(row for row in report.runs if row.started_at is None)
    last = json.loads(feeds.documents(report, PUBLISHED)["feed.json"])["items"][-1]
    assert last["url"].endswith(f"/runs/{timeless.id}/")
    assert last["date_published"] == "1970-01-01T00:00:00Z"


@pytest.mark.parametrize("year", ["0001-01-01", "9999-12-31"])
def test_any_year_a_log_claims_is_a_time(report: ArchiveReport, year: str) -> None:
    from datetime import UTC, datetime

    stamp = datetime.fromisoformat(f"{year}T00:00:00").replace(tzinfo=UTC).timestamp()
    rows = (replace(report.runs[0], ended_at=stamp), replace(report.runs[1], ended_at=1e300))
    odd = replace(report, runs=rows, incidents=(), now=stamp)
    assert faults(feeds.documents(odd, UNPUBLISHED)["feed.xml"]) == []


def test_the_newest_hundred_are_enough() -> None:
    assert len(feeds.entries(archive(150, steps=12).report)) == 100


def test_an_empty_archive_has_a_feed_too() -> None:
    empty = replace(archive(1, steps=10).report, runs=(), incidents=(), now=None)
    assert faults(feeds.documents(empty, PUBLISHED)["feed.xml"]) == []


def test_every_page_leads_to_the_feeds(built: mkdocs_plugin.Built) -> None:
    link = re.compile(
        r'<link rel="alternate feed" type="application/(?:atom\+xml|feed\+json)"[^>]*href="([^"]*)"'
    )
    pages = [file for file in built.folder.rglob("*.html") if 'http-equiv="refresh"' not in file.read_text()]
    assert len(pages) > 25
    for page in pages:
        found = link.findall(page.read_text("utf-8"))
        assert [Path(one).name for one in found] == ["feed.xml", "feed.json"], page
        if page.name != "404.html":  # whose links start at the root
            assert all((page.parent / one).is_file() for one in found), page


def test_ids_depend_on_the_address_where_there_is_one_else_on_the_name() -> None:
    assert PUBLISHED.identity("runs/x/") == "https://example.org/runs-of-us/runs/x/"
    assert UNPUBLISHED.identity("runs/x/").startswith("urn:uuid:")
    assert UNPUBLISHED.identity("runs/x/") != Addresses("Other").identity("runs/x/")
