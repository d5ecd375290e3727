"""A whole site from invented runs: what is written, that it is the same each time, and that it is safe."""

from __future__ import annotations

import filecmp
import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

import pytest
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config

from sitegen import mkdocs_plugin
from sitegen.errors import CardError, ConfigError
from sitegen.mkdocs_plugin.plugin import front_matter
from sitegen.model import Page
from tests.site.conftest import build
from tests.site.synthetic import HOSTILE, NOW, Synthetic, archive

PAGES = ("", "runs/", "leaderboards/", "incidents/", "rules/", "problems/", "add-a-run/", "publishing/")


def files(folder: Path) -> list[str]:
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())


def assert_equal(one: Path, two: Path) -> None:
    assert files(one) == files(two)
    different = filecmp.cmpfiles(one, two, files(one), shallow=False)[1:]
    assert different == ([], [])


class Links(HTMLParser):
    """Everything a page points to, and every id it has."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.ids: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.add(value)
            elif name in ("href", "src") and value:
                self.targets.append(value)


def pages(site: Path) -> Iterator[tuple[str, str]]:
    for file in site.rglob("*.html"):
        yield file.relative_to(site).as_posix().removesuffix("index.html"), file.read_text("utf-8")


def test_every_page_type_is_there(built: mkdocs_plugin.Built, invented: Synthetic) -> None:
    expected = [*PAGES, *(f"runs/{run}/" for run in invented.reports)]
    expected += [f"rules/{view.rule.code}/" for view in invented.report.rules]
    expected += [f"leaderboards/{board.slug}/" for board in invented.report.leaderboards]
    assert [page for page in expected if not (built.folder / page / "index.html").is_file()] == []


def test_each_run_brings_its_data(built: mkdocs_plugin.Built) -> None:
    data = built.folder / "runs/math-000/data"
    assert {file.name for file in data.iterdir()} == {"steps.parquet", "steps.csv", "charts.bin"}
    header, first, *_ = (data / "steps.csv").read_text().splitlines()
    assert '"critic/score/mean"' in header
    assert len(first.split(",")) == len(header.split(","))


def test_the_api_holds_the_same_runs_as_the_pages(built: mkdocs_plugin.Built, invented: Synthetic) -> None:
    api = built.folder / "api/v1"
    runs = json.loads((api / "runs.json").read_text())
    assert [run["run"] for run in runs["runs"]] == [row.id for row in invented.report.runs]
    assert {run["status"] for run in runs["runs"]} == {
        "healthy",
        "attention",
        "failed",
        "crashed",
        "unfinished",
    }
    incidents = json.loads((api / "incidents.json").read_text())["incidents"]
    assert len(incidents) == len(invented.report.incidents)
    board = json.loads((api / "leaderboards/best-gsm8k.json").read_text())["leaderboard"]
    assert board["entries"][0]["rank"] == 1
    assert board["left_out"][0]["why"] == "no validation of gsm8k was logged"


def test_a_run_in_the_api_has_the_fields_of_check(built: mkdocs_plugin.Built) -> None:
    document = json.loads((built.folder / "api/v1/runs/math-002.json").read_text())
    assert document["version"] == 1
    [run] = document["runs"]
    assert {"run", "status", "state", "steps", "phases", "incidents", "verdicts", "problems"} <= set(run)
    assert run["verdicts"]["CRI-01"] == "not_applicable"
    worst = run["incidents"][0]
    assert worst["id"] == "math-002/REW-03-1"
    assert worst["severity"] == "error"
    assert worst["advice"] == ["Raise `actor_rollout_ref.actor.kl_loss_coef`."]


def test_a_renamed_run_leaves_a_redirect_and_a_removed_one_a_note(built: mkdocs_plugin.Built) -> None:
    assert "../math-000/" in (built.folder / "runs/math-000-old/index.html").read_text()
    note = (built.folder / "runs/gone-run/index.html").read_text()
    assert "This run was removed on 2026-10-01" in note
    assert "Trained on a broken split." in note


def test_every_link_inside_the_site_leads_somewhere(built: mkdocs_plugin.Built) -> None:
    read = {path: Links(html) for path, html in pages(built.folder)}
    broken = []
    for path, links in read.items():
        if path == "404.html":
            continue  # is served for any address, so its links start at the root
        for target in links.targets:
            place, anchor = urldefrag(urljoin(f"http://x/sub/{path}", target))
            if not place.startswith("http://x/"):
                continue
            assert place.startswith("http://x/sub/"), f"{path}: {target} leaves the folder of the site"
            inner = unquote(place.removeprefix("http://x/sub/").split("?")[0])
            file = (
                built.folder / inner / "index.html"
                if inner.endswith("/") or not inner
                else built.folder / inner
            )
            if not file.is_file() or (anchor and inner in read and anchor not in read[inner].ids):
                broken.append(f"{path}: {target}")
    assert broken == []


def test_nothing_points_to_another_origin(built: mkdocs_plugin.Built) -> None:
    loaded = re.compile(
        r"""<(?:script|link|img|iframe|source)[^>]+(?:src|href)=["'](?:https?:)?//([^/"']+)"""
    )
    assert {host for _, html in pages(built.folder) for host in loaded.findall(html)} == set()


