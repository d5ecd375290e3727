"""Dumped generations in the archive: whose they are, all of them, without secrets, in bounded memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable

import pyarrow.parquet as pq

from sitegen.model import Dumped
from tests.archive.conftest import Made

LOG = [(step, {"critic/score/mean": 0.01 * step}) for step in range(1, 9)]


def dump(made: Made, path: str, answers: Iterable[object], **more: object) -> None:
    lines = [json.dumps({"input": "q", "output": answer, "score": 1.0, **more}) for answer in answers]
    made.file(path, "".join(line + "\n" for line in lines))


def rows(made: Made, run: str = "a") -> list[dict[str, object]]:
    file = made.archive.samples(run)
    assert file is not None
    found: list[dict[str, object]] = pq.read_table(file).to_pylist()
    return found


def test_dumps_belong_to_the_run_in_whose_folder_they_lie(made: Made) -> None:
    made.console("a/train.log", LOG)
    made.console("b/train.log", LOG)
    dump(made, "a/rollout_data/1.jsonl", ["x", "y"])
    dump(made, "b/my-dumps/qwen/val/2.jsonl", ["z"])
    assert made.ids() == ["a", "b"]
    assert made.archive.run("a").generations == (Dumped("rollout", 2, 2, 1, 1, 1),)
    assert made.archive.run("b").generations == (Dumped("validation", 1, 1, 1, 2, 2),)
    assert made.last.problems == ()


def test_a_log_directly_in_runs_has_the_dumps_beside_it(made: Made) -> None:
    made.console("train.log", LOG)
    dump(made, "rollouts/1.jsonl", ["x"])
    (run,) = made.ids()
    assert made.archive.run(run).generations[0].rows == 1


def test_a_log_in_a_folder_of_its_own_has_the_dumps_beside_that_folder(made: Made) -> None:
    made.jsonl("a/project/experiment.jsonl", LOG)
    dump(made, "a/rollouts/1.jsonl", ["x"])
    dump(made, "b/rollouts/1.jsonl", ["whose?"])
    (run,) = made.ids()
    assert made.archive.run(run).generations[0].rows == 1
    assert [problem.path for problem in made.last.problems] == ["b/rollouts/1.jsonl"]


def test_dumps_are_no_run_and_without_one_are_told(made: Made) -> None:
    made.console("a.log", LOG)
    made.console("b.log", [(step, {"critic/score/mean": 0.5}) for step in range(1, 9)])
    dump(made, "rollouts/1.jsonl", ["x"])
    dump(made, "rollouts/2.jsonl", ["x"])
    assert made.ids() == ["a", "b"]
    (problem,) = made.last.problems
    assert (problem.path, problem.kind) == ("rollouts", "no-run")
    assert "2 files" in problem.message


def test_steps_are_in_order_and_samples_numbered(made: Made) -> None:
    made.console("a/train.log", LOG)
    for step in (10, 9, 2):
        dump(made, f"a/rollouts/{step}.jsonl", ["x", "y"])
    made.update()
    assert [(row["step"], row["index"]) for row in rows(made)] == [
        (2, 0), (2, 1), (9, 0), (9, 1), (10, 0), (10, 1),
    ]  # fmt: skip


def test_the_dumps_of_a_folder_are_one_source(made: Made) -> None:
    made.console("a/train.log", LOG)
    for step in range(1, 40):
        dump(made, f"a/rollouts/{step}.jsonl", ["x"])
    made.update()
    log, dumps = made.run().sources
    assert (dumps.path, dumps.records) == ("a/rollouts/ (39 files)", 39)
    assert (dumps.first_step, dumps.last_step) == (1, 39)
    assert log.records == 8


def test_secrets_leave_every_text(made: Made) -> None:
    token = "hf_" + "a1B2c3D4" * 4
    made.console("a/train.log", LOG)
    record = {"input": f"in {token}", "output": f"out {token}", "gts": f"gts {token}", "score": 1, "step": 1}
    record |= {
        "note": f"note {token}",
        "api_key": "9f8e7d6c5b4a3f2e1d0c",
        "deep": {"list": [f"deep {token}"]},
    }
    made.file("a/rollouts/1.jsonl", json.dumps(record) + "\n")
    made.update()
    (row,) = rows(made)
    assert token not in repr(row) and "9f8e7d6c" not in repr(row)
    assert repr(row).count("[redacted:hf-token]") == 5
    assert {p.kind for p in made.run().problems} == {"redacted"}


def test_an_extra_that_is_not_finite_stays_valid_json(made: Made) -> None:
    made.console("a/train.log", LOG)
    made.file("a/rollouts/1.jsonl", '{"input": "q", "output": "a", "score": NaN, "x": [Infinity]}\n')
    made.update()
    assert json.loads(str(rows(made)[0]["extra"])) == {"score": "NaN", "x": ["Infinity"]}


def test_a_dump_that_grows_is_read_again_and_one_that_goes_is_gone(made: Made) -> None:
    made.console("a/train.log", LOG)
    dump(made, "a/rollouts/1.jsonl", ["x"])
    made.update()
    dump(made, "a/rollouts/2.jsonl", ["y"])
    assert made.update().changed == ("a",)
    assert len(rows(made)) == 2
    for step in (1, 2):
        (made.runs / f"a/rollouts/{step}.jsonl").unlink()
    made.update()
    assert made.archive.samples("a") is None
    assert made.archive.run("a").generations == ()


def test_the_same_dumps_give_the_same_bytes(made: Made) -> None:
    made.console("a/train.log", LOG)
    dump(made, "a/rollouts/1.jsonl", [f"answer {i}" for i in range(500)])
    made.update()
    file = made.archive.samples("a")
    assert file is not None
    before = file.read_bytes()
    (made.home / "manifest.json").unlink()
    file.unlink()
    made.update()
    assert file.read_bytes() == before


_PEAK = """
import resource, sys
from pathlib import Path
from sitegen import archive
start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
archive.update(Path(sys.argv[1]), Path(sys.argv[2]), jobs=1)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start) >> 10)
"""


def test_two_hundred_thousand_rows_stay_within_bounded_memory(made: Made) -> None:
    made.console("a/train.log", LOG)
    answer = "so it is, and what remains is small; " * 10
    for step in range(1, 5):
        record = f'{{"input": "question {step}", "output": "%d {answer}", "score": 0.5}}\n'
        made.file(f"a/rollouts/{step}.jsonl", "".join(record % i for i in range(50_000)))
    command = [sys.executable, "-c", _PEAK, str(made.runs), str(made.home)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert made.run().generations == (Dumped("rollout", 200_000, 200_000, 4, 1, 4),)
    assert int(done.stdout) < 150  # MB; the dumps are 90
