"""Pages of projects, and leaderboards whose seeds share places."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sitegen.charts.timeline import Dot, timeline
from sitegen.model import Page
from sitegen.pages import boards, projects
from sitegen.reports.placed import placed
from sitegen.reports.shapes import ArchiveReport, Project, Seed, SeedGroup, Varied
from sitegen.site.rendering import renderer
from sitegen.site.templates import environment
from tests.pages.rendered import Outline
from tests.site.synthetic import HOSTILE, archive

RENDER = renderer(environment())


def text(page: Page) -> str:
    outline = Outline(page.html)
    assert outline.faults == [], "unbalanced HTML"
    assert "<script" not in page.html
    return outline.text


@pytest.fixture(scope="module")
def report() -> ArchiveReport:
    plain = archive(14, steps=30).report
    rows = tuple(replace(row, project=HOSTILE) for row in plain.runs)
    ids = tuple(sorted(row.id for row in rows))
    varied = Varied("actor.optim.lr", ("critic.lr",), {ids[0]: "1e-6", ids[1]: HOSTILE})
    more = ("algorithm.gamma",)
    return replace(
        plain, runs=rows, projects=(Project(projects.slug(HOSTILE), HOSTILE, ids, (varied,), more),)
    )


def test_a_project_shows_its_statuses_what_varied_and_its_runs(report: ArchiveReport) -> None:
    listing, page = projects.pages(report, RENDER)
    shown = text(page)
    assert "14 runs" in shown
    assert "the same in critic.lr" in shown
    assert "not logged" in shown
    assert "Also differing: algorithm.gamma" in shown
    assert page.html.count('<tr data-status="') == 14
    assert "14" in text(listing)


def test_scores_are_drawn_by_date_with_a_link_per_run(report: ArchiveReport) -> None:
    page = list(projects.pages(report, RENDER))[1]
    dated = [row for row in report.runs if row.best and row.ended_at is not None]
    assert page.html.count('<a class="sg-at-') == len(dated)
    undated = sum(row.best is not None and row.ended_at is None for row in report.runs)
    assert ("without time stamps" in page.html) == bool(undated)


def test_the_line_of_a_timeline_follows_the_best_so_far() -> None:
    dots = [
        Dot(day, value, f"2026-01-0{day}", "healthy", "run", "../")
        for day, value in ((1, 0.5), (2, 0.4), (3, 0.6))
    ]
    drawn = str(timeline(dots, "score"))
    path = drawn.split('class="sg-record" d="')[1].split('"')[0]
    assert path.count("V") == 1, "a worse run moves nothing"
    assert "score of 3 runs from 2026-01-01 to 2026-01-03, best 0.6" in drawn


def test_an_archive_without_projects_has_no_page_of_them(report: ArchiveReport) -> None:
    assert list(projects.pages(replace(report, projects=()), RENDER)) == []


def test_seeds_are_one_row_that_says_n_mean_and_interval_and_unfolds(report: ArchiveReport) -> None:
    board = report.leaderboards[0]
    kin = tuple(Seed(one.run, one.title, str(k)) for k, one in enumerate(board.entries[:3]))
    shared = replace(report, places=placed([board], [SeedGroup(("data.seed",), kin)]))
    page = next(one for one in boards.pages(shared, RENDER) if one.path.endswith(f"/{board.slug}/"))
    shown = text(page)
    assert "n = 3 seeds" in shown
    assert "±" in shown
    assert "share a place" in shown
    for one in board.entries[:3]:
        assert f"runs/{one.run}/" in page.html


@pytest.mark.parametrize(
    ("titles", "name"),
    [
        (["grpo lr 1e-6 seed 1", "grpo lr 1e-6 seed 2"], "grpo lr 1e-6"),
        (["grpo-s1", "grpo-s2"], "grpo"),
        (["base", "bas"], "bas"),
        (["one", "two"], "one"),
    ],
)
def test_kin_are_called_by_what_their_names_share(titles: list[str], name: str) -> None:
    assert boards.family(titles) == name
