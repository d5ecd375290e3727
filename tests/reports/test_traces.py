"""Which trajectories are shown, in which order their spans are, and what the tools count to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from sitegen import archive
from sitegen.model import Incident
from sitegen.reports import spantree, traces
from sitegen.reports.trajectories import TracesReport
from tests.ingest.mlflow import database
from tests.ingest.traced import Rollout, Spoken, add, turn, whole
from tests.reports.made import incident


def report(folder: Path, *rollouts: Rollout, incidents: Sequence[Incident] = ()) -> TracesReport:
    connection = database(folder / "runs/agent/mlruns.db")
    add(connection, *rollouts)
    connection.close()
    archive.update(folder / "runs", folder / "home")
    held = archive.Archive(folder / "home")
    file = held.traces("agent")
    assert file is not None
    found = traces.choose(held.run("agent"), incidents, file)
    assert found is not None
    return found


def row(span: str, parent: str | None, start: float = 0.0) -> dict[str, object]:
    return {"span": span, "parent": parent, "start_s": start}


def order(*rows: dict[str, object]) -> list[tuple[object, int, str]]:
    return [(each["span"], depth, note) for each, depth, note in spantree.ordered(rows)]


def test_a_span_is_followed_by_what_happened_in_it_by_time() -> None:
    assert order(row("c", "a", 3), row("b", "a", 2), row("a", None, 1), row("d", "b", 2.5)) == [
        ("a", 0, ""), ("b", 1, ""), ("d", 2, ""), ("c", 1, ""),
    ]  # fmt: skip


def test_a_span_without_its_parent_stands_at_the_top_and_says_so() -> None:
    assert order(row("a", None), row("x", "gone", 1)) == [("a", 0, ""), ("x", 0, spantree.MISSING)]


def test_spans_in_a_loop_are_all_there_once() -> None:
    assert order(row("a", "b"), row("b", "a", 1), row("c", "c", 2)) == [
        ("a", 0, spantree.LOOP), ("b", 1, ""), ("c", 0, spantree.LOOP),
    ]  # fmt: skip


def test_a_chain_of_any_depth_is_ordered() -> None:
    rows = [row(str(at), str(at - 1) if at else None, at) for at in range(5000)]
    assert order(*rows)[-1] == ("4999", 4999, "")


def test_trajectories_have_every_role_that_is_theirs(tmp_path: Path) -> None:
    plain = [whole(f"tr-{n:02}", turn(2), step=n) for n in range(1, 41)]
    odd = (
        whole("bad", turn(2, "boom"), step=20),
        whole("slow", turn(2), step=21, seconds=90.0),
        whole("long", [one for at in range(2, 30, 2) for one in turn(at)], step=22),
    )
    found = report(tmp_path, *plain, *odd)
    roles = {one.facts.trace: set(one.roles) for one in found.shown}
    assert {"failed", "failed call"} <= roles["bad"]
    assert "slowest" in roles["slow"] and "longest" in roles["long"]
    assert "first step" in roles["tr-01"] and "last step" in roles["tr-40"]
    assert sum("random" in each for each in roles.values()) == traces.EACH
    assert len(found.shown) <= traces.SHOWN < found.counts.traces


def test_every_failed_call_listed_leads_to_its_trajectory(tmp_path: Path) -> None:
    found = report(tmp_path, whole("a", turn(2, "boom\nlast line"), step=1), whole("b", turn(2), step=2))
    (call,) = found.failed
    assert (call.tool, call.step, call.error) == ("CalcTool", 1, "boom")
    shown = {one.anchor: one.facts.trace for one in found.shown}
    assert shown[call.anchor] == "a"


def test_tools_are_counted_over_all_trajectories(tmp_path: Path) -> None:
    rollouts = [
        whole(f"tr-{n}", turn(2, "boom" if n < 10 else "", seconds=n / 10), step=n) for n in range(1, 41)
    ]
    found = report(tmp_path, *rollouts, whole("open", [Spoken("CalcTool.execute", 2, 1, seconds=None)]))
    (tool,) = found.tools
    assert (tool.calls, tool.failed, tool.open) == (41, 9, 1)
    assert tool.rate == pytest.approx(31 / 40)
    assert (tool.p50_s, tool.p95_s, tool.longest_s) == (
        pytest.approx(2.05), pytest.approx(3.805), pytest.approx(4.0),
    )  # fmt: skip
    assert [call.duration_s for call in found.slowest] == pytest.approx([4.0, 3.9, 3.8, 3.7, 3.6])


def test_of_a_huge_trajectory_the_beginning_and_its_errors_are_shown(tmp_path: Path) -> None:
    calls = [Spoken("Server.generate", at, 1, at, 0.5) for at in range(2, 300)]
    found = report(tmp_path, whole("tr", [*calls, Spoken("T.execute", 500, 1, 400.0, 0.1, error="boom")]))
    (one,) = found.shown
    assert one.spans[-1].error is not None and one.spans[-1].error.head == "boom"
    assert (len(one.spans), one.left_out) == (traces.SPANS + 1, 300 - traces.SPANS - 1)


def test_long_texts_are_cut_in_the_middle_and_a_generation_shows_its_text(tmp_path: Path) -> None:
    said = Spoken(
        "Server.generate", 2, 1, 0.0, 0.5, "x" * 5000, {"token_ids": [1], "response_text": "an answer"}
    )
    (one,) = report(tmp_path, whole("tr", [said])).shown
    arguments, result = one.spans[1].arguments, one.spans[1].result
    assert arguments is not None and arguments.left_out == 5000 - traces.HEAD - traces.TAIL
    assert result is not None and result.head == "an answer"


def test_a_page_full_of_text_stays_of_bounded_size(tmp_path: Path) -> None:
    texts = [Spoken("T.execute", at, 1, at, 0.5, "a" * 3000, "b" * 3000) for at in range(2, 40)]
    found = report(tmp_path, *(whole(f"tr-{n}", texts, step=n) for n in range(40)))
    parts = [
        part for one in found.shown for span in one.spans for part in (span.arguments, span.result) if part
    ]
    assert sum(len(part.head) + len(part.tail) for part in parts) < 1.5 * traces.PAGE
    assert all(part.left_out for part in parts)


def around(found: TracesReport) -> list[tuple[tuple[str, ...], str, str]]:
    """Incidents with the traces before and at their onset."""
    named = {one.anchor: one.facts.trace for one in found.shown} | {"": ""}
    return [(each.incidents, named[each.before], named[each.at]) for each in found.around]


def test_an_incident_leads_to_what_the_agent_did_before_and_when_it_began(tmp_path: Path) -> None:
    rollouts = [whole(f"tr-{step}", turn(2), step=step) for step in range(10, 60, 10)]
    failed = whole("bad", turn(2, "boom"), step=30)
    validating = whole("val", turn(2, "boom"), step=20, validate=True)
    one = incident("TRC-01", "warning", 25, last=40)
    two = incident("REW-05", "warning", 25, last=60)
    found = report(tmp_path, *rollouts, failed, validating, incidents=(one, two))
    assert around(found) == [(("TRC-01-1", "REW-05-1"), "tr-20", "bad")]
    roles = {each.facts.trace: each.roles for each in found.shown}
    assert "at an incident" in roles["bad"] and "before an incident" in roles["tr-20"]


def test_an_incident_that_no_trajectory_saw_leads_nowhere(tmp_path: Path) -> None:
    rollouts = [whole(f"tr-{step}", turn(2), step=step) for step in (10, 20)]
    short = incident("GRD-01", "warning", 12, last=14)
    remark = incident("REW-05", "info", 10, last=20)
    assert around(report(tmp_path, *rollouts, incidents=(short, remark))) == []


def test_an_incident_from_the_first_traced_step_on_has_nothing_before(tmp_path: Path) -> None:
    found = report(
        tmp_path, whole("tr", turn(2), step=10), incidents=(incident("REW-05", "error", 5, last=20),)
    )
    assert around(found) == [(("REW-05-1",), "", "tr")]
