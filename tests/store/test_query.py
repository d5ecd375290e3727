"""`sitegen query`: the tables of the contract."""

from __future__ import annotations

from typing import Any

import pytest

from sitegen.errors import QueryError
from sitegen.model import (
    Evidence,
    Findings,
    Incident,
    MetricSummary,
    Outcome,
    Phase,
    PhaseName,
    Severity,
    Verdict,
)
from sitegen.store import Store
from tests.store.written import Written, line

NAN = float("nan")

CONTRACT = {
    "runs": "run project experiment status state algorithm model started_at ended_at steps first_step "
    "last_step segments formats",
    "samples": "run segment step metric value",
    "steps": "run step entropy kl_ref score",
    "raw_samples": "run segment step name value source",
    "non_finite": "run segment step metric raw",
    "summary": "run metric n first last min max mean best best_step non_finite",
    "log_lines": "run path line time level step text",
    "generations": "run step kind sample input output ground_truth score extra",
    "spans": "run step sample span parent name kind status start_s duration_s attributes",
    "config": "run key value",
    "phases": "run segment phase first last",
    "incidents": "run segment id rule severity first last metric value threshold message",
    "verdicts": "run rule verdict missing",
    "problems": "run path line kind message",
}


@pytest.fixture
def store(shelf: Written) -> Store:
    shelf.add(
        "a",
        {
            "critic/score/mean": [0.1, NAN, 0.3],
            "actor/lr(1e-4)": [0.01, 0.01, 0.01],
            "my/own": [1.0, 2.0, 3.0],
        },
        steps=[1, 2, 2],
        segments=[0, 0, 1],
        live=[True, False, True],
        non_finite=[(2, "critic/score/mean", "nan")],
        lines=[line("traceback", 2, "Traceback")],
        config={"trainer.nnodes": "1"},
        summary=(MetricSummary("critic/score/mean", "score", 2, 0.1, 0.3, 0.1, 0.3, 0.2, 0.3, 2, 1),),
    )
    shelf.add("b", {"Critic/Score/Mean": [9.0], "critic/score/mean": [0.5]})
    return Store(shelf)


def ask(store: Store, sql: str, **known: Any) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in store.query(sql, **known).to_pylist()]


def findings(run: str) -> Findings:
    seen = Incident(
        id=f"{run}/KL-05-1",
        run=run,
        segment=0,
        rule="KL-05",
        title="Sudden KL jump",
        severity=Severity.ERROR,
        first=1,
        last=2,
        open=False,
        metric="kl_ref",
        value=0.12,
        threshold=0.07,
        message="jumped",
        causes=(),
        advice=(),
        evidence=Evidence("kl_ref", (1,), (0.12,), (0.07,)),
    )
    verdict = Verdict("CRI-01", Outcome.NOT_APPLICABLE, ("vf_explained_var", "score"))
    return Findings(run, (Phase(0, PhaseName.CLIMB, 1, 2),), (seen,), (verdict,))


@pytest.mark.parametrize("table", CONTRACT)
def test_every_table_has_the_columns_that_are_promised(store: Store, table: str) -> None:
    found = store.query(f"SELECT * FROM {table}").column_names
    assert not set(CONTRACT[table].split()) - set(found)


def test_samples_are_long_canonical_and_in_the_unit_of_the_metric(store: Store) -> None:
    found = ask(store, "SELECT step, metric, value FROM samples WHERE run = 'a' AND segment = 0 ORDER BY ALL")
    assert found == [(1, "lr", pytest.approx(1e-6)), (1, "my/own", 1.0), (1, "score", 0.1),
                     (2, "lr", pytest.approx(1e-6)), (2, "my/own", 2.0)]  # fmt: skip


def test_raw_samples_keep_the_name_and_the_number_as_logged(store: Store) -> None:
    found = ask(
        store, "SELECT name, value, source FROM raw_samples WHERE run = 'a' AND step = 1 ORDER BY ALL"
    )
    assert ("actor/lr(1e-4)", 0.01, "x.log") in found


def test_names_that_differ_in_case_only_stay_apart(store: Store) -> None:
    found = ask(store, "SELECT metric, value FROM samples WHERE run = 'b' ORDER BY value")
    assert found == [("score", 0.5), ("Critic/Score/Mean", 9.0)]


ODD = ("", "nameless", "run", "path", "filename", "number", "stored", "select", 'a"b', "a'b", "m0")


def odd_run(shelf: Written) -> Store:
    """A run whose metrics are called like our own columns, or like nothing at all."""
    values = {name: [float(at)] for at, name in enumerate(ODD)}
    shelf.add("odd", {**values, "critic/score/mean": [0.5]}, non_finite=[(1, "run", "nan"), (1, "", "inf")])
    shelf.add("plain", {"critic/score/mean": [0.25]})
    return Store(shelf)


