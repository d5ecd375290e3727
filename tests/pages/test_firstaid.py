"""What the top of a run page says to do first, and what to change."""

from __future__ import annotations

from dataclasses import replace

from sitegen.pages import firstaid
from sitegen.reports.shapes import Compared, Difference, NoteView, RunReport
from tests.pages import made_runs, rendered
from tests.reports import made

LR = "actor_rollout_ref.actor.optim.lr"
CLIP = "actor_rollout_ref.actor.grad_clip"
STOP = "Stop. Read `trainer.rollout_data_dir`."


def sick(*advice: str, root: tuple[str, ...] = (), **changes: object) -> RunReport:
    """A run whose collapse gives `advice`, begun by a jump that gives `root`."""
    base = made_runs.ALL["sick"]()
    found = (
        made.incident("REW-05", "critical", 116, advice=advice),
        made.incident("KL-05", "error", 114, advice=root),
    )
    config = {LR: "24.0", CLIP: "1e9", "trainer.rollout_data_dir": "dumps"}
    return replace(base, run=replace(base.run, config=config), incidents=found, root="KL-05-1", **changes)  # type: ignore[arg-type]


def test_the_root_says_what_to_change_before_the_incident_of_the_headline() -> None:
    found = firstaid.change(sick(STOP, f"Lower `{CLIP}`.", root=(STOP, f"Lower `{LR}`.")))
    assert found is not None
    assert "Lower" in found.text and "(now 24.0)" in found.text
    assert found.anchor == "KL-05-1"


def test_what_is_set_as_in_the_baseline_waits_for_what_is_not() -> None:
    differs = Compared("baseline", "b", "b", (Difference(CLIP, "1e9", "1.0"),), ())
    found = firstaid.change(sick(STOP, f"Lower `{CLIP}`.", root=(f"Lower `{LR}`.",), compared=(differs,)))
    assert found is not None and CLIP in found.text


def test_advice_to_look_and_settings_of_the_trainer_are_no_change() -> None:
    assert firstaid.change(sick(STOP, f"Check `{LR}`.", f"看 `{LR}`。", "Lower `some.other.key`.")) is None


def test_what_is_said_first_is_not_said_again() -> None:
    assert firstaid.change(sick(f"Lower `{LR}`.")) is None


def test_a_fix_that_people_wrote_down_comes_before_any_rule() -> None:
    text = "**Cause.** An overflow.\n\n**Fix.** Sum in `float32`. Clipping\nwould not have helped."
    note = NoteView("REW-05-1", "incidents/REW-05-1.md", text, None, None)
    found = firstaid.change(sick(f"Lower `{LR}`.", notes=(note,)))
    assert found is not None and found.people
    assert (found.text, found.anchor) == ("Sum in <code>float32</code>.", "REW-05-1")


def test_a_hostile_fix_is_text() -> None:
    note = NoteView("", "notes.md", "Fix: <img src=x onerror=alert(1)> [x](javascript:alert(2))", None, None)
    found = firstaid.change(sick(notes=(note,)))
    assert found is not None
    assert "<img" not in found.text and "href" not in found.text


def test_the_page_says_what_to_change_before_the_lesser_facts() -> None:
    report = sick(STOP, root=(f"Lower `{LR}`.",), gist="Score fell.", sentence="Score fell. Also more.")
    verdict = rendered.page(report).html.split('class="sg-verdict')[1].split("</div>")[0]
    places = [verdict.index(one) for one in ("Score fell.", "Do first:", "To change:", "Also more.")]
    assert places == sorted(places)
    assert verdict.count("Score fell.") == 1
