"""Pages that span runs: what each says about invented archives."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from sitegen.errors import Problem
from sitegen.model import BoardEntry, Outcome, Page, Status
from sitegen.pages import boards, home, incidents, problems, rules, runs
from sitegen.reports.shapes import ArchiveReport, CaseView
from sitegen.site.rendering import renderer
from sitegen.site.templates import environment
from tests.pages.rendered import Outline
from tests.site.synthetic import HOSTILE, NOW, RULES, Synthetic, archive, rule

RENDER = renderer(environment())
DAY = 86_400.0


@pytest.fixture(scope="module")
def report() -> ArchiveReport:
    return archive(14, steps=30).report


def text(page: Page) -> str:
    outline = Outline(page.html)
    assert outline.faults == [], "unbalanced HTML"
    assert len(outline.ids) == len(set(outline.ids)), "an id occurs twice"
    return outline.text


def every_page(report: ArchiveReport) -> list[Page]:
    return [
        home.page(report, RENDER),
        runs.page(report, RENDER),
        *boards.pages(report, RENDER),
        incidents.page(report, RENDER),
        *rules.pages(report, RENDER),
        problems.page(report, RENDER),
        runs.tombstone("gone", "2026-10-01", "a <b>reason</b>", RENDER),
    ]


@pytest.mark.parametrize("size", [0, 1, 14])
def test_every_page_is_whole_and_has_one_heading(size: int) -> None:
    for page in every_page(archive(size, steps=30).report):
        assert text(page)
        assert page.html.count("<h1") == 1, page.path
        assert page.title
        assert page.description


def test_no_page_lets_a_log_write_markup(report: ArchiveReport) -> None:
    for page in every_page(report):
        assert "<script" not in page.html
        assert "<b>reason" not in page.html


# --- home ---------------------------------------------------------------------------------


def aged(report: ArchiveReport, *days: float) -> ArchiveReport:
    """The report with its first runs ended that many days before now, the others long ago."""
    ages = [*days, *[400.0] * (len(report.runs) - len(days))]
    rows = tuple(
        replace(row, started_at=None, ended_at=NOW - age * DAY)
        for row, age in zip(report.runs, ages, strict=True)
    )
    ended = {row.id: row.ended_at for row in rows}
    found = tuple(replace(one, happened_at=ended[one.run]) for one in report.incidents)
    return replace(report, runs=rows, incidents=found)


def test_new_is_counted_back_from_the_newest_time_stamp(report: ArchiveReport) -> None:
    shown = text(home.page(aged(report, 0, 0.9, 1.1, 6.9, 7.1), RENDER))
    assert "Last day: 2 runs" in shown
    assert "Earlier this week: 2 runs" in shown


def test_an_archive_without_times_has_no_news(report: ArchiveReport) -> None:
    rows = tuple(replace(row, started_at=None, ended_at=None) for row in report.runs)
    found = tuple(replace(one, happened_at=None) for one in report.incidents)
    shown = text(home.page(replace(report, runs=rows, incidents=found, now=None), RENDER))
    assert "Last day: 0 runs, 0 incidents" in shown
    assert "no log in the archive carries a time stamp" in shown


def test_remarks_are_no_news(report: ArchiveReport) -> None:
    remark = next(one for one in report.incidents if one.severity.word == "info")
    only = replace(aged(report, 0), incidents=(replace(remark, happened_at=NOW),))
    assert "Last day: 1 run, 0 incidents" in text(home.page(only, RENDER))


def test_a_record_is_a_first_place_of_a_new_run_and_never_a_marked_one(report: ArchiveReport) -> None:
    board = report.leaderboards[0]
    marked = BoardEntry(1, report.runs[0].id, "marked", 0.99, 1, "open critical incident")
    clean = BoardEntry(2, report.runs[1].id, "clean", 0.9, 1, "")
    old = BoardEntry(3, report.runs[9].id, "old", 0.8, 1, "")
    entries = replace(board, entries=(marked, clean, old))
    page = home.page(replace(aged(report, 0, 0.5), leaderboards=(entries,)), RENDER)
    assert "1 record" in text(page)
    assert "clean , before: 0.800" in text(page)
    assert "0.990" not in text(page)


def test_sick_lists_crashed_and_failed_runs(report: ArchiveReport) -> None:
    sick = home.sick(report.runs)
    assert {row.status for row in sick} == {Status.CRASHED, Status.FAILED}
    assert f"Sick {len(sick)} of 14" in text(home.page(report, RENDER))


def test_an_archive_without_runs_names_what_lies_there(report: ArchiveReport) -> None:
    empty = replace(Synthetic({}).report, ignored=("a.docx", "b.bin"))
    shown = text(home.page(empty, RENDER))
    assert "No runs yet" in shown
    assert "2 files that no reader claimed" in shown


# --- runs ---------------------------------------------------------------------------------


def test_a_row_carries_what_it_is_filtered_and_sorted_by(report: ArchiveReport) -> None:
    html = runs.page(report, RENDER).html
    row = next(line for line in html.split("<tr") if "runs/math-002/" in line)
    assert 'data-status="failed"' in row
    assert 'data-algorithm="DAPO"' in row
    assert f'data-v="{report.runs[2].best.value}"' in row  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("steps", "last", "planned", "says"),
    [
        (17, 399, None, "17 to step 399"),
        (17, 399, 400, "17 to step 399 of 400"),
        (106, 105, 106, "106 of 106"),
        (100, 100, 100, "100"),
        (20, 200, 200, "20 to step 200"),
    ],
)
def test_steps_are_counted_and_the_last_one_is_named_where_it_is_another(
    report: ArchiveReport, steps: int, last: int, planned: int | None, says: str
) -> None:
    row = replace(
        report.runs[0], steps=steps, last_step=last, planned_steps=planned, best=None, gpu_hours=None
    )
    html = runs.page(replace(report, runs=(row,)), RENDER).html
    (cell,) = re.findall(rf'<td class="sg-num" data-v="{steps}">(.*?)</td>', html)
    assert " ".join(re.sub("<[^>]+>", " ", cell).split()) == says


def test_a_run_without_steps_model_or_score_has_dashes_not_zeros(report: ArchiveReport) -> None:
    bare = replace(report.runs[3], model=None, algorithm=None, best=None, spark=(), gpu_hours=None)
    html = runs.page(replace(report, runs=(bare,)), RENDER).html
    cells = [Outline(f"<table><tr>{cell}").text for cell in re.findall(r"<td.*?</td>", html, re.DOTALL)]
    assert cells.count("–") >= 4
    assert "0" not in cells


def test_incidents_weigh_by_severity_before_number() -> None:
    weigh = environment().filters["weight"]
    assert weigh({"error": 1}) > weigh({"warning": 900}) > weigh({"info": 999}) > weigh({})


# --- leaderboards -------------------------------------------------------------------------


def test_a_board_says_what_it_leaves_out_and_why(report: ArchiveReport) -> None:
    page = next(p for p in boards.pages(report, RENDER) if p.path == "leaderboards/best-gsm8k/")
    assert "no validation of gsm8k was logged" in text(page)
    assert "Higher is better" in text(page)


def test_a_marked_run_keeps_its_place_and_says_why(report: ArchiveReport) -> None:
    page = next(p for p in boards.pages(report, RENDER) if p.path == "leaderboards/best-gsm8k/")
    assert "marked: open critical incident REW-03" in text(page)


def test_the_list_of_boards_says_why_a_run_is_marked(report: ArchiveReport) -> None:
    page = next(p for p in boards.pages(report, RENDER) if p.path == "leaderboards/")
    assert "marked: open critical incident REW-03" in text(page)


def test_boards_without_an_entry_are_listed_apart(report: ArchiveReport) -> None:
    empty = replace(report.leaderboards[0], slug="nothing", title="Nobody logged this", entries=())
    index, *_ = boards.pages(replace(report, leaderboards=(*report.leaderboards, empty)), RENDER)
    assert "Nothing to rank 1 board" in text(index)
    assert 'href="nothing/"' in index.html


# --- incidents ----------------------------------------------------------------------------


def test_an_incident_links_to_its_anchor_on_the_run_page(report: ArchiveReport) -> None:
    assert 'href="../runs/math-002/#REW-03-1"' in incidents.page(report, RENDER).html


def test_an_archive_without_incidents_does_not_claim_health(report: ArchiveReport) -> None:
    shown = text(incidents.page(replace(report, incidents=()), RENDER))
    assert "No rule fired" in shown
    assert "What could not be checked is on each run's page" in shown


def test_many_values_of_a_facet_become_a_list(report: ArchiveReport) -> None:
    one = report.incidents[0]
    many = tuple(replace(one, id=f"r/KL-{n:02d}-1", rule=f"KL-{n:02d}") for n in range(12))
    html = incidents.page(replace(report, incidents=many), RENDER).html
    assert "any of 12" in html


# --- rules --------------------------------------------------------------------------------


def rule_page(report: ArchiveReport, code: str) -> Page:
    return next(page for page in rules.pages(report, RENDER) if page.path == f"rules/{code}/")


def test_a_rule_page_counts_what_could_not_be_checked_apart(report: ArchiveReport) -> None:
    assert "could not check 14" in text(rule_page(report, "CRI-01"))
    view = next(view for view in report.rules if view.rule.code == "CRI-01")
    assert view.outcomes == {Outcome.NOT_APPLICABLE: 14}


def test_prose_of_a_card_is_markdown_and_its_html_is_text(report: ArchiveReport) -> None:
    html = rule_page(report, "KL-05").html
    assert "<em>drifts</em>" in html
    assert "&lt;b&gt;not bold&lt;/b&gt;" in html


def test_a_rule_page_leads_to_every_run_it_fired_on(report: ArchiveReport) -> None:
    html = rule_page(report, "KL-05").html
    fired = next(view for view in report.rules if view.rule.code == "KL-05").fired
    assert fired
    assert all(f'href="../../runs/{one.run}/#KL-05-1"' in html for one in fired)


@pytest.mark.parametrize(
    ("persist", "exit", "says"),
    [
        ((1, 1), 0, "Opens in the first row in which the condition holds."),
        ((3, 5), 10, "holds in 3 of 5 rows in a row, at the first of them. Closes after 10 rows of calm"),
        ((4, 4), 0, "holds in all 4 rows in a row"),
    ],
)
def test_the_condition_is_said_in_words(persist: tuple[int, int], exit: int, says: str) -> None:
    card = replace(rule(*RULES[1]), persist=persist, exit=exit, mute=True)
    said = " ".join(rules.condition(card))
    assert says in said
    assert said.endswith("Silent during warm-up.")


@pytest.mark.parametrize(
    ("case", "says"),
    [
        (CaseView("a", {}, (), "silent"), "stays silent"),
        (CaseView("a", {}, (), "not_applicable"), "cannot be checked"),
        (CaseView("a", {}, (), "fires"), "fires"),
        (CaseView("a", {}, ((3, 9), (12, 12)), "fires"), "fires on rows 3–9, 12"),
    ],
)
def test_a_case_says_what_is_expected_of_it(report: ArchiveReport, case: CaseView, says: str) -> None:
    view = replace(report.rules[0], cases=(replace(case, series={"kl_ref": (0.1, None, 0.2)}),))
    assert f"a {says} kl_ref 0.1 to 0.2" in text(rules.page(view, RENDER))


def test_unknown_groups_are_listed_under_their_prefix(report: ArchiveReport) -> None:
    odd = replace(report.rules[0], rule=replace(report.rules[0].rule, code="ZZZ-01"))
    index, *_ = rules.pages(replace(report, rules=(odd,)), RENDER)
    assert "ZZZ ZZZ-01" in text(index)


# --- problems -----------------------------------------------------------------------------


def test_problems_are_grouped_by_run_with_path_line_and_hint(report: ArchiveReport) -> None:
    shown = text(problems.page(report, RENDER))
    assert "math-001/train.log:12 The line ends in a number. Keep it." in shown
    assert shown.index("The archive itself") < shown.index("math-001/train.log")


def test_files_that_nobody_claimed_are_named(report: ArchiveReport) -> None:
    shown = text(problems.page(report, RENDER))
    assert "weights/model.safetensors" in shown
    assert "2 files not claimed" in shown


def test_nothing_to_complain_about_is_said(report: ArchiveReport) -> None:
    assert "Everything was read." in text(problems.page(replace(report, problems=(), ignored=()), RENDER))


def test_a_hostile_message_stays_text(report: ArchiveReport) -> None:
    bad = Problem(HOSTILE, 1, "unreadable", HOSTILE, HOSTILE)
    assert "&lt;script&gt;" in problems.page(replace(report, problems=(("", bad),)), RENDER).html
