from __future__ import annotations

import re
import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from markdown_it import MarkdownIt

from sitegen.charts import drawing, figures, fonts
from sitegen.errors import Problem
from sitegen.model import Evidence, Fact, Outcome, Phase, PhaseName
from sitegen.pages import report_figures, report_md
from sitegen.pages.happened import card
from sitegen.reports import assemble
from sitegen.reports.shapes import RunReport
from tests.reports.made import findings, incident, line, moved, rule, run, series

HOSTILE = (
    "<script>alert(1)</script> [x](javascript:y) `a` | *b* # $c$ ~~d~~ "
    "@all www.evil.com https://evil.com \x1b[31m"
)
COLUMNS = {
    "critic/score/mean": np.linspace(0.1, 0.9, 100),
    "actor/kl_loss": np.linspace(0.01, 0.2, 100),
    "actor/pg_loss": np.full(100, -0.01),
    "perf/throughput": np.full(100, 1000.0),
    "perf/max_memory_allocated_gb": np.full(100, 40.0),
    "timing_s/step": np.full(100, 10.0),
    "timing_s/gen": np.full(100, 6.0),
    "val-core/openai/gsm8k/acc/mean@1": np.linspace(0.2, 0.6, 100),
}


def report(*incidents: object, columns: object = COLUMNS, **changes: object) -> RunReport:
    phases = [("climb", 1, 60), ("plateau", 61, 100)]
    found = findings(*incidents, phases=phases, blind={"CRI-01": ["vf_explained_var"]})
    return assemble.report(run(**changes), found, series(columns), (), (rule(), rule("CRI-01")))


def rendered(text: str) -> str:
    """HTML as a GitHub-like reader makes it."""
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text)


def test_the_report_opens_with_title_and_verdict() -> None:
    lines = report_md.document(report()).splitlines()
    assert lines[0] == "# demo"
    assert lines[2].startswith(
        "> **Healthy: on a plateau since step 61.** Best validation 0.6 on openai/gsm8k"
    )


def test_a_part_is_there_when_there_is_something_in_it() -> None:
    full = report_md.document(report(incident()))
    headings = re.findall(r"^## (.*)$", full, re.MULTILINE)
    assert headings == [
        "Phases",
        "What happened",
        "Validation",
        "Where the time goes",
        "Efficiency and memory",
        "Not checked",
        "Read from",
    ]
    bare = report_md.document(report(columns={}, sources=()))
    assert re.findall(r"^## (.*)$", bare, re.MULTILINE) == ["Phases", "What happened", "Not checked"]


def test_the_timeline_is_in_order_of_onset_and_leads_to_the_incidents() -> None:
    text = report_md.document(
        report(incident(first=70), incident("KL-05", "error", first=20, id="demo/KL-05-1"))
    )
    assert text.index("steps 20–30") < text.index("steps 70–80")
    assert "[KL-05](#kl-05-1)" in text and "### KL-05-1" in text


def test_advice_shows_what_the_run_had_set() -> None:
    text = report_md.document(report(incident(), config={"actor_rollout_ref.actor.optim.lr": "1e-5"}))
    assert "- lower `actor_rollout_ref.actor.optim.lr` (now `1e-5`)" in text


def test_evidence_has_numbers_and_log_lines() -> None:
    evidence = moved(
        ("kl_ref", "Reference KL", 0.035, 0.14), lines=(line("cuda_oom", "CUDA out of memory ```", 31),)
    )
    text = report_md.document(report(incident(evidence=evidence)))
    assert "| Reference KL | 0.035 | 0.14 |" in text
    assert "````text\ndemo/train.log:31: CUDA out of memory ```\n````" in text


def test_problems_are_listed_with_place_and_hint() -> None:
    problem = Problem("demo/train.log", 12, "truncated", "the line ends in the middle", "copy it again")
    text = report_md.document(report(problems=(problem,)))
    assert "| `demo/train.log` | 12 | truncated | the line ends in the middle copy it again |" in text


def test_text_of_a_log_stays_text() -> None:
    problem = Problem(HOSTILE, 1, HOSTILE, HOSTILE, HOSTILE)
    hostile = incident(title=HOSTILE, message=HOSTILE, evidence=moved((HOSTILE, HOSTILE, 1.0, 2.0)))
    text = report_md.document(
        report(hostile, title=HOSTILE, hardware=HOSTILE, model=HOSTILE, problems=(problem,))
    )
    html = rendered(text)
    assert "<script" not in html and '<a href="javascript' not in html
    assert "<em>b</em>" not in html and "<s>d</s>" not in html
    assert "\x1b" not in text
    outside_code = re.sub(r"(`+).+?\1", "", text)
    assert not re.search(r"@all|www\.|https://evil", outside_code)  # mentions and bare links, to GitHub
    assert html.count("@all") == text.count("@all") + text.count("&#64;all")  # and yet they can be read


