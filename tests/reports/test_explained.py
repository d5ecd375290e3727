"""What people wrote, the run that mended it, and notes that fit nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sitegen import archive as archives
from sitegen import reports
from sitegen.config import Config
from sitegen.model import Muted, Note
from sitegen.reports import explained
from sitegen.reports.explained import Successors
from tests.reports import made

SICK = made.run(id="sick", config={"lr": "1e-3", "same": "1", "gone": "x"})
CURED = made.run(id="cured", title="Cured", aliases=("second-try",), config={"lr": "1e-4", "same": "1"})


def noted(*notes: Note) -> dict[str, Successors]:
    return explained.successors([replace(SICK, written=notes), CURED])


def test_the_successor_is_named_by_id_or_alias_and_knows_what_it_mended() -> None:
    for name in ("cured", "second-try"):
        found = noted(Note("sick/notes.md", "", "x", name, 2))
        assert found["sick"].found == {name: "cured"}
        assert found["cured"].mends == ("sick",)


def test_the_fix_is_what_was_set_differently_there() -> None:
    note = Note("sick/notes.md", "", "Why.", "cured", 2)
    run = replace(SICK, written=(note,))
    (view,) = explained.views(run, noted(note)["sick"], {"cured": CURED}.__getitem__)
    assert view.fixed is not None
    assert (view.fixed.run, view.fixed.title) == ("cured", "Cured")
    assert [(row.key, row.here, row.there) for row in view.fixed.differing] == [("lr", "1e-3", "1e-4")]


def test_a_successor_without_a_configuration_is_linked_all_the_same() -> None:
    made_fix = explained.fix(SICK, replace(CURED, config={}, verl_version=None, hardware=None))
    assert (made_fix.run, made_fix.differing) == ("cured", ())


def test_a_successor_that_is_not_there_is_told_with_its_place_and_the_nearest_name() -> None:
    note = Note("sick/incidents/KL-05-1.md", "KL-05-1", "x", "cuerd", 4)
    run = replace(SICK, written=(note,))
    checked = explained.checked(run, None, noted(note)["sick"])
    (problem,) = checked.problems
    assert (problem.path, problem.line, problem.kind) == ("sick/incidents/KL-05-1.md", 4, "successor")
    assert "no other run cuerd" in problem.message and problem.hint == "Did you mean cured?"
    (view,) = explained.views(run, noted(note)["sick"], {}.__getitem__)
    assert (view.fixed, view.named) == (None, "cuerd")


def test_a_run_cannot_be_fixed_by_itself() -> None:
    note = Note("sick/notes.md", "", "x", "sick", 1)
    found = noted(note)
    assert found["sick"].found == {} and "sick" not in found["sick"].mends
    (problem,) = explained.checked(replace(SICK, written=(note,)), None, found["sick"]).problems
    assert "names the run itself" in problem.hint


def test_a_note_on_an_incident_that_the_run_has_not_names_the_nearest() -> None:
    there = made.findings(made.incident("KL-05"))
    run = replace(SICK, written=(Note("sick/incidents/KL-06-1.md", "KL-06-1", "x"),))
    (problem,) = explained.checked(run, there, Successors()).problems
    assert (problem.path, problem.line, problem.kind) == ("sick/incidents/KL-06-1.md", 1, "note")
    assert "no incident KL-06-1" in problem.message and problem.hint == "Did you mean KL-05-1.md?"


def test_a_muted_finding_can_be_explained_too() -> None:
    there = replace(made.findings(), muted=(Muted(made.incident("KL-05"), "on purpose"),))
    run = replace(SICK, written=(Note("sick/incidents/KL-05-1.md", "KL-05-1", "x"),))
    assert explained.checked(run, there, Successors()).problems == ()


def test_nothing_is_said_against_notes_where_the_rules_could_not_run() -> None:
    run = replace(SICK, written=(Note("sick/incidents/KL-05-1.md", "KL-05-1", "x"),))
    assert explained.checked(run, None, Successors()).problems == ()


def test_signs_that_hide_are_seen() -> None:
    run = replace(SICK, written=(Note("n", "", "a\u202eb\x07"),))
    (view,) = explained.views(run, Successors(), {}.__getitem__)
    assert view.text == "a‹U+202E›b‹U+0007›"


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """`runs` with a run that ran out of memory, and another one."""
    for name, end in (("bad", "torch.OutOfMemoryError: CUDA out of memory. Tried 2 GiB.\n"), ("good", "")):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        steps = "".join(f"step:{n} - critic/score/mean:{0.2 + n / 100}\n" for n in range(1, 31))
        (folder / "train.log").write_text(steps + end)
    return tmp_path


def built(shelf: Path) -> reports.Reports:
    archives.update(shelf / "runs", shelf / "home")
    return reports.build(archives.Archive(shelf / "home"), Config())


def test_a_row_of_the_archive_says_that_it_is_explained_and_fixed_by_what(shelf: Path) -> None:
    note = shelf / "runs/bad/incidents/RUN-01-1.md"
    note.parent.mkdir()
    note.write_text("Too long.\nfixed by: good\n")
    found = built(shelf)
    (row,) = (row for row in found.archive.incidents if row.rule == "RUN-01")
    assert (row.explained, row.fixed_by) == (True, "good")
    assert found.run("good").mends == (("bad", "bad"),)
    others = [row for row in found.archive.incidents if row.rule != "RUN-01"]
    assert others and not any(row.explained or row.fixed_by for row in others)


def test_a_run_that_comes_later_is_linked_without_a_new_note(shelf: Path) -> None:
    (shelf / "runs/bad/notes.md").write_text("fixed by: later\n")
    first = built(shelf)
    key = first.shown("bad")
    assert [one.kind for one in first.run("bad").problems] == ["successor"]
    (shelf / "runs/later").mkdir()
    (shelf / "runs/later/train.log").write_text("step:1 - critic/score/mean:0.9\n")
    second = built(shelf)
    assert second.shown("bad") != key
    (view,) = second.run("bad").notes
    assert view.fixed is not None and view.fixed.run == "later"
    assert second.run("bad").problems == ()


def test_the_page_of_the_successor_changes_with_the_note(shelf: Path) -> None:
    before = built(shelf).shown("good")
    (shelf / "runs/bad/notes.md").write_text("fixed by: good\n")
    assert built(shelf).shown("good") != before
