"""What the pages of rules say about how well they detect."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import pytest

from sitegen.model import Outcome
from sitegen.pages import rules
from sitegen.pages.scorecard import measured_on, percent, rate, summary
from sitegen.pages.simulated import drawings
from sitegen.reports import scorecard
from sitegen.reports.shapes import ArchiveReport, RuleView, Scorecard
from sitegen.site.rendering import renderer
from sitegen.site.templates import environment
from tests.pages.made_runs import rule
from tests.pages.rendered import Outline
from tests.reports.test_scorecard import CARD, RULE


@cache
def card(**changes: object) -> Scorecard:
    found = scorecard.read(json.dumps(CARD))
    assert found is not None
    return found


def view(**changes: object) -> RuleView:
    """KL-05 with its score."""
    known = replace(rule("KL-05", "KL jump"), params={"times": 2.0, "floor": 0.01})
    made = RuleView(known, (), dict.fromkeys(Outcome, 0), (), score=card().rules["KL-05"])
    return replace(made, **changes)  # type: ignore[arg-type]


def page(one: RuleView) -> Outline:
    found = Outline(rules.page(one, renderer(environment()), card()).html)
    assert found.faults == []
    return found


def index(*views: RuleView, measured: Scorecard | None) -> Outline:
    report = ArchiveReport((), (), (), views, (), (), None, (), measured)
    found = Outline(rules.index(report, renderer(environment())).html)
    assert found.faults == []
    return found


def test_a_rule_shows_recall_by_strength_precision_onset_and_false_alarms() -> None:
    text = page(view()).text
    assert "75 % 3 of 4; low 1/2, high 2/2" in text
    assert "75 % 3 right, 1 on healthy runs" in text
    assert "1.5 % of the run; 90th percentile 6.0 %" in text
    assert "0.02 1 on 50 runs" in text


def test_every_hit_and_miss_is_listed_with_the_command_that_makes_it_again() -> None:
    text = page(view()).text
    assert "Every hit and miss 3 hits, 1 miss; fired without reason on 1 run" in text
    assert "python -m tests.detection --show NAME" in text
    assert "kl-jump low 1 of 2 1001 kl-jump-low-1000" in text
    assert "kl-jump high 2 of 2 1000, 1001 –" in text
    assert "Fired without reason on: curriculum-1000 ." in text


def test_every_name_leads_to_the_drawing_of_its_run() -> None:
    found = page(view())
    anchors = ["run-kl-jump-low-1001", "run-kl-jump-low-1000", "run-curriculum-1000"]
    assert [link for link in found.links if link.startswith("#run-")] == [f"#{one}" for one in anchors]
    assert set(anchors) <= set(found.ids)
    assert "kl-jump-low-1000 missed; put in at steps 51–80 kl_ref 0.01 to 0.5" in found.text
    assert "kl-jump-low-1001 found 3 steps late; put in at steps 51–80" in found.text
    assert "curriculum-1000 fired without reason on steps 40–44" in found.text


def test_misses_are_drawn_first_with_what_was_put_in_and_what_was_said() -> None:
    one, alarm, two = drawings(card().rules["KL-05"])
    assert [each.outcome for each in (one, alarm, two)] == ["missed", "alarm", "found"]
    assert 'class="sg-case-band" x="120.0"' in one.svg and "sg-run-found" not in one.svg
    assert 'class="sg-run-found" x="127.2"' in two.svg
    assert 'aria-label="kl-jump-low-1001: found 3 steps late; put in at steps 51–80"' in two.svg


def test_a_run_without_a_drawing_is_named_without_a_link() -> None:
    score = replace(card().rules["KL-05"], sketches={})
    found = page(view(score=score))
    assert "kl-jump low 1 of 2 1001 kl-jump-low-1000" in found.text
    assert not [link for link in found.links if link.startswith("#run-")]


def test_a_rule_that_no_incident_exercises_says_so_plainly() -> None:
    silent = scorecard.read(json.dumps({"rules": {"KL-05": RULE | {"injected": 0, "found": 0, "runs": {}}}}))
    assert silent is not None
    text = page(view(score=silent.rules["KL-05"])).text
    assert "No simulated incident exercises this rule" in text
    assert "It raised 1 false alarm on 50 healthy simulated runs." in text
    assert "No simulated incident exercises this rule" in page(view(score=None)).text


def test_parameters_of_the_site_stand_beside_those_of_the_card() -> None:
    text = page(view(changed={"times": 3.0})).text
    assert "times = 3.0 set by this site; the card says 2.0" in text
    assert "floor = 0.01" in text and "floor = 0.01 set" not in text
    assert "The card's own parameters were used" in text
    assert "own parameters were used" not in page(view()).text


def test_runs_that_mute_the_rule_are_linked() -> None:
    found = page(view(muted=(("demo", "My <run>"),)))
    assert "muted on 1" in found.text and "My <run>" in found.text
    assert "../../runs/demo/#muted" in found.links


def test_the_overview_has_the_figures_of_all_and_of_each() -> None:
    text = index(view(), view(score=None), measured=card()).text
    assert "Measured on 54 simulated runs (4 with one of 1 kind of incident, 50 healthy)" in text
    assert "hard faults found 100 %, precision 75 %." in text
    assert "30 % of the rows lost 50 % – – – –" in text
    assert "75 % 3/4 75 % 0.02" in text and "not measured" in text


def test_without_a_scorecard_the_overview_says_nothing_about_figures() -> None:
    assert "Measured on" not in index(view(score=None), measured=None).text


@pytest.mark.parametrize(
    ("share", "says"),
    [(None, "–"), (0.0, "0 %"), (0.007, "0.7 %"), (0.955, "96 %"), (0.9999, "> 99 %"), (1.0, "100 %")],
)
def test_shares_are_percentages_and_all_means_all(share: float | None, says: str) -> None:
    assert percent(share).replace("\u202f", " ") == says


def test_rates_keep_what_is_small() -> None:
    assert [rate(value) for value in (None, 0.0, 0.0215, 0.5)] == ["–", "0", "0.021", "0.5"]


def test_a_card_of_the_set_that_is_reported_says_that_nothing_was_tuned_on_it() -> None:
    assert measured_on(card()).endswith("seeds 1000 to 1001 of set “test”, on which no rule was tuned")
    assert "tuned" not in measured_on(replace(card(), seeds=("dev", 0, 1)))
    assert summary(card().overall) == "hard faults found 100\u202f%, precision 75\u202f%"
