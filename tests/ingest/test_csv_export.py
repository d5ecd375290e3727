"""CSV exports of trackers."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from sitegen import ingest
from sitegen.ingest import csv_export
from sitegen.ingest.source import Source
from tests.ingest.reading import Reading, gathered


def source(folder: Path, text: str | bytes, part: str = "") -> Source:
    file = folder / "export.csv"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    whole = Source("export.csv", file, file.stat().st_size)
    return replace(whole, path=f"export.csv#{part}", part=part) if part else whole


def found(folder: Path, text: str | bytes, part: str = "") -> Reading:
    asked = source(folder, text, part)
    form = ingest.sniff(asked)
    assert form is csv_export
    return gathered(csv_export.read(asked))


@pytest.mark.parametrize("name", ["step", "_step", "global_step", "Step", "trainer/global_step"])
def test_a_table_with_a_column_of_steps_and_any_names(tmp_path: Path, name: str) -> None:
    reading = found(tmp_path, f"{name},critic/score/mean,my own: name\n1,0.5,2\n2,0.75,\n3,,nan\n")
    assert reading.rows == [
        (1, {"critic/score/mean": 0.5, "my own: name": 2.0}), (2, {"critic/score/mean": 0.75}), (3, {})
    ]  # fmt: skip
    assert reading.odd == [(3, "my own: name", "nan")]
    assert reading.problems == []


def test_what_pandas_and_wandb_add_is_no_metric(tmp_path: Path) -> None:
    text = ",_step,_runtime,_timestamp,loss\n0,1.0,3.5,1767225600.5,0.5\n1,2.0,4.5,1767225601.5,0.25\n"
    reading = found(tmp_path, text)
    assert reading.rows == [(1, {"loss": 0.5}), (2, {"loss": 0.25})]
    assert reading.times == [1767225600.5, 1767225601.5]


CHART = (
    '"Step","base - actor/lr","base - actor/lr__MIN","base - actor/lr__MAX",'
    '"a - b - actor/lr","a - b - actor/lr__MIN","a - b - actor/lr__MAX"\n'
    '"1","0.5","0.5","0.5","0.25","0.25","0.25"\n'
    '"2","0.75","0.5","1.0","","",""'
)


def test_wandbs_export_of_a_chart_has_a_column_per_run(tmp_path: Path) -> None:
    assert [part.name for part in csv_export.parts(source(tmp_path, CHART))] == ["base", "a - b"]
    base = found(tmp_path, CHART, "base")
    assert base.rows == [(1, {"actor/lr": 0.5}), (2, {"actor/lr": 0.75})]
    assert base.facts["title"] == "base"
    assert [row for row in found(tmp_path, CHART, "a - b").rows if row[1]] == [(1, {"actor/lr": 0.25})]


def test_least_and_greatest_values_are_told_and_not_read(tmp_path: Path) -> None:
    (problem,) = found(tmp_path, CHART, "base").problems
    assert problem.kind == "thinned"
    assert "in 1 places they differ" in problem.message


def test_a_chart_of_one_run_is_that_run(tmp_path: Path) -> None:
    text = '"Step","base - actor/lr","base - actor/lr__MIN","base - actor/lr__MAX"\n"1","0.5","0.5","0.5"\n'
    assert csv_export.parts(source(tmp_path, text)) == ()
    reading = found(tmp_path, text)
    assert (reading.rows, reading.facts["experiment"]) == ([(1, {"actor/lr": 0.5})], "base")


LONG = (
    "run_id,key,value,step,timestamp\n"
    "r1,actor/lr,0.5,1,1767225600000\nr1,actor/lr,0.25,2,1767225601000\nr1,actor/lr,0.3,1,1767225602000\n"
    "r1,val-core/x/acc/mean_at_4,1.7976931348623157e+308,2,1767225601000\nr2,actor/lr,9,1,1767225600000\n"
)


def test_mlflows_long_form_is_brought_into_the_order_of_time(tmp_path: Path) -> None:
    assert [part.name for part in csv_export.parts(source(tmp_path, LONG))] == ["r1", "r2"]
    reading = found(tmp_path, LONG, "r1")
    assert reading.rows == [(1, {"actor/lr": 0.5}), (2, {"actor/lr": 0.25}), (1, {"actor/lr": 0.3})]
    assert reading.odd == [(2, "val-core/x/acc/mean@4", "inf")]
    assert found(tmp_path, LONG, "r2").rows == [(1, {"actor/lr": 9.0})]


def test_a_long_form_without_times_goes_by_step(tmp_path: Path) -> None:
    text = "key,value,step\na,1.5,2\na,0.5,1\nb,nan,1\nb,2.5,2\n"
    reading = found(tmp_path, text)
    assert reading.rows == [(1, {"a": 0.5}), (2, {"a": 1.5, "b": 2.5})]
    assert reading.odd == [(1, "b", "nan")]


def test_the_digest_of_a_run_changes_with_that_run_only(tmp_path: Path) -> None:
    before = [csv_export.digest(source(tmp_path, LONG, run)) for run in ("r1", "r2")]
    after = [csv_export.digest(source(tmp_path, LONG + "r2,actor/lr,8,2,5\n", run)) for run in ("r1", "r2")]
    assert before[0] == after[0]
    assert before[1] != after[1]


def test_a_table_in_which_a_column_names_the_run(tmp_path: Path) -> None:
    text = "run_name,step,loss\nx,1,0.5\ny,1,0.25\nx,2,0.75\n"
    assert [part.name for part in csv_export.parts(source(tmp_path, text))] == ["x", "y"]
    assert found(tmp_path, text, "x").rows == [(1, {"loss": 0.5}), (2, {"loss": 0.75})]


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_other_delimiters_and_packing(tmp_path: Path, delimiter: str) -> None:
    text = "step,loss\n1,0.5\n".replace(",", delimiter)
    assert found(tmp_path, gzip.compress(text.encode())).rows == [(1, {"loss": 0.5})]


@pytest.mark.parametrize(
    "text",
    [
        "name,loss\na,1\n",
        "step,loss\n",
        "step\n1\n",
        "step,loss\nfirst,1\nsecond,2\n",
        "step:1 - a/b:1.5 - c/d:2\n",
        '{"step": 1, "loss": 2}\n{"step": 2}\n',
        "step,step,loss\n1,1,2\n",
        "In this step, we train\n1,2\n",
    ],
)
def test_other_texts_are_not_claimed(text: str) -> None:
    assert not csv_export.sniff("x.csv", text.encode())


def test_a_torn_last_line_loses_the_cell_that_is_torn(tmp_path: Path) -> None:
    reading = found(tmp_path, "step,a,b,c\n1,0.5,1.5,2.5\n2,0.25,0.1")
    assert reading.rows == [(1, {"a": 0.5, "b": 1.5, "c": 2.5}), (2, {"a": 0.25})]
    assert [(p.kind, p.line) for p in reading.problems] == [("truncated", 3)]


def test_lines_that_do_not_fit_are_told_and_the_others_kept(tmp_path: Path) -> None:
    text = "step,a\n1,0.5\n2\nx,1\n3,text\n4,0.25\n\n"
    reading = found(tmp_path, text)
    assert [row for row in reading.rows if row[1]] == [(1, {"a": 0.5}), (4, {"a": 0.25})]
    assert sorted(reading.kinds) == ["malformed", "malformed", "not-a-number"]


def test_a_quote_that_is_never_closed_and_zero_bytes_are_no_exception(tmp_path: Path) -> None:
    text = 'step,a\n1,0.5\n2,"' + "x\n" * 100_000
    reading = found(tmp_path, text)
    assert reading.rows[0] == (1, {"a": 0.5})
    assert reading.problems
    assert found(tmp_path, b"step,a\n1,0.5\n2,\x000.5\n\xff\xfe,3\n").rows[0] == (1, {"a": 0.5})
