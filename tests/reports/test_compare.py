"""Which runs a run is compared with, and what of their setup differs."""

from __future__ import annotations

from sitegen.model import Run
from sitegen.reports.compare import Peers, compared, peers
from tests.pages import made_runs


def run(name: str, start: float | None = None, **more: object) -> Run:
    parts = {"project": "p", "experiment": name, "title": name.upper(), "started_at": start, **more}
    return made_runs.run(name, 0, **parts)


def test_the_previous_run_is_the_last_of_the_project_that_started_before() -> None:
    found = peers([run("c", 30.0), run("a", 10.0), run("b", 20.0), run("other", 25.0, project="q")])
    assert {name: each.previous for name, each in found.items()} == {
        "a": None,
        "b": "a",
        "c": "b",
        "other": None,
    }


def test_one_of_the_same_experiment_goes_before_a_newer_one_of_the_project() -> None:
    runs = [run("a", 10.0, experiment="x"), run("b", 20.0, experiment="y"), run("c", 30.0, experiment="x")]
    assert peers(runs)["c"].previous == "a"


def test_a_run_without_a_start_follows_no_other() -> None:
    assert peers([run("a", 10.0), run("b")])["b"] == Peers()


def test_the_baseline_is_found_by_id_and_by_alias() -> None:
    runs = [
        run("a", aliases=("old",)),
        run("b", baseline="a"),
        run("c", baseline="old"),
        run("d", baseline="x"),
    ]
    found = peers(runs)
    assert [found[name].baseline for name in "bcd"] == ["a", "a", None]


def test_a_run_is_not_its_own_baseline() -> None:
    assert peers([run("a", baseline="a")])["a"].baseline is None


def against(here: Run, there: Run) -> tuple[list[tuple[str, str | None, str | None]], list[str]]:
    (found,) = compared(here, {"baseline": there})
    rows = [(row.key, row.here, row.there) for row in found.differing]
    return rows, [row.key for row in found.single]


def test_only_what_differs_is_listed_with_both_values() -> None:
    here = run("a", config={"trainer.lr": "1e-06", "trainer.n": "8", "trainer.x": "1"})
    there = run("b", config={"trainer.lr": "5e-07", "trainer.n": "8", "trainer.y": "2"})
    assert against(here, there) == ([("trainer.lr", "1e-06", "5e-07")], ["trainer.x", "trainer.y"])


def test_one_value_written_in_two_ways_is_one_value() -> None:
    here = run("a", config={"a.lr": "1e-06", "a.b": "['x', 'y']", "a.c": "None", "a.d": "${oc.select:a,1}"})
    there = run("b", config={"a.lr": "0.000001", "a.b": "[x,y]", "a.c": "null", "a.d": "1"})
    assert against(here, there) == ([], [])


def test_secrets_are_compared_as_the_marks_that_replaced_them() -> None:
    mark = {"a.api_key": "[redacted:key]"}
    assert against(run("a", config=mark), run("b", config=mark)) == ([], [])
    other = run("b", config={"a.api_key": "[redacted:hf-token]"})
    assert against(run("a", config=mark), other)[0] == [
        ("a.api_key", "[redacted:key]", "[redacted:hf-token]")
    ]


def test_code_versions_and_machine_are_compared_too() -> None:
    here = run(
        "a", config={}, commit="aaa", facts={"torch_version": "2.6", "command": "python x", "cuda": "12"}
    )
    there = run("b", config={}, commit="bbb", facts={"torch_version": "2.8", "command": "python y"})
    assert against(here, there) == ([("commit", "aaa", "bbb"), ("torch_version", "2.6", "2.8")], ["cuda"])


def test_a_run_that_says_nothing_of_its_setup_is_not_compared() -> None:
    bare = {"config": {}, "verl_version": None, "commit": None, "hardware": None}
    assert compared(run("a"), {"baseline": run("b", **bare)}) == ()