def test_a_metric_may_have_any_name(shelf: Written) -> None:
    store = odd_run(shelf)
    found = dict(ask(store, "SELECT name, value FROM raw_samples WHERE run = 'odd'"))
    assert found == {**{name: at for at, name in enumerate(ODD)}, "critic/score/mean": 0.5}
    assert ask(store, "SELECT run, value FROM samples WHERE metric = 'score' ORDER BY run") == [
        ("odd", 0.5),
        ("plain", 0.25),
    ]
    assert ask(store, "SELECT run, score FROM steps ORDER BY run") == [("odd", 0.5), ("plain", 0.25)]
    assert ask(store, "SELECT metric, raw FROM non_finite ORDER BY raw") == [("", "inf"), ("run", "nan")]


def test_rules_see_runs_whose_metrics_have_odd_names(shelf: Written) -> None:
    with odd_run(shelf) as store:
        assert store.select("SELECT run, score FROM steps ORDER BY run") == [
            {"run": "odd", "score": 0.5},
            {"run": "plain", "score": 0.25},
        ]
        assert [row["name"] for row in store.select("SELECT name FROM events ORDER BY name")] == ["", "run"]


def test_steps_are_live_rows(store: Store) -> None:
    assert ask(store, "SELECT step, score, kl_ref FROM steps WHERE run = 'a' ORDER BY step") == [
        (1, 0.1, None),
        (2, 0.3, None),
    ]


def test_values_that_are_not_finite_have_their_metric(store: Store) -> None:
    assert ask(store, "SELECT run, step, metric, raw FROM non_finite") == [("a", 2, "score", "nan")]


def test_problems_of_no_run_are_there(store: Store) -> None:
    assert ask(store, "SELECT run, kind FROM problems") == [("", "unreadable")]


def test_status_is_asked_only_when_it_is_wanted(store: Store) -> None:
    asked = []

    def status(run: str) -> str:
        asked.append(run)
        return "healthy"

    assert ask(store, "SELECT run, steps FROM runs ORDER BY run", status=status) == [("a", 2), ("b", 1)]
    assert not asked
    assert ask(store, "SELECT run, status FROM runs ORDER BY run", status=status) == [
        ("a", "healthy"),
        ("b", "healthy"),
    ]


def test_state_is_asked_only_when_it_is_wanted(store: Store) -> None:
    def never(run: str) -> str:
        raise AssertionError(run)

    answer = ask(store, "SELECT state FROM runs WHERE run = 'a'", status=never, state=lambda run: "LEARNING")
    assert answer == [("LEARNING",)]


def test_findings_are_tables(store: Store) -> None:
    assert ask(store, "SELECT phase, first, last FROM phases WHERE run = 'a'", findings=findings) == [
        ("climb", 1, 2)
    ]
    assert ask(store, "SELECT id, severity, threshold FROM incidents ORDER BY id", findings=findings) == [
        ("a/KL-05-1", "error", 0.07),
        ("b/KL-05-1", "error", 0.07),
    ]
    assert ask(store, "SELECT DISTINCT verdict, missing FROM verdicts", findings=findings) == [
        ("not_applicable", "vf_explained_var score")
    ]


def test_findings_are_not_asked_for_tables_of_facts(store: Store) -> None:
    def never(run: str) -> Findings:
        raise AssertionError(run)

    assert len(ask(store, "SELECT run, metric FROM summary", findings=never)) == 1


def test_a_question_about_one_run_reads_its_file_alone(shelf: Written) -> None:
    for run in ("a", "b", "c"):
        shelf.add(run, {"critic/score/mean": [0.1, 0.2]})
    shelf.steps("c").write_bytes(b"damaged")
    with Store(shelf) as store:
        assert ask(store, "SELECT count(*) AS n FROM steps WHERE run = 'b'") == [(2,)]
        assert ask(store, "SELECT count(*) AS n FROM samples WHERE run = 'b'") == [(2,)]
        with pytest.raises(QueryError):
            store.query("SELECT count(*) AS n FROM steps")


def test_facts_open_no_parquet(store: Store, shelf: Written) -> None:
    for run in shelf.runs():
        shelf.steps(run).write_bytes(b"damaged")
    assert ask(store, "SELECT count(*) AS n FROM runs") == [(2,)]


def test_an_empty_archive_answers(shelf: Written) -> None:
    with Store(shelf) as store:
        for table in CONTRACT:
            if table != "problems":
                assert ask(store, f"SELECT count(*) AS n FROM {table}") == [(0,)]


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT nope FROM runs", '"nope" not found'),
        ("SELECT run FROM sample", 'did you mean "samples"'),
        ("SELEC run FROM runs", "syntax error"),
        ("SELECT run\nFROM runs\nWHERE nope = 1", "line 3"),
        ("DELETE FROM runs", "must be one SELECT"),
    ],
)
def test_bad_sql_is_told_what_there_is(store: Store, sql: str, told: str) -> None:
    with pytest.raises(QueryError, match=r"tables: runs, samples, steps") as raised:
        store.query(sql)
    assert told in str(raised.value)
