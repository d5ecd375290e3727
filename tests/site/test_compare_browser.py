"""Runs over each other in a real browser: chosen in tables, drawn from their files, kept in the address."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from sitegen import mkdocs_plugin
from sitegen import site as sites
from tests.browsers import served, started
from tests.site import kindred
from tests.site.barriers import LOOKS, barriers, opened
from tests.site.conftest import build

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("compare-browser")]

ONE, TWO, SLOW = "lr-1e-6-s1", "lr-1e-6-s2", "lr-5e-7-s1"
ALL = "lr-1e-6-s1,lr-1e-6-s2,lr-1e-6-s3"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started(charts=True) as found:
        yield found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> mkdocs_plugin.Built:
    place = tmp_path_factory.mktemp("kindred")
    kindred.write(place / "runs")
    broken(place / "runs" / "broken")
    validated_first(place / "runs" / "validated-first")
    return build(place)


def broken(folder: Path) -> None:
    """A run whose gradient is NaN from step 60 to 65, and that forgets everything at 150."""
    folder.mkdir()
    rows = (
        {
            "critic/score/mean": 0.2 + 0.003 * step if step < 150 else 0.0,
            "actor/grad_norm": float("nan") if 60 <= step <= 65 else 0.1,
        }
        for step in range(1, 201)
    )
    lines = [json.dumps({"step": step, "data": row}) for step, row in enumerate(rows, 1)]
    (folder / "metrics.jsonl").write_text("\n".join(lines) + "\n")


def validated_first(folder: Path) -> None:
    """Half an hour on two GPUs, validated before the first step: 101 steps, the last of which is 100."""
    folder.mkdir()
    rows = [{"val-core/task/acc/mean@1": 0.2}]
    rows += [{"critic/score/mean": 0.002 * step, "timing_s/step": 17.3} for step in range(1, 101)]
    lines = [json.dumps({"step": step, "data": row}) for step, row in enumerate(rows)]
    (folder / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "run.toml").write_text('hardware = "2 x A100"\n')


@pytest.fixture(scope="module")
def origin(site: mkdocs_plugin.Built) -> Iterator[str]:
    with served(site.folder) as address:
        yield address


class Tab:
    """A page; `noise` is what nobody should hear, `asked` every address it fetched."""

    def __init__(self, page: Page, origin: str) -> None:
        self.page, self.origin = page, origin
        self.noise, self.asked = list[str](), list[str]()
        page.on("console", lambda one: self.noise.append(one.text) if one.type == "error" else None)
        page.on("pageerror", lambda error: self.noise.append(str(error)))
        page.on("request", lambda one: self.asked.append(one.url))

    def compare(self, query: str) -> Page:
        self.page.goto(f"{self.origin}compare/{query}")
        expect(self.page.locator("html")).to_have_attribute("data-sg-compared", "alive")
        return self.page

    @property
    def query(self) -> str:
        return str(self.page.evaluate("location.search"))

    def lines(self) -> list[dict[str, object]]:
        """What the large chart draws: number of the run, points, first and last x."""
        script = """sitegen.compare.page.large.shown.map(({ number, live, seeds }) =>
            ({ number, n: live.n, from: live.x[0], to: live.x[live.n - 1], seeds: seeds || 0,
               last: live.middle[live.n - 1], low: live.low[live.n - 1], high: live.high[live.n - 1] }))"""
        found: list[dict[str, object]] = self.page.evaluate(script)
        return found


@pytest.fixture
def tab(browser: Browser, origin: str) -> Iterator[Tab]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    made = Tab(context.new_page(), origin)
    yield made
    assert made.noise == []
    context.close()


# --- choosing -----------------------------------------------------------------------------


def test_curves_are_smoothed_alike_or_not_at_all(tab: Tab) -> None:
    smoothed = "sitegen.compare.page.large.columns.map((line) => line.banded)"
    tab.compare(f"?runs={ONE},{SLOW}")
    assert tab.page.evaluate(smoothed) == [False, False]
    tab.compare(f"?runs={ONE},longer")
    assert tab.page.evaluate(smoothed) == [True, True]


def test_boxes_of_several_tables_lead_to_one_comparison(tab: Tab) -> None:
    page = tab.page
    page.goto(f"{tab.origin}runs/")
    page.get_by_label("Compare lr 1e-6 seed 1").check()
    expect(page.locator(".sg-chooser")).to_contain_text("1 run, choose one more")
    assert page.locator(".sg-go").get_attribute("href") is None
    page.goto(tab.origin)
    page.get_by_label("Compare another batch").check()
    page.locator(".sg-go").click()
    expect(page.locator("html")).to_have_attribute("data-sg-compared", "alive")
    assert tab.query.startswith("?runs=lr-1e-6-s1,lone")
    expect(page.locator(".sg-chosen > li")).to_have_count(2)


def test_runs_are_chosen_and_compared_with_keys_alone(tab: Tab) -> None:
    page = tab.page
    page.goto(f"{tab.origin}runs/")
    for name in ("lr 1e-6 seed 2", "lr 1e-6 seed 3"):
        page.get_by_label(f"Compare {name}").focus()
        page.keyboard.press("Space")
    page.locator(".sg-go").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".sg-chosen > li")).to_have_count(2)


def test_a_sorted_table_keeps_what_is_chosen(tab: Tab) -> None:
    page = tab.page
    page.goto(f"{tab.origin}runs/")
    page.get_by_label("Compare lr 1e-6 seed 1").check()
    page.get_by_role("button", name="Best").click()
    expect(page.locator("#runs tbody tr").first).to_contain_text(re.compile("0.660"))
    expect(page.get_by_label("Compare lr 1e-6 seed 1")).to_be_checked()
    page.get_by_role("button", name="Clear").last.click()
    expect(page.locator(".sg-chooser")).to_be_hidden()


# --- curves -------------------------------------------------------------------------------


def test_only_the_files_of_chosen_runs_are_fetched(tab: Tab) -> None:
    tab.compare(f"?runs={ONE},{SLOW}")
    tab.lines()
    fetched = {url.split("/runs/")[1].split("/")[0] for url in tab.asked if "charts.bin" in url}
    assert fetched == {ONE, SLOW}


def test_marks_of_incidents_say_which_they_are_and_lead_to_them_by_keys_alone(tab: Tab) -> None:
    page = tab.compare(f"?runs={ONE},broken")
    bar = page.get_by_role("toolbar", name="Onsets of incidents")
    mark = bar.get_by_role("button", name=re.compile("^run 2: GRD-04 Non-finite.*, critical$"))
    mark.focus()
    link = bar.get_by_role("link", name=re.compile("GRD-04"))
    expect(link).to_be_visible()
    page.keyboard.press("Tab")
    expect(link).to_be_focused()
    page.keyboard.press("Escape")
    expect(mark).to_be_focused()
    expect(link).to_be_hidden()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/broken/#GRD-04-1")


def test_arrows_go_from_mark_to_mark_and_tab_leaves_them(tab: Tab) -> None:
    page = tab.compare(f"?runs={ONE},broken")
    marks = page.locator(".sg-flag")
    assert marks.count() > 1
    assert marks.evaluate_all("(all) => all.filter((one) => one.tabIndex === 0).length") == 1
    marks.first.focus()
    page.keyboard.press("End")
    expect(marks.last).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(marks.nth(marks.count() - 2)).to_be_focused()


def test_marks_answer_touch_and_go_when_they_are_switched_off(browser: Browser, origin: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = Tab(context.new_page(), origin).compare(f"?runs={ONE},broken")
    marks = page.locator(".sg-flag")
    marks.first.tap()
    expect(page.locator(".sg-flagtip a").first).to_be_visible()
    sizes = marks.evaluate_all(
        "(all) => all.map((one) => one.getBoundingClientRect()).map((box) => box.width)"
    )
    assert min(sizes) >= 24
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="incidents", exact=True).evaluate("(one) => one.click()")
    expect(marks).to_have_count(0)
    context.close()


def test_each_run_is_a_line_with_all_its_steps(tab: Tab) -> None:
    tab.compare(f"?runs={ONE},lone")
    assert [(one["number"], one["n"], one["from"], one["to"]) for one in tab.lines()] == [
        (1, 240, 1, 240),
        (2, 120, 1, 120),
    ]


@pytest.mark.parametrize(("axis", "end"), [("time", 240 * 21 / 3600), ("tokens", 240 * 128_000)])
def test_runs_lie_along_wall_time_and_tokens(tab: Tab, axis: str, end: float) -> None:
    tab.compare(f"?runs={ONE},{TWO}")
    tab.page.get_by_label("x axis").select_option(axis)
    expect(tab.page).to_have_url(re.compile(f"x={axis}"))
    assert tab.lines()[0]["to"] == pytest.approx(end)


def test_the_start_of_a_phase_is_zero_for_each_run(tab: Tab) -> None:
    page = tab.compare(f"?runs={ONE},{SLOW}&from=climb")
    first = page.evaluate(
        "sitegen.compare.page.runs.map((run) => sitegen.compare.lines.begins(run, 'climb'))"
    )
    assert first[0] is not None
    assert [one["from"] for one in tab.lines()] == [1 - step for step in first if step is not None]


def test_a_run_that_lacks_the_phase_is_said(tab: Tab) -> None:
    tab.compare(f"?runs={ONE},{TWO}&from=collapse")
    expect(tab.page.locator("#curves")).to_contain_text("lr 1e-6 seed 1: has no phase “collapse”")


def test_another_metric_is_chosen_and_stays_in_the_address(tab: Tab) -> None:
    page = tab.compare(f"?runs={ONE},{TWO}")
    page.get_by_label("metric", exact=True).select_option(label="Policy entropy · actor/entropy")
    expect(page.locator(".sg-overlay figcaption")).to_contain_text("Policy entropy")
    again = tab.compare(tab.query)
    expect(again.locator(".sg-overlay figcaption")).to_contain_text("actor/entropy")


def test_a_line_is_switched_off_and_a_run_put_first(tab: Tab) -> None:
    page = tab.compare(f"?runs={ONE},{TWO}")
    page.get_by_role("button", name="line of lr 1e-6 seed 2").click()
    assert [one["number"] for one in tab.lines()] == [1]
    assert f"off={TWO}" in tab.query
    page.get_by_role("button", name="Put lr 1e-6 seed 2 first").click()
    expect(page.locator(".sg-chosen > li").first).to_contain_text("lr 1e-6 seed 2")
    assert f"runs={TWO},{ONE}" in tab.query


def test_a_drag_zooms_and_escape_shows_everything_again(tab: Tab) -> None:
    page = tab.compare(f"?runs={ONE},{TWO}")
    tab.lines()
    box = page.locator(".sg-overlay .u-over").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 60, steps=4)
    page.mouse.up()
    expect(page).to_have_url(re.compile("zoom="))
    zoom = re.findall(r"zoom=([\d.]+)\.\.([\d.]+)", tab.query)[0]
    assert [float(one) for one in zoom] == pytest.approx([61, 120], abs=3)
    page.locator(".sg-overlay .sg-live").press("Escape")
    assert "zoom" not in tab.query


def test_the_cursor_moves_with_keys_and_tells_every_run(tab: Tab) -> None:
    page = tab.compare(f"?runs={ONE},{SLOW}")
    tab.lines()
    chart = page.locator(".sg-overlay .sg-live")
    chart.press("ArrowRight")
    chart.press("ArrowRight")
    tip = page.locator(".sg-overlay .sg-tip")
    expect(tip).to_be_visible()
    expect(tip.locator("div")).to_have_count(3)
    expect(tip).to_contain_text("step 12")


# --- seeds --------------------------------------------------------------------------------


def test_seeds_are_one_line_with_the_interval_of_their_mean(tab: Tab) -> None:
    tab.compare(f"?runs={ALL},{SLOW}&seeds=mean")
    mean, single = tab.lines()
    assert (mean["seeds"], single["seeds"]) == (3, 0)
    truth = kindred.score(2, 1e-6, kindred.STEPS)  # seeds 1, 2, 3 lie evenly around that of 2
    assert mean["last"] == pytest.approx(truth, abs=0.01)
    half = 4.302653 * 0.01 / 3**0.5  # t of 2 degrees of freedom; the seeds' deviation is 0.01, and noise
    assert (float(str(mean["high"])) - float(str(mean["low"]))) / 2 == pytest.approx(half, rel=0.6)


# --- tables -------------------------------------------------------------------------------


def test_only_settings_that_differ_are_listed(tab: Tab) -> None:
    page = tab.compare(f"?runs={ONE},{SLOW}")
    settings = page.locator("#settings table")
    expect(settings).to_contain_text("actor_rollout_ref.actor.optim.lr")
    expect(settings).not_to_contain_text("train_batch_size")
    expect(settings.locator("mark", has_text=re.compile("^5e-7$"))).to_have_count(1)


def test_outcomes_and_incidents_link_to_the_runs(tab: Tab) -> None:
    page = tab.compare(f"?runs={ONE},lone")
    expect(page.locator("#outcomes tbody tr").nth(1)).to_contain_text("unfinished")
    page.locator("#incidents a", has_text="RUN-07").click()
    expect(page).to_have_url(re.compile(r"/runs/lone/#RUN-07-1$"))


def test_the_numbers_of_an_outcome_are_those_of_the_run_page(tab: Tab) -> None:
    page = tab.compare(f"?runs={ONE},validated-first")
    row = page.locator("#outcomes tbody tr").nth(1)
    _, _, _, steps, wall, hours, *_ = [cell.split("\n")[0] for cell in row.locator("td").all_inner_texts()]
    page.goto(f"{tab.origin}runs/validated-first/")
    facts = {
        box.locator("dt").inner_text(): box.locator("dd").inner_text()
        for box in page.locator(".sg-fact").all()
    }
    assert steps == "101" and facts["Steps"].startswith("101")
    assert wall == "28\u202fm 50\u202fs" and facts["Wall time"].startswith(wall)
    assert hours == "1.0" and f"{hours} GPU-h" in facts["GPUs"]


def test_the_step_where_runs_part_is_found_per_metric(tab: Tab) -> None:
    page = tab.compare(f"?runs={ONE},{SLOW}")
    page.locator("#divergence").scroll_into_view_if_needed()
    row = page.locator("#parting tbody tr", has_text="critic/score/mean")
    expect(row).to_be_visible()
    step = int(re.findall(r"step (\d+)", row.inner_text())[0])
    assert kindred.PART_AT <= step <= kindred.PART_AT + 12
    expect(page.locator("#parting tbody tr", has_text="actor/kl_loss")).to_contain_text("the very same")
    expect(page.locator("#parting tbody tr", has_text="actor/entropy")).to_contain_text("not beyond noise")
    page.locator("#divergence summary").click()
    expect(page.locator("#divergence details")).to_contain_text("3 × √(noise² + noise²)")
    row.get_by_role("button").click()
    expect(page).to_have_url(re.compile("zoom="))


# --- files --------------------------------------------------------------------------------


def test_the_overlay_is_saved_as_csv_with_every_value(tab: Tab, tmp_path: Path) -> None:
    page = tab.compare(f"?runs={ONE},lone&x=time")
    tab.lines()
    with page.expect_download() as caught:
        page.get_by_role("button", name="CSV").click()
    caught.value.save_as(tmp_path / "it.csv")
    rows = (tmp_path / "it.csv").read_text().splitlines()
    assert rows[0] == "run,title,step,h,value"
    assert len(rows) == 1 + 240 + 120


@pytest.mark.parametrize(("name", "head"), [("PNG", b"\x89PNG"), ("SVG", b"<svg")])
def test_the_overlay_is_saved_as_a_picture(tab: Tab, tmp_path: Path, name: str, head: bytes) -> None:
    page = tab.compare(f"?runs={ONE},hostile")
    tab.lines()
    with page.expect_download() as caught:
        page.get_by_role("button", name=name).click()
    caught.value.save_as(tmp_path / "it")
    assert (tmp_path / "it").read_bytes().startswith(head)
    assert b"<img" not in (tmp_path / "it").read_bytes()


# --- what is no run -----------------------------------------------------------------------


def test_an_unknown_run_is_said_and_the_others_are_shown(tab: Tab) -> None:
    page = tab.compare(f"?runs={ONE},no-such-run,{TWO}")
    expect(page.locator(".sg-faults")).to_contain_text("no-such-run is no run of this site")
    expect(page.locator(".sg-chosen > li")).to_have_count(2)


@pytest.mark.parametrize(
    "odd", ["<img src=x onerror=window.hacked=1>", "../../etc/passwd", "{{7*7}}", "javascript:alert(1)"]
)
def test_an_odd_id_is_shown_as_it_stands_and_fetches_nothing(tab: Tab, odd: str) -> None:
    page = tab.compare(f"?runs={ONE},{quote(odd)}")
    expect(page.locator(".sg-faults code")).to_have_text(odd)
    assert page.evaluate("window.hacked") is None
    assert not [url for url in tab.asked if "passwd" in url.split("?")[0] or "hack" in url.split("?")[0]]


def test_a_hostile_title_and_values_are_text(tab: Tab) -> None:
    page = tab.compare(f"?runs={ONE},hostile")
    expect(page.locator(".sg-chosen")).to_contain_text("<img src=x")
    assert page.evaluate("window.hacked") is None
    assert page.locator(".sg-compared img").count() == 0


def test_more_than_twenty_runs_are_cut_and_named(tab: Tab) -> None:
    many = ",".join(["lone", *(f"none-{k}" for k in range(20))])
    page = tab.compare(f"?runs={many}")
    expect(page.locator(".sg-faults")).to_contain_text("none-19 is left out: 20 runs at most")


def test_without_javascript_the_page_says_what_it_needs_and_leads_to_runs(
    browser: Browser, origin: str
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{origin}compare/?runs={ONE},{TWO}")
    expect(page.locator(".sg-compare")).to_contain_text("this page needs JavaScript")
    page.get_by_role("link", name="lr 1e-6 seed 1").click()
    expect(page).to_have_url(f"{origin}runs/{ONE}/")
    context.close()


def test_the_page_fits_a_narrow_screen(browser: Browser, origin: str) -> None:
    context = browser.new_context(viewport={"width": 320, "height": 700})
    page = Tab(context.new_page(), origin).compare(f"?runs={ALL},hostile")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    context.close()


# --- from a run's page --------------------------------------------------------------------


def test_a_run_page_leads_to_its_seeds(tab: Tab) -> None:
    tab.page.goto(f"{tab.origin}runs/{TWO}/")
    expect(tab.page.locator(".sg-kin")).to_contain_text("One of 3 seeds")
    tab.page.get_by_role("link", name="mean and band of the seeds").click()
    expect(tab.page.locator(".sg-chosen > li")).to_have_count(3)
    expect(tab.page.locator("html")).to_have_attribute("data-sg-compared", "alive")
    assert tab.lines()[0]["seeds"] == 3


def test_seeds_share_a_place_that_unfolds_and_is_chosen_as_one(tab: Tab) -> None:
    page = tab.page
    page.goto(f"{tab.origin}leaderboards/best-validation-gsm8k/")
    row = page.locator("#board tbody tr", has_text="n = 3 seeds").first
    expect(row).to_contain_text("lr 1e-6")
    expect(row).to_contain_text("0.640")
    expect(row).to_contain_text("± 0.025")  # t of 2 x 0.01 / sqrt(3)
    row.locator("summary").click()
    expect(row.locator("li a")).to_have_count(3)
    row.get_by_role("checkbox").check()
    expect(page.locator(".sg-chooser")).to_contain_text("3 runs")


def test_a_project_is_reached_from_its_runs_and_its_sweep_sorts(tab: Tab) -> None:
    page = tab.page
    page.goto(f"{tab.origin}runs/{ONE}/")
    page.locator(".sg-crumbs a", has_text="kin & <b>co</b>").click()
    expect(page.locator("h1")).to_have_text("kin & <b>co</b>")
    table = page.locator("#sweep-table")
    expect(table.locator("thead")).to_contain_text("lr")
    expect(table.locator("thead")).not_to_contain_text("experiment_name")
    table.locator("thead button", has_text="lr").click()
    table.locator("thead button", has_text="lr").click()
    expect(table.locator("tbody tr").first).to_contain_text("5e-7")


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_neither_comparisons_nor_projects_have_a_barrier(
    browser: Browser, origin: str, width: int, scheme: str
) -> None:
    page, found = opened(browser, width, scheme), list[str]()
    for path in ("compare/", f"compare/?runs={ALL},lone,hostile", "projects/", "runs/", f"runs/{ONE}/"):
        page.goto(origin + path)
        page.wait_for_load_state("networkidle")
        found += barriers(page)
    page.goto(f"{origin}projects/")
    page.locator(".sg-page table a").first.click()
    page.locator("#sweep-table").wait_for()
    found += barriers(page)
    page.context.close()
    assert not found, "\n".join(found)


def test_a_copy_without_a_server_compares(
    browser: Browser, site: mkdocs_plugin.Built, tmp_path: Path
) -> None:
    sites.copy(site.folder, sites.Manifest.read(site.folder).files, tmp_path / "copy")
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        tab = Tab(context.new_page(), "")
        tab.page.goto((tmp_path / "copy/runs/index.html").as_uri())
        for name in ("lr 1e-6 seed 1", "another batch"):
            tab.page.locator("#runs tbody tr", has_text=name).get_by_role("checkbox").check()
        tab.page.locator(".sg-chooser a").click()
        tab.page.wait_for_url("**/compare/index.html?runs=*")
        expect(tab.page.locator("html")).to_have_attribute("data-sg-compared", "alive")
        assert [line["n"] for line in tab.lines()] == [kindred.STEPS, kindred.STEPS // 2]
        expect(tab.page.locator("#settings")).to_contain_text("ppo_mini_batch_size")
        tab.page.locator(".sg-chosen a.sg-name").first.click()
        tab.page.wait_for_url(f"**/runs/{ONE}/index.html")
        assert tab.noise == []