def test_what_a_log_says_is_never_markup(built: mkdocs_plugin.Built) -> None:
    assert any(HOSTILE[:8] in report.title for report in built.site.report.runs)
    for path, html in pages(built.folder):
        assert "<script>alert" not in html, path


def test_a_run_page_is_not_repeated_in_the_navigation(built: mkdocs_plugin.Built) -> None:
    html = (built.folder / "runs/math-000/index.html").read_text()
    assert "math-001" not in html


def test_a_warm_build_draws_nothing_and_equals_a_cold_one(
    built: mkdocs_plugin.Built, invented: Synthetic, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    invented.install(monkeypatch, tmp_path)
    warm = build(built.folder.parent, "warm")
    assert (built.site.rendered, warm.site.rendered) == (len(invented.reports), 0)
    assert_equal(built.folder, warm.folder)
    cold = build(tmp_path)
    assert cold.site.rendered == len(invented.reports)
    assert_equal(built.folder, cold.folder)


def test_a_damaged_fragment_is_drawn_again(
    invented: Synthetic, monkeypatch: pytest.MonkeyPatch, built: mkdocs_plugin.Built, tmp_path: Path
) -> None:
    some = Synthetic(dict(list(invented.reports.items())[:3]))
    some.install(monkeypatch, tmp_path)
    first = build(tmp_path)
    kept = next((tmp_path / "home/cache/fragments").iterdir())
    kept.write_bytes(kept.read_bytes()[:100])
    again = build(tmp_path, "again")
    assert again.site.rendered == 1
    assert_equal(first.folder, again.folder)


def test_plain_mkdocs_gives_the_same_site(
    built: mkdocs_plugin.Built, invented: Synthetic, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    invented.install(monkeypatch, tmp_path)
    (tmp_path / "docs").mkdir()
    packaged = mkdocs_plugin.config_file(tmp_path / "nothing").read_text("utf-8")
    (tmp_path / "mkdocs.yml").write_text(packaged, "utf-8")
    mkdocs_build(load_config(str(tmp_path / "mkdocs.yml")))
    assert_equal(built.folder, tmp_path / "site")


def test_one_run_less_takes_its_files_away(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    full = archive(3, steps=20)
    full.install(monkeypatch, tmp_path)
    build(tmp_path)
    Synthetic({run: full.reports[run] for run in ("math-000", "math-001")}).install(monkeypatch, tmp_path)
    built = build(tmp_path)
    assert (built.folder / "runs/math-001/index.html").exists()
    assert not (built.folder / "runs/math-002").exists()
    assert len(list((tmp_path / "home/cache/fragments").iterdir())) == 2


def test_an_empty_archive_says_how_to_add_a_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    Synthetic({}).install(monkeypatch, tmp_path)
    built = build(tmp_path)
    home = (built.folder / "index.html").read_text()
    assert "No runs yet" in home
    assert "mkdir -p runs/my-first-run" in home
    assert json.loads((built.folder / "api/v1/runs.json").read_text())["runs"] == []


def test_the_sitemap_is_dated_by_the_archive(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, invented: Synthetic
) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    Synthetic(dict(list(invented.reports.items())[:1])).install(monkeypatch, tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "mkdocs.yml").write_text(
        "site_name: x\nsite_url: https://example.org/sub/\ntheme: {name: material}\nplugins: [sitegen]\n"
    )
    built = build(tmp_path)
    dates = set(re.findall("<lastmod>(.*)</lastmod>", (built.folder / "sitemap.xml").read_text()))
    assert dates == {"2026-11-03"}
    assert built.site.now == NOW
    assert "SOURCE_DATE_EPOCH" not in os.environ


def test_a_site_of_ones_own_keeps_its_pages_styles_and_templates(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, invented: Synthetic
) -> None:
    Synthetic(dict(list(invented.reports.items())[:1])).install(monkeypatch, tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/team.md").write_text("# Our team\n")
    (tmp_path / "docs/own.css").write_text("/* own */")
    (tmp_path / "look").mkdir()
    (tmp_path / "look/runs.html").write_text('<p>Before.</p>{% include "sitegen/runs.html" %}')
    (tmp_path / "mkdocs.yml").write_text(
        "site_name: Ours & theirs\ntheme: {name: material}\nextra_css: [own.css]\n"
        "plugins:\n  - sitegen: {templates: look}\n"
    )
    site = build(tmp_path).folder
    assert "Our team" in (site / "team/index.html").read_text()
    runs = (site / "runs/index.html").read_text()
    assert "<p>Before.</p>" in runs
    assert runs.index("assets/site.css") < runs.index("own.css")
    assert "<title>Runs - Ours &amp; theirs</title>" in runs
    assert "fonts.googleapis" not in runs


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ("plugins:\n  - sitegen: {rnus: x}\n", "unknown key 'rnus'. Did you mean 'runs'?"),
        ("plugins: []\n", "expected the plugin; add `- sitegen` below `plugins:`"),
        ("plugins: [\n", "mkdocs.yml"),
        ("plugins:\n  - sitegen: {jobs: 0}\n", "jobs: expected a whole number"),
    ],
)
def test_wrong_settings_are_said_in_one_message(tmp_path: Path, settings: str, says: str) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "mkdocs.yml").write_text(f"site_name: x\ntheme: {{name: material}}\n{settings}")
    with pytest.raises(ConfigError, match=re.escape(says)):
        build(tmp_path)


def test_titles_are_escaped_for_yaml_and_for_html() -> None:
    page = Page("runs/x/", '<b>"\\ \x00\ud800: &', "a\nb", "", True, "run")
    assert front_matter(page).splitlines()[1:3] == [
        'title: "&lt;b&gt;&quot;\\\\ \ufffd\ufffd: &amp;"',
        'description: "a\ufffdb"',
    ]


def test_a_card_that_cannot_be_used_stays_a_fault_of_the_card(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(*_: object) -> None:
        raise CardError("cards/KL-99.md:3: no such metric")

    Synthetic({}).install(monkeypatch, tmp_path)
    monkeypatch.setattr("sitegen.reports.Reports", refuse)
    with pytest.raises(CardError, match=r"^cards/KL-99\.md:3: no such metric$"):
        build(tmp_path)
    assert not (tmp_path / "site").exists()


def test_the_folder_of_mkdocs_yml_is_used_where_no_other_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Synthetic({}).install(monkeypatch, tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "mkdocs.yml").write_text("site_name: x\nsite_dir: public\nplugins: [sitegen]\n")
    assert mkdocs_plugin.build(tmp_path / "mkdocs.yml").folder == tmp_path / "public"


def test_an_id_written_by_hand_cannot_leave_the_site(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = archive(1, steps=10)
    made.report = replace(made.report, removed=(("../../../out", "2026-01-01", "x"), ("a/b", "", "")))
    made.install(monkeypatch, tmp_path)
    site = build(tmp_path, "deep/down/site").folder
    assert not list(tmp_path.rglob("out"))
    assert {folder.name for folder in (site / "runs").iterdir() if folder.is_dir()} == {
        "math-000",
        "math-000-old",
    }
    assert "../../../out" in (site / "runs/index.html").read_text()
