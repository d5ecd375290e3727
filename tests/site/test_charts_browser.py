"""Charts in a real browser: alive over their drawings, exact, linked, and in the address."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from sitegen import mkdocs_plugin
from sitegen import site as sites
from tests.bench.host import Host
from tests.browsers import served, started
from tests.site import charted
from tests.site.conftest import build

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("charts-browser")]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started(charts=True) as found:
        yield found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> mkdocs_plugin.Built:
    place = tmp_path_factory.mktemp("charted")
    charted.write(place / "runs")
    return build(place)


@pytest.fixture(scope="module")
def origin(site: mkdocs_plugin.Built) -> Iterator[str]:
    """A host that sends parts of files."""
    with served(site.folder, Host) as address:
        yield address


class Tab:
    """A run page whose charts are alive; `noise` is what nobody should hear."""

    def __init__(self, page: Page, origin: str) -> None:
        self.page, self.origin, self.noise = page, origin, list[str]()
        page.on("console", lambda one: self.noise.append(one.text) if one.type == "error" else None)
        page.on("pageerror", lambda error: self.noise.append(str(error)))

    def open(self, run: str, query: str = "") -> Tab:
        self.page.goto(f"{self.origin}runs/{run}/{query}")
        expect(self.page.locator("html")).to_have_attribute("data-sg-charts", "alive")
        return self

    def chart(self, metric: str) -> Locator:
        """The figure of a metric, in sight."""
        figure = self.page.locator(f"#{metric}")
        figure.scroll_into_view_if_needed()
        expect(figure).to_have_class(re.compile("sg-alive"))
        return figure

    def at(self, figure: Locator, share: float) -> None:
        """The mouse at a share of the width of a chart."""
        box = figure.locator(".u-over").bounding_box()
        assert box
        self.page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)

    def drag(self, figure: Locator, start: float, end: float) -> None:
        self.at(figure, start)
        self.page.mouse.down()
        self.at(figure, (start + end) / 2)
        self.at(figure, end)
        self.page.mouse.up()

    def told(self, figure: Locator) -> tuple[int, str]:
        """Step and exact value beside the cursor."""
        tip = figure.locator(".sg-tip")
        expect(tip).to_be_visible()
        expect(tip).not_to_contain_text("≈")
        return int(re.findall(r"step (\d+)", tip.inner_text())[0]), tip.locator(".sg-tip-value").inner_text()

    def point(self, figure: Locator, step: int) -> None:
        """The mouse where a step is on a chart."""
        share = self.page.evaluate(
            """([id, step]) => {
                const board = sitegen.charts.page;
                const chart = [...board.alive.values()].find((one) => one.figure.id === id);
                const [from, to] = chart.range;
                return (board.place.x(step) - from) / (to - from);
            }""",
            [figure.get_attribute("id"), step],
        )
        self.at(figure, share)

    def state(self, name: str) -> Any:
        """A part of what the page remembers."""
        return self.page.evaluate(f"sitegen.charts.page.state.{name}")

    def y(self, metric: str) -> Any:
        """The y axis of a chart."""
        return self.page.evaluate(
            "(id) => [...sitegen.charts.page.alive.values()].find((one) => one.figure.id === id).y", metric
        )

    def columns(self, metric: str, zoom: tuple[int, int] | None = None) -> Any:
        """What a chart draws, once its exact values are there."""
        return self.page.evaluate(
            """async ([id, zoom]) => {
                const board = sitegen.charts.page;
                const chart = [...board.alive.values()].find((one) => one.figure.id === id);
                if (zoom) board.zoom(zoom);
                await chart.sharpen();
                while (!chart.seen.exact) await new Promise((done) => setTimeout(done, 20));
                return chart.columns;
            }""",
            [metric, zoom],
        )

    @property
    def query(self) -> str:
        return self.page.evaluate("location.search")


@pytest.fixture
def tab(browser: Browser, origin: str) -> Iterator[Tab]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    made = Tab(context.new_page(), origin)
    yield made
    assert made.noise == []
    context.close()


SCORE, KL, GRAD = "m-critic-score-mean", "m-actor-kl-loss", "m-actor-grad-norm"


def test_hovering_tells_the_step_and_the_value_to_its_last_digit(tab: Tab) -> None:
    score = tab.open("long").chart(SCORE)
    tab.at(score, 0.5)
    step, value = tab.told(score)
    assert 195 <= step <= 206
    assert value == f"{charted.value(step)!r} reward units"


def test_the_cursor_is_on_every_chart_of_the_page_at_once(tab: Tab) -> None:
    score = tab.open("long").chart(SCORE)
    tab.at(score, 0.25)
    step, _ = tab.told(score)
    notes = tab.page.locator(".sg-alive figcaption .sg-at")
    assert notes.count() >= 5
    told = {text.split("@")[1].strip() for text in notes.all_inner_texts()}
    assert str(step) in told


def test_dragging_zooms_all_charts_and_the_link_shows_it_again(tab: Tab) -> None:
    score = tab.open("long").chart(SCORE)
    tab.drag(score, 0.25, 0.5)
    expect(tab.page.get_by_role("button", name=re.compile("^steps .* ×"))).to_be_visible()
    found = re.search(r"zoom=(\d+)\.\.(\d+)", tab.query)
    assert found
    first, last = int(found[1]), int(found[2])
    assert 95 <= first <= 106 and 195 <= last <= 206
    tab.open("long", tab.query).chart(KL)
    assert tab.page.evaluate("sitegen.charts.page.state.zoom") == [first, last]


def test_a_double_click_shows_all_steps_again(tab: Tab) -> None:
    score = tab.open("long", "?zoom=100..200").chart(SCORE)
    score.locator(".u-over").dblclick()
    expect(tab.page).to_have_url(re.compile("/runs/long/$"))


def test_the_keys_move_the_cursor_row_by_row_and_say_it(tab: Tab) -> None:
    score = tab.open("long").chart(SCORE)
    score.locator(".sg-live").focus()
    tab.page.keyboard.press("Home")
    assert tab.told(score) == (1, f"{charted.value(1)!r} reward units")
    for key, step in (("ArrowRight", 2), ("Shift+ArrowRight", 12), ("End", charted.ROWS), ("ArrowLeft", 399)):
        tab.page.keyboard.press(key)
        expect(score.locator(".sg-tip")).to_contain_text(re.compile(f"step {step}\\b|step {step}0\\."))
    expect(tab.page.get_by_role("status").filter(has_text="step 399")).to_contain_text(
        repr(charted.value(399))
    )


def test_the_keys_zoom_at_the_cursor_slide_and_go_back(tab: Tab) -> None:
    score = tab.open("long").chart(SCORE)
    score.locator(".sg-live").focus()
    tab.page.keyboard.press("Home")
    tab.told(score)
    tab.page.keyboard.press("+")
    tab.page.keyboard.press("+")
    first = tab.state("zoom")
    assert first[0] == 1 and 95 <= first[1] <= 106
    tab.page.keyboard.press("]")
    assert tab.state("zoom")[0] > first[0]
    tab.page.keyboard.press("Escape")
    assert tab.state("zoom") is None


def test_a_first_step_far_off_does_not_flatten_the_rest_and_is_one_key_away(tab: Tab) -> None:
    grad = tab.open("long").chart(GRAD)
    assert tab.y(GRAD)["hi"] < 1
    grad.locator(".sg-live").focus()
    tab.page.keyboard.press("f")
    full = tab.y(GRAD)
    assert (10 ** full["hi"] if full["log"] else full["hi"]) > 900
    assert f"full={GRAD}" in tab.query
    tab.page.keyboard.press("f")
    assert tab.y(GRAD)["hi"] < 1


def test_the_log_scale_of_one_chart_and_of_all(tab: Tab) -> None:
    score = tab.open("long").chart(SCORE)
    score.locator(".sg-live").focus()
    tab.page.keyboard.press("l")
    assert tab.y(SCORE)["log"] is True
    assert f"log={SCORE}" in tab.query
    tab.page.get_by_role("button", name="log y").click()
    assert tab.y("m-actor-entropy")["log"] is True
    tab.open("long", tab.query).chart(SCORE)
    assert tab.y("m-actor-entropy")["log"] is True


def test_smoothing_keeps_the_raw_values_behind_it(tab: Tab) -> None:
    tab.open("long").chart(SCORE)
    tab.page.get_by_label("smoothing").select_option("0.99")
    assert "smooth=0.99" in tab.query
    seen = tab.columns(SCORE)
    highest = max(charted.value(step) for step in range(1, 401) if step not in charted.GAP)
    assert max(y for y in seen["high"] if y is not None) == highest
    assert max(y for y in seen["line"] if y is not None) < highest
    tab.page.get_by_label("smoothing").select_option("off")
    assert tab.state("smooth") == "off"


@pytest.mark.parametrize(
    ("axis", "words"), [("time", "2 h"), ("tokens", "200\u202f000 tokens"), ("epoch", "1.99 epoch")]
)
def test_other_axes_put_the_same_step_elsewhere(tab: Tab, axis: str, words: str) -> None:
    score = tab.open("long", "?zoom=150..250").chart(SCORE)
    tab.page.get_by_label("x axis").select_option(axis)
    expect(tab.page).to_have_url(re.compile(f"x={axis}"))
    found = tab.page.evaluate(f"""() => {{
        const board = sitegen.charts.page, all = [...board.alive.values()];
        const chart = all.find((one) => one.metric.id === "{SCORE}");
        return chart.read(board.place.x(200));
    }}""")
    assert found["step"] == 200
    tab.point(score, 200)
    expect(score.locator(".sg-tip")).to_contain_text(words)


def test_every_extreme_is_in_the_picture_at_every_zoom(tab: Tab) -> None:
    tab.open("long").chart(KL)
    faults = tab.page.evaluate(f"""async () => {{
        const board = sitegen.charts.page, all = [...board.alive.values()];
        const chart = all.find((one) => one.metric.id === "{KL}");
        await chart.sharpen();
        const {{ live }} = chart.seen, faults = [];
        for (const [from, to] of [[1, 400], [50, 350], [150, 260], [190, 210], [199, 201], [1, 30]]) {{
            for (const count of [40, 90, 165, 600]) {{
                for (const smooth of ["auto", "off", 0.9]) {{
                    const seen = sitegen.charts.points.columns(live, [from, to], count, smooth, 90);
                    const inside = live.middle.filter((_, i) => live.step[i] >= from && live.step[i] <= to);
                    const high = Math.max(...seen.high.filter((one) => one !== null));
                    if (high < Math.max(...inside)) faults.push([from, to, count, smooth, high]);
                    const most = (smooth === "off" ? 4 : 1) * count + 20;
                    if (seen.x.length > most) faults.push(["many", seen.x.length, count]);
                }}
            }}
        }}
        return faults;
    }}""")
    assert faults == []


def test_nan_has_a_lane_and_a_name(tab: Tab) -> None:
    grad = tab.open("long", "?zoom=100..140").chart(GRAD)
    tab.point(grad, charted.NAN_AT)
    assert tab.told(grad) == (charted.NAN_AT, "NaN")
    line = tab.columns(GRAD, zoom=(110, 130))
    at = [i for i, x in enumerate(line["x"]) if 119 <= x <= 121]
    assert any(line["line"][i] is None for i in at)  # the line does not bridge it


def test_a_gap_stays_a_gap(tab: Tab) -> None:
    tab.open("long").chart(SCORE)
    line = tab.columns(SCORE, zoom=(280, 330))
    assert [x for x, y in zip(line["x"], line["line"], strict=True) if y is None] == [302.5]


def test_a_rewind_is_a_fork(tab: Tab) -> None:
    entropy = tab.open("rewound").chart("m-actor-entropy")
    tab.point(entropy, 70)
    assert tab.told(entropy) == (70, f"{0.3 - 70 / 1000!r} nats/token")
    expect(entropy.locator(".sg-tip")).to_contain_text(f"rewritten: {0.3 + 70 / 1000!r}")
    forks = tab.page.evaluate(
        "[...sitegen.charts.page.alive.values()].map((one) => one.forks.map((f) => f.x[0]))"
    )
    assert [60] in forks  # it leaves the line at the last step that was kept


def test_layers_are_hidden_and_shown_by_the_legend(tab: Tab) -> None:
    tab.open("long").chart(SCORE)
    band = tab.page.get_by_role("button", name="smallest to largest")
    expect(band).to_have_attribute("aria-pressed", "true")
    band.click()
    assert "off=band" in tab.query
    tab.open("long", tab.query).chart(SCORE)
    expect(band).to_have_attribute("aria-pressed", "false")


def test_an_incident_on_a_chart_leads_to_its_card(tab: Tab) -> None:
    tab.open("long").chart(KL)
    mark = tab.page.locator(f"#{KL} .sg-over-mark").first
    target = mark.get_attribute("href")
    mark.click()
    assert target and tab.page.evaluate("location.hash") == target
    expect(tab.page.locator(target)).to_be_in_viewport()


def test_a_phase_zooms_to_itself(tab: Tab) -> None:
    tab.open("long")
    phase = tab.page.locator(".sg-ribbon [data-sg-steps]").first
    first, last = (int(part) for part in (phase.get_attribute("data-sg-steps") or "").split(","))
    phase.click()
    assert tab.state("zoom") == [first, max(last, first + 2)]


def test_a_click_keeps_the_cursor_for_a_link(tab: Tab) -> None:
    score = tab.open("long", "?zoom=100..200").chart(SCORE)
    tab.point(score, 150)
    tab.page.mouse.down()
    tab.page.mouse.up()
    expect(tab.page.get_by_role("button", name="at step 150")).to_be_visible()
    assert "at=150" in tab.query
    tab.open("long", tab.query).chart(SCORE)
    expect(score.locator("figcaption .sg-at")).to_contain_text("@ 150")
    tab.page.get_by_role("button", name="at step 150").click()
    assert "at=" not in tab.query


def test_typing_finds_a_metric_in_a_fold_and_its_chart_is_alive(tab: Tab) -> None:
    tab.open("long")
    tab.page.locator("[data-sg-metrics]").get_by_label("find a metric").fill("metric_07")
    figure = tab.page.locator("#m-custom-metric-07")
    expect(figure).to_have_class(re.compile("sg-alive"))
    shown = tab.page.locator("[data-sg-metrics] .sg-chart:visible")
    assert shown.count() == 1
    tab.open("long", tab.query)
    expect(shown).to_have_count(1)


def test_words_in_any_order_and_patterns_find_metrics(tab: Tab) -> None:
    field = tab.open("long").page.locator("[data-sg-metrics]").get_by_label("find a metric")
    shown = tab.page.locator("[data-sg-metrics] .sg-chart:visible")
    field.fill("loss actor")
    expect(shown.locator("code")).to_have_text(["actor/kl_loss"])
    field.fill("/metric_0[12]$/")
    expect(shown).to_have_count(2)
    field.fill("nothing like it")
    expect(tab.page.get_by_text("No metric of this run has such a name.")).to_be_visible()
    field.fill("")
    tab.page.locator("[data-sg-group=kl]").click()
    assert "group=kl" in tab.query
    tab.open("long", tab.query)
    expect(shown.locator("code")).to_have_text(["actor/kl_loss"])


def test_full_screen_takes_further_metrics_and_is_in_the_link(tab: Tab) -> None:
    score = tab.open("long").chart(SCORE)
    score.locator(".sg-live").focus()
    tab.page.keyboard.press("g")
    dialog = tab.page.get_by_role("dialog", name="Score")
    expect(dialog).to_be_visible()
    dialog.get_by_label("add a metric").fill("actor/entropy")
    dialog.get_by_label("add a metric").press("Enter")
    other = dialog.get_by_role("button", name="Policy entropy", exact=True)
    expect(other).to_have_attribute("aria-pressed", "true")
    other.click()
    expect(other).to_have_attribute("aria-pressed", "false")
    assert f"chart={SCORE}" in tab.query and "with=m-actor-entropy" in tab.query
    tab.open("long", tab.query)
    expect(tab.page.get_by_role("dialog", name="Score")).to_be_visible()
    expect(other).to_be_visible()
    tab.page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert "chart=" not in tab.query


def test_the_question_mark_lists_the_keys(tab: Tab) -> None:
    tab.open("long").chart(SCORE).locator(".sg-live").focus()
    tab.page.keyboard.press("?")
    expect(tab.page.get_by_role("dialog", name="Keys of the charts")).to_contain_text("full screen")


def saved(tab: Tab, metric: str, entry: str) -> tuple[str, bytes]:
    """Name and bytes of what an entry of the menu of a chart saves."""
    tab.chart(metric).get_by_role("button", name="Menu of").click()
    with tab.page.expect_download() as started:
        tab.page.get_by_role("button", name=entry).click()
    return started.value.suggested_filename, Path(started.value.path()).read_bytes()


def test_csv_holds_every_value_as_it_was_logged(tab: Tab) -> None:
    name, data = saved(tab.open("long"), SCORE, "Save CSV")
    assert name == "long.critic-score-mean.csv"
    head, *rows = csv.reader(io.StringIO(data.decode()))
    assert head == ["step", "wall time h", "tokens", "epoch", "segment", "rewritten", "critic/score/mean"]
    assert {int(row[0]): float(row[-1]) for row in rows} == {
        step: charted.value(step) for step in range(1, 401) if step not in charted.GAP
    }
    assert rows[99][:3] == ["100", "1", "100000"]


def test_csv_holds_nan_and_rewritten_rows(tab: Tab) -> None:
    _, data = saved(tab.open("long"), GRAD, "Save CSV")
    rows = list(csv.DictReader(io.StringIO(data.decode())))
    assert [row["actor/grad_norm"] for row in rows if row["step"] == str(charted.NAN_AT)] == ["nan"]
    _, data = saved(tab.open("rewound"), "m-actor-entropy", "Save CSV")
    rows = list(csv.DictReader(io.StringIO(data.decode())))
    assert [(row["segment"], row["rewritten"]) for row in rows if row["step"] == "70"] == [
        ("1", ""),
        ("0", "yes"),
    ]


def test_svg_and_png_show_what_is_seen(tab: Tab) -> None:
    name, data = saved(tab.open("long"), GRAD, "Save SVG")
    assert name.endswith(".svg")
    root = ElementTree.fromstring(data)
    words = {node.text for node in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"Gradient norm", "NaN"} <= words
    name, data = saved(tab, GRAD, "Save PNG")
    assert name.endswith(".png") and data.startswith(b"\x89PNG")
    assert int.from_bytes(data[16:20], "big") > 600  # twice as sharp as the page


def test_the_menu_is_worked_with_the_keys(tab: Tab) -> None:
    score = tab.open("long").chart(SCORE)
    score.locator(".sg-live").focus()
    tab.page.keyboard.press("m")
    expect(tab.page.get_by_role("button", name="Full screen")).to_be_focused()
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("Enter")
    assert tab.y(SCORE)["log"] is True
    expect(score.get_by_role("button", name="Menu of Score")).to_be_focused()


def test_the_chart_of_an_incident_keeps_its_window_and_zooms_alone(tab: Tab) -> None:
    tab.open("long")
    figure = tab.page.locator(".sg-incident [data-sg-window]").first
    figure.scroll_into_view_if_needed()
    expect(figure).to_have_class(re.compile("sg-alive"))
    tab.drag(figure, 0.3, 0.6)
    assert tab.state("zoom") is None
    assert figure.locator(".sg-over-mark").count() <= 1


def test_a_server_that_sends_no_parts_is_asked_once(browser: Browser, site: mkdocs_plugin.Built) -> None:
    with served(site.folder) as origin:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        tab = Tab(context.new_page(), origin)
        asked: list[str] = []
        tab.page.on("request", lambda one: asked.append(one.url))
        score = tab.open("long", "?zoom=50..150").chart(SCORE)
        tab.point(score, 100)
        assert tab.told(score) == (100, f"{charted.value(100)!r} reward units")
        tab.page.get_by_role("link", name="All").click()
        tab.page.locator("#m-custom-metric-30").scroll_into_view_if_needed()
        expect(tab.page.locator("#m-custom-metric-30")).to_have_class(re.compile("sg-alive"))
        assert len([url for url in asked if url.endswith("exact.bin")]) == 1
        context.close()


def test_nothing_exact_is_fetched_before_a_chart_is_touched(tab: Tab) -> None:
    asked: list[str] = []
    tab.page.on("request", lambda one: asked.append(one.url))
    tab.open("long").chart(SCORE)
    tab.page.wait_for_timeout(300)
    assert [url for url in asked if url.endswith("exact.bin")] == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light"), (320, "dark")])
def test_charts_fit_and_live_on_every_screen(browser: Browser, origin: str, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    tab = Tab(context.new_page(), origin)
    figure = tab.open("long").chart(KL)
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    inked = figure.locator("canvas").evaluate("""(canvas) => {
        const all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        let drawn = 0;
        for (let i = 3; i < all.length; i += 4) if (all[i]) drawn += 1;
        return drawn / (all.length / 4);
    }""")
    assert inked > 0.02
    figure.get_by_role("button", name="Menu of").click()
    tab.page.get_by_role("button", name="Full screen").click()
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.noise == []
    context.close()


def test_a_finger_moves_the_cursor(browser: Browser, origin: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    tab = Tab(context.new_page(), origin)
    figure = tab.open("long", "?zoom=100..140").chart(KL)
    box = figure.locator(".u-over").bounding_box()
    assert box
    tab.page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + 30)
    step, _ = tab.told(figure)
    assert 118 <= step <= 122
    assert tab.noise == []
    context.close()


def test_the_colours_follow_the_scheme(tab: Tab) -> None:
    tab.open("long").chart(SCORE)
    before = tab.page.evaluate("sitegen.charts.page.colours.text")
    tab.page.locator("body").evaluate("body => body.setAttribute('data-md-color-scheme', 'slate')")
    tab.page.wait_for_timeout(100)
    assert tab.page.evaluate("sitegen.charts.page.colours.text") != before


def test_print_shows_the_drawings(tab: Tab) -> None:
    score = tab.open("long").chart(SCORE)
    tab.page.emulate_media(media="print")
    expect(score.locator("svg.sg-svg")).to_be_visible()
    expect(score.locator("canvas")).to_be_hidden()


def test_words_of_a_log_are_text_wherever_charts_show_them(tab: Tab) -> None:
    tab.open("hostile").page.get_by_role("link", name="All").click()
    hostile = tab.chart("m-img-src-x-onerror-alert-1-b")
    tab.point(hostile, 5)
    expect(hostile.locator(".sg-tip")).to_be_visible()
    name, data = saved(tab, "m-img-src-x-onerror-alert-1-b", "Save SVG")
    assert "/" not in name and "<" not in name
    ElementTree.fromstring(data)
    hostile.get_by_role("button", name="Menu of").click()
    tab.page.get_by_role("button", name="Full screen").click()
    assert tab.page.locator("dialog img").count() == 0


def test_without_javascript_the_drawings_are_there(browser: Browser, origin: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{origin}runs/long/")
    assert page.locator("#overview svg.sg-svg").count() >= 5
    assert page.locator(".sg-menu-open").count() == 0
    context.close()


def test_without_the_data_the_drawings_stay(browser: Browser, origin: str) -> None:
    page = browser.new_page()
    page.route("**/charts.bin", lambda route: route.fulfill(status=404, body=""))
    page.goto(f"{origin}runs/long/")
    expect(page.locator("html")).to_have_attribute("data-sg-charts", re.compile("^still:"))
    expect(page.locator("#overview svg.sg-svg").first).to_be_visible()
    page.close()


def test_a_copy_without_a_server_has_its_links_and_live_charts(
    browser: Browser, site: mkdocs_plugin.Built, tmp_path: Path
) -> None:
    sites.copy(site.folder, sites.Manifest.read(site.folder).files, tmp_path / "copy")
    faults: list[str] = []
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        page = context.new_page()
        page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto((tmp_path / "copy/index.html").as_uri())
        page.get_by_role("link", name="Runs", exact=True).first.click()
        page.locator("#runs a.sg-name", has_text="long").first.click()
        page.wait_for_url("**/runs/long/index.html")
        expect(page.locator("html")).to_have_attribute("data-sg-charts", "alive")
    assert faults == []
