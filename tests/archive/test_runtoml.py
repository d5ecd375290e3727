"""run.toml: what is used, and what is told about the rest."""

from __future__ import annotations

import pytest

from sitegen.model import Mute
from tests.archive.conftest import Made, curve, kinds


def test_every_key_is_used(made: Made) -> None:
    made.console("a/train.log", curve(1, 3))
    made.file(
        "a/run.toml",
        'title = "T"\nproject = "P"\nexperiment = "E"\ntags = ["x", "y"]\nowner = "O"\n'
        'hardware = "8 x H100"\ngpus = 8\nbaseline = "other"\nnotes = "N"\naliases = ["old"]\n'
        'algorithm = "GSPO"\nmodel = "M"\n'
        'verl_version = "0.7"\ncommit = "abc"\nplanned_steps = 9\nfinished = true\nstatus = "running"\n',
    )
    run = made.run()
    assert (run.title, run.project, run.experiment, run.tags, run.owner) == ("T", "P", "E", ("x", "y"), "O")
    assert (run.hardware, run.gpus, run.baseline, run.notes, run.aliases) == (
        "8 x H100",
        8,
        "other",
        "N",
        ("old",),
    )
    assert (run.algorithm, run.model, run.verl_version, run.commit) == ("GSPO", "M", "0.7", "abc")
    assert (run.planned_steps, run.finished, run.growing) == (9, True, True)
    assert run.problems == ()


def test_names_without_end_are_cut_and_told_and_notes_are_whole(made: Made) -> None:
    made.console("a/train.log", curve(1, 3))
    endless, long = "L" * 100_000, "N" * 5_000
    made.file("a/run.toml", f'title = "{endless}"\ntags = ["x", "{endless}"]\nnotes = "{long}"\n')
    run = made.run()
    assert run.title == "L" * 499 + "…"
    assert run.tags == ("x", "L" * 499 + "…")
    assert run.notes == long
    assert [(one.kind, one.line, one.message) for one in run.problems] == [
        ("run-toml", 1, "title is 100000 characters long; cut to 500"),
        ("run-toml", 2, "tags is 100000 characters long; cut to 500"),
    ]


def test_a_project_name_without_end_in_the_configuration_is_cut_and_stays_whole_there(made: Made) -> None:
    key, endless = "trainer.project_name", "P" * 3_000
    made.console("a/train.log", curve(1, 3))
    made.file("a/.hydra/config.yaml", f"trainer:\n  project_name: {endless}\n")
    run = made.run()
    assert run.project == "P" * 499 + "…"
    assert run.config[key] == endless


def test_an_unknown_key_names_the_nearest_one_and_its_line(made: Made) -> None:
    made.console("a/train.log", curve(1, 3))
    made.file("a/run.toml", 'title = "T"\nbaselin = "b"\n')
    run = made.run()
    (problem,) = run.problems
    assert (problem.path, problem.line, problem.kind) == ("a/run.toml", 2, "run-toml")
    assert "baselin" in problem.message and "baseline" in problem.hint
    assert run.title == "T"


@pytest.mark.parametrize(
    "line", ["gpus = 0", "gpus = true", 'gpus = "8"', "title = 3", "tags = [1]", 'finished = "yes"']
)
def test_a_value_of_the_wrong_type_is_left_out_and_told(made: Made, line: str) -> None:
    made.console("a/train.log", curve(1, 3))
    made.file("a/run.toml", line)
    assert kinds(made.run().problems) == ["run-toml"]


@pytest.mark.parametrize("text", [b"title = ", b"\xff\xfe\x00", b"[[[[", b"title = 'a'\ntitle = 'b'"])
def test_a_broken_file_stops_nothing(made: Made, text: bytes) -> None:
    made.console("a/train.log", curve(1, 3))
    made.file("a/run.toml", text)
    run = made.run()
    assert run.steps == 3
    assert kinds(run.problems) == ["run-toml"]


@pytest.mark.parametrize("value", ['"finished"', "1", '["running"]'])
def test_a_status_that_is_none_is_told(made: Made, value: str) -> None:
    made.console("a/train.log", curve(1, 3))
    made.file("a/run.toml", f'title = "T"\nstatus = {value}\n')
    run = made.run()
    (problem,) = run.problems
    assert (problem.line, problem.kind, run.growing) == (2, "run-toml", False)
    assert "status must be 'running', found" in problem.message and "Leave the line out" in problem.hint


def test_a_key_of_which_another_is_the_beginning_is_told_with_its_own_line(made: Made) -> None:
    made.console("a/train.log", curve(1, 3))
    made.file("a/run.toml", 'model_name = "x"\nmodel = 3\n')
    assert [(one.line, one.kind) for one in made.run().problems] == [(1, "run-toml"), (2, "run-toml")]


def test_the_line_of_what_is_no_toml_is_told(made: Made) -> None:
    made.console("a/train.log", curve(1, 3))
    made.file("a/run.toml", 'title = "T"\n\nowner = = "O"\n')
    (problem,) = made.run().problems
    assert (problem.line, problem.kind) == (3, "run-toml")


def test_secrets_in_notes_are_redacted(made: Made) -> None:
    made.console("a/train.log", curve(1, 3))
    made.file("a/run.toml", 'notes = "ask jane@lab.example.org"\n')
    assert made.run().notes == "ask [redacted:email]"


def test_a_single_tag_may_be_written_without_a_list(made: Made) -> None:
    made.console("a/train.log", curve(1, 3))
    made.file("a/run.toml", 'tags = "one"\n')
    assert made.run().tags == ("one",)


def test_presets_that_are_not_named_are_those_of_the_site_and_an_empty_list_is_none(made: Made) -> None:
    made.console("a/train.log", curve(1, 3))
    for said, expected in (
        ('title = "T"\n', None),
        ("presets = []\n", ()),
        ('presets = ["seed001"]\n', ("seed001",)),
    ):
        made.file("a/run.toml", said)
        assert made.run().presets == expected


def test_a_rule_is_muted_with_its_reason_on_one_line(made: Made) -> None:
    made.console("a/train.log", curve(1, 3))
    made.file(
        "a/run.toml", 'title = "T"\n[mute]\n"KL-05" = """raised\non purpose"""\nLEN-02 = "short answers"\n'
    )
    run = made.run()
    assert run.mutes == (Mute("KL-05", "raised on purpose", 3), Mute("LEN-02", "short answers", 5))
    assert (run.toml, run.problems) == ("a/run.toml", ())


@pytest.mark.parametrize("reason", ['""', '"  "', "true", "3"])
def test_a_mute_without_a_reason_mutes_nothing_and_is_told(made: Made, reason: str) -> None:
    made.console("a/train.log", curve(1, 3))
    made.file("a/run.toml", f'[mute]\n"KL-05" = {reason}\n')
    run = made.run()
    (problem,) = run.problems
    assert run.mutes == ()
    assert (problem.path, problem.line, problem.kind) == ("a/run.toml", 2, "run-toml")
    assert "KL-05 has no reason" in problem.message and "raised on purpose" in problem.hint


def test_a_list_of_codes_is_no_mute(made: Made) -> None:
    made.console("a/train.log", curve(1, 3))
    made.file("a/run.toml", 'mute = ["KL-05"]\n')
    (problem,) = made.run().problems
    assert "mute must be a table, found list" in problem.message


def test_secrets_in_reasons_are_redacted(made: Made) -> None:
    made.console("a/train.log", curve(1, 3))
    made.file("a/run.toml", '[mute]\n"KL-05" = "ask jane@lab.example.org"\n')
    assert made.run().mutes[0].reason == "ask [redacted:email]"