def test_every_table_has_as_many_cells_as_its_head() -> None:
    text = report_md.document(report(incident(message=HOSTILE), problems=(Problem("a|b", 1, "x", "y|z"),)))
    for block in re.split(r"\n\n", text):
        rows = [row for row in block.splitlines() if row.startswith("|")]
        cells = {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
        assert len(cells) <= 1, block


def test_the_same_run_gives_the_same_text() -> None:
    assert report_md.document(report(incident())) == report_md.document(report(incident()))


def test_figures_are_shown_where_they_were_drawn() -> None:
    text = report_md.document(report(), {"trend": "my report-trend.png"})
    assert "![Reward, KL and actor loss over the steps](my%20report-trend.png)" in text
    assert "efficiency" not in text


def test_the_trend_overlays_reward_kl_and_actor_loss() -> None:
    drawn = report_figures.drawings(report(incident(first=50)))
    trend = drawn["trend"]
    assert [curve.label for curve in trend.curves] == ["Score", "Reference KL", "Policy-gradient loss"]
    assert [(mark.step, mark.label) for mark in trend.marks] == [(50, "GRD-01")]
    assert [curve.label for curve in drawn["efficiency"].curves] == ["Throughput", "GPU memory allocated"]


def test_a_run_that_logged_nothing_gets_no_figure() -> None:
    assert report_figures.drawings(report(columns={})) == {}


@pytest.mark.parametrize("form", ["png", "svg"])
def test_a_figure_is_the_same_byte_for_byte(form: str) -> None:
    drawings = report_figures.drawings(report(incident()))
    first = figures.draw(drawings["trend"], form)
    figures.draw(drawings["efficiency"], form)  # another one in between leaves no trace
    assert figures.draw(drawings["trend"], form) == first


def test_a_page_is_written_without_matplotlib() -> None:
    program = "import sys, sitegen.pages.report_md; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_figure_survives_any_title_three_steps_and_a_constant() -> None:
    curve = drawing.Curve("Score", "", "reward", np.array([1, 2, 3]), np.array([0.5, 0.5, 0.5]))
    phases = (Phase(0, PhaseName.WARMUP, 1, 3),)
    marks = tuple(drawing.Mark(step % 3 + 1, "GRD-01", "error") for step in range(40))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = figures.draw(
            drawing.Drawing(HOSTILE + " 数学 \U0001f600 $\\frac{", "demo", (curve,), phases, marks)
        )
    assert data.startswith(b"\x89PNG")


def test_a_title_without_a_font_is_replaced() -> None:
    assert fonts.legible("plain", "id") == "plain"
    assert fonts.legible("\U00013000\U00013001", "id") == "id"
    assert fonts.legible("", "id") == "id"


def test_nothing_to_draw_is_an_error() -> None:
    with pytest.raises(ValueError, match="nothing to draw"):
        figures.draw(drawing.Drawing("t", "t", ()))


def test_what_was_not_checked_says_why() -> None:
    text = report_md.document(report())
    assert "| CRI-01 | Gradient spike | not logged: Explained variance |" in text
    assert Outcome.NOT_APPLICABLE.value not in text


def test_many_rules_that_were_not_checked_are_folded_away() -> None:
    blind = {f"ENT-{n:02}": ["entropy"] for n in range(20)}
    found = assemble.report(run(), findings(blind=blind), {}, (), ())
    text = report_md.document(found)
    assert "<details><summary>20 rules could not be checked</summary>\n\n| rule |" in text
    assert text.count("<table>") == 0 and rendered(text).count("<table>") == 3


def test_steps_are_told_with_their_span() -> None:
    resumed = report(steps=241, first_step=0, last_step=240, planned_steps=240)
    assert "| Steps | 241 (0 to 240 of 240 planned) |" in report_md.document(resumed)
    crashed = report(columns={}, steps=0, first_step=None, last_step=None, planned_steps=3)
    assert "| Steps | none of 3 planned |" in report_md.document(crashed)


@pytest.mark.filterwarnings("error")
def test_a_median_of_the_largest_numbers_is_a_number() -> None:
    text = report_md.document(report(columns={**COLUMNS, "perf/throughput": np.full(100, 1.5e308)}))
    assert "1.50e308" in text or "1.5e308" in text
    assert "| inf" not in text


def test_a_value_that_is_not_finite_is_not_called_absent() -> None:
    facts = (Fact("entropy", "Entropy", "", 0.9, float("nan")), Fact("score", "Score", "", 0.5, None))
    one = replace(incident(), evidence=Evidence(None, facts=facts))
    lines = report_md.document(report(one)).splitlines()
    assert "| Entropy | 0.9 | not finite |" in lines
    assert "| Score | 0.5 | – |" in lines
    shown = [(change.before, change.after) for change in card(one, report(one), None, drawn=False).changes]
    assert shown == [("0.9", "not finite"), ("0.5", None)]
