"""A run page answers in five seconds what happened, and hides nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sitegen.errors import Problem
from sitegen.model import LogLine, Mute, Muted, Outcome, Verdict
from sitegen.pages.happened import checks
from tests.pages import made_runs, rendered
from tests.pages.rendered import Outline, outline

EVERY = sorted(made_runs.ALL)


@pytest.mark.parametrize("name", EVERY)
def test_every_kind_of_run_gives_well_formed_html(name: str) -> None:
    assert not outline(name).faults


@pytest.mark.parametrize("name", EVERY)
def test_ids_are_unique_and_links_within_the_page_lead_somewhere(name: str) -> None:
    found = outline(name)
    assert len(found.ids) == len(set(found.ids))
    assert {link[1:] for link in found.links if link.startswith("#")} <= set(found.ids)


@pytest.mark.parametrize("name", EVERY)
def test_links_stay_within_the_site(name: str) -> None:
    outside = [link for link in outline(name).links if link.startswith(("/", "http", "javascript"))]
    assert not outside


def test_the_page_lies_at_the_run_id() -> None:
    assert rendered.made("sick").path == "runs/math-grpo-qwen3/"


def test_the_verdict_comes_before_facts_phases_incidents_and_metrics() -> None:
    html = rendered.made("sick").html
    order = ["sg-crumbs", "<h1>", "sg-verdict", "sg-facts", "sg-ribbon", "what-happened", 'id="metrics"']
    order += ['id="validation"', 'id="timing"', 'id="provenance"', 'id="downloads"']
    places = [html.index(part) for part in order]
    assert places == sorted(places)


def test_what_to_do_first_is_said_above_the_fold() -> None:
    text = outline("sick").text
    assert "Do first: Read the samples before and after the onset." in text


def test_six_facts() -> None:
    text = outline("sick").text
    assert "Best validation 0.842 gsm8k, step 350" in text
    assert "Steps 600 of 600 planned" in text
    assert "GPUs 8 × H100 115 GPU-h" in text
    assert "Algorithm GRPO verl 0.9.1 · a1b2c3d4" in text


def test_every_incident_is_an_anchor_with_its_rule_numbers_causes_and_advice() -> None:
    found = outline("sick")
    assert {"REW-03-1", "GRD-01-1", "RUN-07-1", "LOG-03-1"} <= set(found.ids)
    assert "../../rules/REW-03/" in found.links
    assert "reference KL 0.035 → 0.14 nats/token" in found.text
    assert "KL control is too weak." in found.text


def test_a_card_says_what_its_numbers_before_and_after_are() -> None:
    said = "medians of the rows just before the onset and of those within the incident"
    card = rendered.made("sick").html.split('id="REW-03-1"')[1].split("</article>")[0]
    assert said in card
    ended = rendered.made("sick").html.split('id="RUN-07-1"')[1].split("</article>")[0]
    assert said not in ended


def test_config_keys_in_advice_show_what_the_run_used() -> None:
    assert "actor_rollout_ref.actor.kl_loss_coef (now 0.001)" in outline("sick").text


def test_incidents_come_worst_first_and_remarks_are_folded() -> None:
    html = rendered.made("sick").html
    places = [html.index(f'id="{one}"') for one in ("REW-03-1", "GRD-01-1", "remarks", "RUN-07-1")]
    assert places == sorted(places)


def test_an_evidence_chart_shows_the_value_that_broke_the_rule() -> None:
    card = rendered.made("sick").html.split('id="GRD-01-1"')[1].split("</article>")[0]
    assert "sg-out" not in card
    assert "GRD-01 limit 0.5" in card


def test_log_lines_of_an_incident_say_where_they_stand() -> None:
    assert "math/nohup.out:1204" in outline("sick").text


def test_what_could_not_be_checked_is_counted_and_never_called_clear() -> None:
    text = outline("sick").text
    assert "10 rules: 4 fired, 3 clear, 3 could not be checked" in text
    assert "CRI-02 Critic cannot learn not logged: vf_loss , vf_explained_var" in text
    assert "no row could be evaluated: shorter than the window" in text


def test_a_run_that_no_rule_could_judge_is_not_called_well() -> None:
    text = outline("three").text
    assert "no rule could say that all is well" in text
    assert "Nothing to act on" not in text


def test_a_healthy_run_says_so_as_plainly() -> None:
    text = outline("healthy").text
    assert "Healthy: converged at step 300." in text
    assert "Nothing to act on." in text


def test_every_metric_is_drawn_once() -> None:
    html = rendered.made("many").html
    assert html.count("<figure") == 400
    assert "All 400" in html


def test_metrics_of_the_overview_are_linked_from_their_group_not_drawn_twice() -> None:
    group = rendered.made("sixty").html.split('id="group-policy"')[1].split("</details>")[0]
    assert 'href="#m-actor-grad-norm"' in group
    assert 'id="m-actor-grad-norm"' not in group


def test_a_run_with_one_fold_of_charts_and_no_overview_opens_it() -> None:
    base = made_runs.sick()
    views = tuple(replace(view, overview=False) for view in base.metrics[:1])
    html = rendered.page(replace(base, metrics=views)).html
    assert '<details class="sg-fold sg-group" id="group-reward" open>' in html


def test_missing_parts_say_that_the_run_did_not_log_them() -> None:
    text = outline("sft").text
    assert "Best validation not logged by this run" in text
    assert "Not logged by this run: there is no timing_s/… in its logs." in text


def test_a_crash_before_the_first_step_has_a_page_as_good_as_any() -> None:
    found = outline("crash")
    assert "Crashed before the first step: GPU out of memory." in found.text
    assert "Tried to allocate 37.1 GiB <b>& 2 GiB</b> free" in found.text
    assert "Steps 0 no training step was logged" in found.text
    assert "before the first step ·" in found.text
    assert "svg" not in found.tags


def test_nan_at_the_end_is_said_in_the_caption() -> None:
    assert "NaN at the end" in outline("nan").text


def test_resumes_are_listed_and_rewritten_rows_counted() -> None:
    text = outline("rewound").text
    assert "rows rewritten by a later segment, drawn dashed" in text
    assert "2 161–330 170 rewind math/part1.out" in text


def test_what_could_not_be_read_is_shown_with_its_place_and_a_hint() -> None:
    text = outline("sick").text
    assert "math/nohup.out:3120 truncated" in text
    assert "fetch the full log from the cluster" in text


def test_values_of_tensorboard_are_called_float32() -> None:
    base = made_runs.sick()
    assert "float32" not in rendered.page(base).html
    events = replace(base.run.sources[0], path="math/events.out.tfevents.17.h.1.0", format="tensorboard")
    html = rendered.page(replace(base, run=replace(base.run, sources=(*base.run.sources, events)))).html
    assert html.count(">float32<") == 1


def test_a_long_name_is_told_in_full() -> None:
    report = made_runs.long_name()
    assert f"<h1>{report.run.title}</h1>" in rendered.page(report).html


def test_a_run_that_is_still_written_says_as_of_which_step() -> None:
    base = made_runs.three_steps()
    assert (
        "still being written, as of step 3"
        in Outline(rendered.page(replace(base, run=replace(base.run, growing=True))).html).text
    )


def test_notes_are_markdown_without_raw_html() -> None:
    base = made_runs.sick()
    html = rendered.page(replace(base, run=replace(base.run, notes="**Do not** use <script>x</script>"))).html
    assert "<strong>Do not</strong>" in html
    assert "<script>x" not in html


def test_downloads_are_relative_to_the_page() -> None:
    links = outline("sick").links
    assert links[-4:] == [
        "data/steps.parquet",
        "data/steps.csv",
        "../../api/v1/runs/math-grpo-qwen3.json",
        "index.md",
    ]


def test_a_run_of_one_step_shows_numbers_instead_of_dots() -> None:
    found = outline("one")
    assert "One step was logged, step 7" in found.text
    assert "Policy entropy actor/entropy 0.085 nats/token" in found.text
    assert "figure" not in found.tags


def test_a_second_incident_of_a_rule_points_to_the_advice_of_the_first() -> None:
    base = made_runs.sick()
    again = replace(base.incidents[0], id=f"{base.run.id}/REW-03-2", first=550)
    found = Outline(rendered.page(replace(base, incidents=(*base.incidents, again))).html)
    assert found.text.count("KL control is too weak.") == 1
    assert "Causes and what to do: as for REW-03-1" in found.text


def test_a_muted_finding_is_folded_and_shown_with_its_reason() -> None:
    base = made_runs.sick()
    spike = base.incidents[1]
    muted = Muted(spike, "the clip was off <b>on purpose</b>")
    made = replace(base, incidents=(base.incidents[0], *base.incidents[2:]), muted=(muted,))
    found = Outline(rendered.page(made).html)
    assert "1 muted finding GRD-01 Gradient spike; not counted, by this run's run.toml" in found.text
    assert "muted warning" in found.text
    assert "Muted because: the clip was off <b>on purpose</b> Gradient norm 0.71" in found.text
    assert "GRD-01-1" in found.ids and "muted" in found.ids
    assert not found.faults


def test_a_mute_that_hides_nothing_is_told_too() -> None:
    base = made_runs.sick()
    clear = next(one.rule for one in base.verdicts if one.outcome is Outcome.CLEAR)
    mutes = (Mute(clear, "it is off in this run"), Mute("XYZ-01", "no rule"))
    text = Outline(rendered.page(replace(base, run=replace(base.run, mutes=mutes))).html).text
    assert f"also mutes {clear}" in text and "which found nothing: it is off in this run" in text
    assert "XYZ-01" not in text


def test_remarks_are_counted_by_rule() -> None:
    base = made_runs.sick()
    remark = base.incidents[-1]
    many = tuple(replace(remark, id=f"{base.run.id}/LOG-03-{n}") for n in (1, 2, 3))
    assert "3 remarks LOG-03 Step gap (3)" in Outline(rendered.page(replace(base, incidents=many)).html).text


def test_a_ratio_has_no_threshold_on_the_axis_of_its_metric() -> None:
    base = made_runs.sick()
    ratio = replace(
        base.incidents[0],
        value=4.0,
        threshold=2.0,
        evidence=replace(base.incidents[0].evidence, values=(4.0,) * 11),
    )
    html = rendered.page(replace(base, incidents=(ratio,))).html
    assert "REW-03 limit" not in html


def test_minor_validation_metrics_are_folded() -> None:
    base = made_runs.sick()
    minor = tuple(replace(base.validation[0], name=f"val-aux/{n}", core=False) for n in range(3))
    text = Outline(rendered.page(replace(base, validation=(*base.validation, *minor))).html).text
    assert "3 further validation metrics" in text


HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7 * 7 }}'


def test_text_of_logs_never_becomes_html() -> None:
    base = made_runs.sick()
    run = replace(
        base.run, title=HOSTILE, project=HOSTILE, model=HOSTILE, tags=(HOSTILE,), owner=HOSTILE,
        commit=HOSTILE, config={HOSTILE: HOSTILE},
        segments=tuple(replace(one, source=HOSTILE) for one in base.run.segments),
    )  # fmt: skip
    bad = replace(
        base.incidents[0], title=HOSTILE, message=HOSTILE, causes=(HOSTILE,), advice=(HOSTILE, f"`{HOSTILE}`")
    )
    metric = replace(base.metrics[0], metric=replace(base.metrics[0].metric, title=HOSTILE, unit=HOSTILE))
    html = rendered.page(
        replace(
            base, run=run, headline=HOSTILE, sentence=HOSTILE, incidents=(bad,), metrics=(metric,),
            problems=(Problem(HOSTILE, 1, HOSTILE, HOSTILE, HOSTILE),),
            log_lines=(LogLine(HOSTILE, 1, None, "error", HOSTILE, 1, HOSTILE),),
            verdicts=(Verdict(HOSTILE, Outcome.NOT_APPLICABLE, (HOSTILE,), HOSTILE),),
        )
    ).html  # fmt: skip
    found = Outline(html)
    assert not found.faults
    assert "script" not in found.tags
    assert found.tags.count("img") == 2  # the badges
    assert "49" not in found.text.split()


def test_the_same_report_gives_the_same_bytes() -> None:
    first, second = (rendered.page(made_runs.sick()).html for _ in range(2))
    assert first == second


def test_a_run_too_long_for_the_rules_says_how_they_looked_at_it() -> None:
    assert "one step in" not in outline("sick").text
    long = replace(made_runs.ALL["sick"](), stride=3)
    assert checks(long).sentence.endswith("3 could not be checked; they looked at one step in 3")


@pytest.mark.parametrize("name", EVERY)
def test_a_search_reads_a_fact_and_its_value_as_two_words(name: str) -> None:
    assert "</dt><dd" not in rendered.made(name).html


def test_incidents_of_one_event_share_a_card() -> None:
    base = made_runs.sick()
    drops = tuple(
        replace(
            base.incidents[0],
            id=f"{base.run.id}/VAL-02-{n}",
            rule="VAL-02",
            first=400 + n,
            message=f"set {n} fell",
        )
        for n in (1, 2, 3)
    )
    found = Outline(rendered.page(replace(base, incidents=drops)).html)
    assert found.tags.count("article") == 1
    assert [one for one in found.ids if one.startswith("VAL-02-")] == [
        "VAL-02-1",
        "VAL-02-1-title",
        "VAL-02-2",
        "VAL-02-3",
    ]
    assert "set 2 fell." in found.text and "set 3 fell." in found.text


def test_two_incidents_or_far_apart_ones_have_cards_of_their_own() -> None:
    base = made_runs.sick()
    apart = tuple(
        replace(base.incidents[0], id=f"{base.run.id}/REW-03-{n}", first=200 * n) for n in (1, 2, 3)
    )
    assert Outline(rendered.page(replace(base, incidents=apart)).html).tags.count("article") == 3
    two = tuple(replace(base.incidents[0], id=f"{base.run.id}/REW-03-{n}") for n in (1, 2))
    assert Outline(rendered.page(replace(base, incidents=two)).html).tags.count("article") == 2
