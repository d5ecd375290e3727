"""Trajectories and tools as a page: text stays text, what is not shown is said."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from sitegen.model import Page, Traced
from sitegen.pages import report_md, report_traces, traces
from sitegen.reports.shapes import RunReport
from sitegen.reports.trajectories import (
    Around,
    CallView,
    SpanView,
    ToolView,
    TracesReport,
    TrajectoryFacts,
    TrajectoryView,
)
from sitegen.reports.visible import excerpt
from sitegen.site import api
from sitegen.site.rendering import renderer
from sitegen.site.templates import environment
from tests.pages import made_runs, made_samples, rendered
from tests.pages.rendered import Outline


def span(text: str, **more: object) -> SpanView:
    part = excerpt(text, 500, 150)
    return replace(SpanView("T.execute", "tool", "ok", 1, 0.5, 0.25, part, part, None, ""), **more)  # type: ignore[arg-type]


def report(*spans: SpanView, traced: int = 9, name: str = "T", error: str = "boom") -> RunReport:
    counts = Traced(traced, 30, 12, 3, 1, 4)
    facts = TrajectoryFacts("tr-1", 3, 1, 2, False, 5, 1, 2, 1, 1, 2.0)
    found = TracesReport(
        counts=counts,
        tools=(ToolView(name, 12, 3, 2, 0.004, 1.5, 75.0),),
        slowest=(CallView(name, 3, 75.0, "", ""),),
        failed=(CallView(name, 3, 0.25, error, "t1"),),
        shown=(TrajectoryView("t1", ("failed",), facts, spans, 3),),
    )
    run = made_runs.ALL["sick"]()
    return replace(run, run=replace(run.run, traces=(counts,)), traces=found)


def page(made: RunReport) -> Page:
    found = traces.page(made, renderer(environment()))
    assert found is not None
    return found


@pytest.mark.parametrize("text", ["4", made_samples.HOSTILE, "\n\n", "x " * 5000, "﷽" * 3000])
def test_any_text_gives_well_formed_html(text: str) -> None:
    found = Outline(
        page(report(span(text), span(text, name=text[:99]), name=text[:99], error=text[:99])).html
    )
    assert not found.faults
    assert len(found.ids) == len(set(found.ids))
    assert {link[1:] for link in found.links if link.startswith("#")} <= set(found.ids)
    assert not {"script", "img"} & set(found.tags)
    assert not [link for link in found.links if "javascript" in link]


def test_the_tools_stand_in_numbers() -> None:
    text = Outline(page(report(span("4"))).html).text
    assert "T 12 70.0 % 3 2 4 ms 1.5 s" in text
    assert "2 more failed calls in traces.parquet" in text


def test_what_is_not_shown_is_said() -> None:
    text = Outline(page(report(span("4"))).html).text
    assert "1 trajectory is shown here" in text and "8 others are not shown" in text
    assert "3 more spans of this trajectory in traces.parquet, as trace tr-1" in text
    assert "not shown" in text  # the slowest call's trajectory


def test_a_failed_call_is_marked_by_a_word_and_shows_its_error() -> None:
    bad = span("4", status="error", result=None, error=excerpt("RuntimeError: boom", 500, 150))
    text = Outline(page(report(bad)).html).text
    assert "T.execute tool call 250 ms failed" in text and "Error RuntimeError: boom" in text


def test_a_span_without_an_end_or_a_place_says_so() -> None:
    lost = span("4", duration_s=None, status="open", note="its parent is gone")
    assert "no end (its parent is gone)" in Outline(page(report(lost)).html).text


def test_a_span_whose_tracer_keeps_no_times_says_so() -> None:
    text = Outline(page(report(span("4", start_s=None, duration_s=None))).html).text
    assert "T.execute tool call not timed" in text and "no end" not in text.lower().replace(
        "no end median", ""
    )


def test_the_run_page_leads_to_the_traces() -> None:
    found = Outline(rendered.page(report(span("4"))).html)
    assert {"traces/", "data/traces.parquet"} <= set(found.links)
    assert "9 trajectories of steps 1–4 with 12 tool calls, 3 of which failed" in found.text
    assert "traces/" not in Outline(rendered.page(made_runs.ALL["sick"]()).html).links


def test_a_run_without_traces_has_no_such_page() -> None:
    assert traces.page(made_runs.ALL["sick"](), renderer(environment())) is None


def test_an_incident_leads_to_the_trajectory_of_its_step_and_back() -> None:
    run = report(span("4"))
    assert run.traces is not None
    found = replace(run, traces=replace(run.traces, around=(Around(("REW-03-1",), "", "t1"),)))
    made = Outline(rendered.page(found).html)
    assert "traces/#t1" in made.links and "What the agent did when it began" in made.text
    back = Outline(page(found).html)
    assert "../#REW-03-1" in back.links and "The first trajectory since REW-03-1 began." in back.text


def test_the_report_has_the_tools_and_the_calls_to_look_at() -> None:
    text = report_traces.section(report(span("4"), name="a|b", error="boom <b>"))
    assert "| a\\|b | 12 | 70.0\u202f% | 3 | 4 ms | 1.5 s | 1\u202fm 15\u202fs |" in text
    assert "Calls that failed:" in text and "| a\\|b | 3 | 250 ms | boom &lt;b&gt; |" in text
    assert "Slowest calls:" in text
    assert report_traces.section(made_runs.ALL["sick"]()) == ""
    assert "## Traces" in report_md.document(report(span("4")))


def test_the_document_of_a_run_has_them_as_data() -> None:
    found = orjson.loads(api.run_document(report(span("4"))))["runs"][0]["traces"]
    assert (found["traces"], found["calls"], found["failed"]) == (9, 12, 3)
    assert found["tools"][0]["success_rate"] == 0.7 and found["tools"][0]["p95_s"] == 1.5
    assert found["failed_calls"] == [{"tool": "T", "step": 3, "duration_s": 0.25, "error": "boom"}]
    assert orjson.loads(api.run_document(made_runs.ALL["sick"]()))["runs"][0]["traces"] is None
