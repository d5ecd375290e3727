"""Notes by people: which run they belong to, what is read of them, and what is told about the rest."""

from __future__ import annotations

import pytest

from sitegen.model import Note
from tests.archive.conftest import Made, curve, kinds


def test_a_note_on_the_run_and_one_on_an_incident_are_its_own(made: Made) -> None:
    made.console("a/train.log", curve(1, 3))
    made.file("a/notes.md", "Too hot.\n")
    made.file("a/incidents/KL-05-1.md", "The first sign.\n")
    run = made.run()
    assert run.written == (
        Note("a/notes.md", "", "Too hot."),
        Note("a/incidents/KL-05-1.md", "KL-05-1", "The first sign."),
    )
    assert run.problems == () and made.archive.ignored() == ()


@pytest.mark.parametrize(
    ("text", "line", "rest"),
    [
        ("---\nfixed by: second-try\n---\nA cause.\n", 2, "A cause."),
        ("A cause.\n\nFixed by: second-try\n", 3, "A cause."),
        ("- **Fixed by:** `second-try`.\nA cause.", 1, "A cause."),
        ("fixed_by: second-try", 1, ""),
        ("\ufeff---\n# who\nfixed-by: 'second-try'\n---\n", 3, ""),
        ("Windows.\r\nfixed by: second-try\r\n", 2, "Windows."),
    ],
)
def test_the_run_that_fixed_it_is_said_in_a_line_of_its_own_or_at_the_top(
    made: Made, text: str, line: int, rest: str
) -> None:
    made.console("a/train.log", curve(1, 3))
    made.file("a/notes.md", text)
    assert made.run().written == (Note("a/notes.md", "", rest, "second-try", line),)


@pytest.mark.parametrize(
    "text",
    [
        "Fixed by: a lower learning rate.",
        "It was fixed by: nobody",
        "```\nfixed by: x\n```",
        "~~~~\nfixed by: x\n~~~\nfixed by: y\n~~~~",
        "---\nno end: of it",
        "---\nJust a rule above.\n---",
    ],
)
def test_prose_and_code_stay_what_they_are(made: Made, text: str) -> None:
    made.console("a/train.log", curve(1, 3))
    made.file("a/notes.md", text)
    (note,) = made.run().written
    assert (note.text, note.fixed_by) == (text, None)


def test_what_is_wrong_in_a_note_is_told_with_its_line(made: Made) -> None:
    made.console("a/train.log", curve(1, 3))
    made.file("a/notes.md", "---\nfixd by: x\nfixed by: b\n---\nText.\nfixed by: c\nfixed by:\n")
    run = made.run()
    assert [(each.line, each.kind) for each in run.problems] == [(2, "note"), (6, "note"), (7, "note")]
    assert "Did you mean 'fixed by'?" in run.problems[0].hint
    assert run.written == (Note("a/notes.md", "", "Text.", "b", 3),)


def test_an_empty_note_says_nothing_and_that_is_told(made: Made) -> None:
    made.console("a/train.log", curve(1, 3))
    made.file("a/incidents/KL-05-1.md", " \n")
    run = made.run()
    assert run.written == ()
    assert [each.message for each in run.problems] == ["says nothing"]


def test_bytes_that_are_no_text_are_replaced_and_told(made: Made) -> None:
    made.console("a/train.log", curve(1, 3))
    made.file("a/notes.md", b"caf\xe9 \x00 end")
    run = made.run()
    assert run.written[0].text == "caf\ufffd \x00 end"
    assert kinds(run.problems) == ["note"]


def test_a_book_is_cut(made: Made) -> None:
    made.console("a/train.log", curve(1, 3))
    made.file("a/notes.md", "é" * 50_000)
    run = made.run()
    assert set(run.written[0].text) == {"é"} and len(run.written[0].text) == 32_768
    assert ["longer than 64 KB" in each.message for each in run.problems] == [True]


def test_secrets_are_taken_out_and_counted(made: Made) -> None:
    made.console("a/train.log", curve(1, 3))
    made.file("a/notes.md", "Use token=hf_" + "A1b2C3d4" * 5 + " to see it; ask a.person@example.org.\n")
    run = made.run()
    assert "hf_A1b2" not in run.written[0].text and "a.person" not in run.written[0].text
    assert set(kinds(run.problems)) == {"redacted"}


def test_a_log_called_like_a_note_is_said_to_belong_to_no_run(made: Made) -> None:
    made.console("a/notes.md", curve(1, 3))
    made.console("b/train.log", curve(1, 3, shift=0.5))
    assert made.ids() == ["b"]
    (problem,) = made.last.problems
    assert (problem.path, problem.kind) == ("a/notes.md", "no-run")
    assert "another name" in problem.hint


def test_a_note_with_a_pasted_log_is_not_taken_for_a_log(made: Made) -> None:
    made.console("a/train.log", curve(1, 3))
    made.file("a/notes.md", "It said:\n\n    step:900 - critic/score/mean:0.5\n")
    assert made.run().last_step == 3


def test_a_note_in_a_folder_of_several_runs_belongs_to_none(made: Made) -> None:
    made.console("team/a/train.log", curve(1, 3))
    made.console("team/b/train.log", curve(1, 3, shift=0.5))
    made.file("team/notes.md", "About both.")
    made.file("team/incidents/KL-05-1.md", "About which?")
    assert len(made.ids()) == 2
    assert kinds(made.last.problems) == ["no-run", "no-run"]


def test_runs_folders_called_incidents_stay_runs_and_their_logs_logs(made: Made) -> None:
    made.console("incidents/one/train.log", curve(1, 3))
    assert made.ids() == ["incidents-one"]


def test_a_note_below_the_folder_of_its_run_counts(made: Made) -> None:
    made.console("a/logs/train.log", curve(1, 3))
    made.file("a/logs/notes.md", "Below.")
    made.file("a/notes.md", "Beside.")
    assert [each.text for each in made.run().written] == ["Below.", "Beside."]


def test_runs_may_be_the_folder_of_one_run(made: Made) -> None:
    made.console("train.log", curve(1, 3))
    made.file("notes.md", "Here.")
    made.file("incidents/KL-05-1.md", "There.")
    assert [each.anchor for each in made.run().written] == ["", "KL-05-1"]


def test_a_changed_a_new_and_a_removed_note_change_their_run_only(made: Made) -> None:
    made.console("a/train.log", curve(1, 3))
    made.console("b/train.log", curve(1, 3, shift=0.5))
    made.file("a/notes.md", "One.")
    assert made.update().changed == ("a", "b")
    assert made.update().changed == ()
    made.file("a/notes.md", "Another.")
    assert made.update().changed == ("a",)
    made.file("b/incidents/KL-05-1.md", "New.")
    assert made.update().changed == ("b",)
    (made.runs / "a/notes.md").unlink()
    assert made.update().changed == ("a",)
    assert made.archive.run("a").written == ()


def test_names_are_read_whatever_their_case(made: Made) -> None:
    made.console("a/train.log", curve(1, 3))
    made.file("a/NOTES.md", "One.")
    made.file("a/Incidents/kl-05-1.MD", "Two.")
    assert [each.anchor for each in made.run().written] == ["", "KL-05-1"]
