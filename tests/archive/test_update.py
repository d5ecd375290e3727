"""Updates: incremental, atomic, one writer, and the same bytes whichever way they came about."""

from __future__ import annotations

import gzip
import multiprocessing
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sitegen import archive
from sitegen.archive import processes
from sitegen.archive import refresh as module
from sitegen.archive.build import Built
from sitegen.archive.planned import RunPlan
from sitegen.errors import ArchiveError, Problem
from sitegen.ingest import filelogger
from sitegen.ingest.source import Source
from sitegen.model import Batch
from tests.archive.conftest import Made, curve, kinds


def contents(home: Path) -> dict[str, bytes]:
    """Every file of the archive proper."""
    folder = home / "archive"
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


def stamps(home: Path) -> dict[str, tuple[int, int]]:
    folder = home / "archive"
    return {str(f): (f.stat().st_ino, f.stat().st_mtime_ns) for f in folder.rglob("*") if f.is_file()}


def some_runs(made: Made) -> None:
    made.console("a/train.log", [*curve(1, 30), *curve(21, 40, shift=0.1)])
    made.jsonl("a/m.jsonl", curve(21, 40, shift=0.1))
    made.jsonl("b/m.jsonl", [*curve(1, 5), (6, {"x": None})])
    made.file("c/run.toml", 'tags = ["x"]\n')
    made.console("c/train.log", curve(1, 9))


def test_an_update_with_nothing_changed_touches_nothing(made: Made) -> None:
    some_runs(made)
    assert made.update().changed == ("a", "b", "c")
    before = stamps(made.home)
    assert made.update().changed == ()
    assert stamps(made.home) == before


def test_only_the_run_whose_log_grew_is_read_again(made: Made) -> None:
    some_runs(made)
    made.update()
    with (made.runs / "b/m.jsonl").open("a") as stream:
        stream.write('{"step":7,"data":{"x":0.5}}\n')
    assert made.update().changed == ("b",)
    assert made.archive.run("b").last_step == 7


def test_a_touched_file_with_the_same_content_changes_nothing(made: Made) -> None:
    some_runs(made)
    made.update()
    before = stamps(made.home)
    os.utime(made.runs / "b/m.jsonl", ns=(1, 1))
    assert made.update().changed == ()
    assert stamps(made.home) == before


def test_a_changed_run_toml_changes_its_run(made: Made) -> None:
    some_runs(made)
    made.update()
    made.file("c/run.toml", 'tags = ["y"]\n')
    assert made.update().changed == ("c",)
    assert made.archive.run("c").tags == ("y",)


def test_a_run_that_is_gone_leaves_the_archive(made: Made) -> None:
    some_runs(made)
    made.update()
    shutil.rmtree(made.runs / "b")
    assert made.update().removed == ("b",)
    assert made.archive.runs() == ("a", "c")


def test_a_second_source_joins_its_run(made: Made) -> None:
    made.console("a/train.log", curve(1, 9))
    assert len(made.run().sources) == 1
    made.jsonl("a/m.jsonl", curve(1, 9))
    assert len(made.run().sources) == 2


# --- the same bytes ------------------------------------------------------------------------


def test_two_archives_of_the_same_logs_are_equal_byte_for_byte(made: Made, tmp_path: Path) -> None:
    some_runs(made)
    made.update()
    shutil.copytree(made.runs, tmp_path / "elsewhere" / "runs")
    archive.update(tmp_path / "elsewhere" / "runs", tmp_path / "elsewhere" / ".sitegen")
    assert contents(made.home) == contents(tmp_path / "elsewhere" / ".sitegen")


def test_an_archive_that_grew_equals_one_made_at_once(made: Made, tmp_path: Path) -> None:
    some_runs(made)
    made.update()
    made.console("a/train.log", [*curve(1, 30), *curve(21, 60, shift=0.1)])
    made.jsonl("d/m.jsonl", curve(1, 3))
    made.update()
    archive.update(made.runs, tmp_path / "cold")
    assert contents(made.home) == contents(tmp_path / "cold")


def test_without_its_manifest_an_archive_stays_what_it_is(made: Made) -> None:
    some_runs(made)
    made.update()
    before = contents(made.home)
    (made.home / "manifest.json").unlink()
    assert made.update().changed == ()
    assert contents(made.home) == before


@pytest.mark.parametrize("junk", [b"", b"{", b"[]", b'{"version": 1}', b"\xff"])
def test_a_damaged_manifest_is_made_anew(made: Made, junk: bytes) -> None:
    some_runs(made)
    made.update()
    (made.home / "manifest.json").write_bytes(junk)
    assert made.update().runs == ("a", "b", "c")
    assert made.update().changed == ()


def test_processes_give_the_same_bytes_as_one(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    some_runs(made)
    made.update()
    monkeypatch.setattr(module, "SMALL", 0)
    archive.update(made.runs, tmp_path / "pool", jobs=2)
    assert contents(made.home) == contents(tmp_path / "pool")


def test_a_script_without_a_main_guard_may_call_it(made: Made) -> None:
    some_runs(made)
    lines = (
        "from pathlib import Path",
        "from sitegen import archive",
        "from sitegen.archive import refresh",
        "refresh.SMALL = 0",
        f"runs, home = Path({str(made.runs)!r}), Path({str(made.home)!r})",
        "print('called', archive.update(runs, home, jobs=3).changed)",
    )
    done = subprocess.run(
        [sys.executable, "-"], input="\n".join(lines), capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "called ('a', 'b', 'c')\n"
    assert done.stderr == ""


def test_a_process_that_dies_is_a_problem_of_its_run(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    some_runs(made)
    monkeypatch.setattr(module, "SMALL", 0)
    monkeypatch.setattr(processes, "attempt", die_on_a)
    update = made.update(jobs=2)
    assert [(p.path, p.kind) for p in update.problems] == [("a", "internal")]
    assert "died" in update.problems[0].message
    assert made.archive.runs() == ("b", "c")


def die_on_a(plan: RunPlan, folder: Path) -> Built | Problem:
    """Stands in for a reader that the system kills."""
    if plan.id == "a" and multiprocessing.parent_process() is not None:
        os._exit(9)
    return real_attempt(plan, folder)


real_attempt = processes.attempt


def test_no_file_of_the_archive_names_the_machine(made: Made, tmp_path: Path) -> None:
    some_runs(made)
    made.update()
    assert not [name for name, data in contents(made.home).items() if str(tmp_path).encode() in data]


# --- what goes wrong -----------------------------------------------------------------------


def test_a_reader_that_fails_keeps_what_it_read_and_stops_no_other_run(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.jsonl("a/bad.jsonl", curve(1, 5))
    made.jsonl("b/m.jsonl", curve(1, 5))
    real = filelogger.read

    def failing(source: Source) -> Iterator[Batch]:
        yield from real(source)
        if source.path.endswith("bad.jsonl"):
            raise ZeroDivisionError("secret details")

    monkeypatch.setattr(filelogger, "read", failing)
    assert made.ids() == ["a", "b"]
    (problem,) = made.archive.run("a").problems
    assert (problem.path, problem.kind) == ("a/bad.jsonl", "internal")
    assert "ZeroDivisionError" in problem.message and "secret" not in problem.message
    assert made.archive.run("a").steps == 5


def test_a_run_that_cannot_be_built_is_a_problem_and_stops_no_other(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.jsonl("a/m.jsonl", curve(1, 5))
    made.jsonl("b/m.jsonl", curve(1, 5))
    real = processes.build

    def failing(plan: RunPlan, folder: Path) -> Built:
        if plan.id == "a":
            raise RuntimeError
        return real(plan, folder)

    monkeypatch.setattr(processes, "build", failing)
    assert made.ids() == ["b"]
    assert [(p.path, p.kind) for p in made.last.problems] == [("a", "internal")]
    monkeypatch.setattr(processes, "build", real)
    assert made.ids() == ["a", "b"]


def test_a_run_that_can_no_longer_be_built_keeps_its_last_good_state(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.jsonl("a/m.jsonl", curve(1, 5))
    made.update()
    made.jsonl("a/m.jsonl", curve(1, 9))

    def failing(plan: RunPlan, folder: Path) -> Built:
        raise RuntimeError

    monkeypatch.setattr(processes, "build", failing)
    assert made.ids() == ["a"]
    assert made.archive.run("a").last_step == 5


def test_a_file_that_vanishes_between_listing_and_reading_is_told(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.jsonl("a/m.jsonl", curve(1, 5))
    gone = made.jsonl("a/n.jsonl", curve(6, 9))
    real = module.discover

    def discovering(*args: object) -> module.Discovery:
        found = real(*args)  # type: ignore[arg-type]
        gone.unlink()
        return found

    monkeypatch.setattr(module, "discover", discovering)
    run = made.run()
    assert [(p.path, p.kind) for p in run.problems] == [("a/n.jsonl", "unreadable")]
    assert run.steps == 5


def test_a_kill_between_two_folders_leaves_the_last_good_one(made: Made) -> None:
    made.jsonl("a/m.jsonl", curve(1, 5))
    made.update()
    folder = made.home / "archive"
    (folder / "a").rename(folder / ".old-a")
    (folder / ".new-a-1").mkdir()
    (folder / ".new-a-1/steps.parquet").write_bytes(b"half")
    assert made.archive.runs() == ()
    assert made.update().changed == ()
    assert made.archive.run("a").steps == 5
    assert [each.name for each in folder.iterdir()] == ["a"]


def test_a_folder_with_an_emptied_file_is_built_again(made: Made) -> None:
    made.jsonl("a/m.jsonl", curve(1, 5))
    made.update()
    (made.home / "archive/a/steps.parquet").write_bytes(b"")
    assert made.update().changed == ("a",)
    assert len(made.rows("step", run="a")) == 5


def test_a_second_build_waits_for_the_first_and_says_so(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    made.jsonl("a/m.jsonl", curve(1, 5))
    entered, leave, said = threading.Event(), threading.Event(), []
    real = module.discover

    def slow(*args: object) -> module.Discovery:
        entered.set()
        leave.wait(20)
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "discover", slow)
    first = threading.Thread(target=lambda: archive.update(made.runs, made.home))
    first.start()
    entered.wait(20)
    monkeypatch.setattr(module, "discover", real)
    second = threading.Thread(target=lambda: archive.update(made.runs, made.home, progress=said.append))
    second.start()
    for _ in range(400):
        if said:
            break
        time.sleep(0.05)
    leave.set()
    first.join(20)
    second.join(20)
    assert said and "waiting" in said[0]
    assert made.archive.runs() == ("a",)


def test_a_lock_file_that_a_killed_build_left_is_harmless(made: Made) -> None:
    made.jsonl("a/m.jsonl", curve(1, 5))
    made.home.mkdir()
    (made.home / "lock").write_text("4711")
    assert made.update().runs == ("a",)


def test_an_archive_that_cannot_be_written_is_an_error_that_says_where(made: Made, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArchiveError, match="cannot write the archive"):
        archive.update(made.runs, tmp_path / "file" / "home")


def test_a_packed_log_is_read_and_a_torn_one_keeps_what_precedes(made: Made) -> None:
    text = "".join(f'{{"step":{s},"data":{{"x":{s * 0.37}}}}}\n' for s in range(5000)).encode()
    made.file("a/m.jsonl.gz", gzip.compress(text))
    made.file("b/m.jsonl.gz", gzip.compress(text)[:-3000])
    made.update()
    assert made.archive.run("a").steps == 5000
    torn = made.archive.run("b")
    assert 500 < torn.steps < 5000
    assert set(kinds(torn.problems)) == {"truncated"}


@pytest.mark.parametrize(
    "line",
    [b"step:1 - critic/score/mean:0.5 - " + b"x" * 200 + b"\n", b'{"step":1,"data":{"x":0.5}}\n', b"\0" * 40],
)
def test_a_bomb_is_refused_with_a_problem(made: Made, monkeypatch: pytest.MonkeyPatch, line: bytes) -> None:
    monkeypatch.setattr("sitegen.ingest.source.MAX_EXPANDED", 1 << 18)
    made.file("a/bomb.gz", gzip.compress(line * (4_000_000 // len(line)), 9))
    made.jsonl("b/m.jsonl", curve(1, 3))
    made.update()
    assert made.archive.run("b").steps == 3
    told = [*made.last.problems, *(p for run in made.archive.runs() for p in made.archive.run(run).problems)]
    assert ("a/bomb.gz", "too-large") in [(p.path, p.kind) for p in told]


def test_removed_runs_are_listed_with_date_and_reason(made: Made) -> None:
    made.file(
        "removed.toml",
        '[[run]]\nid = "old"\ndate = 2026-01-05\nwhy = "trained on the test set"\n[[run]]\nwhy = "x"\n',
    )
    update = made.update()
    assert made.archive.removed() == (("old", "2026-01-05", "trained on the test set"),)
    assert kinds(update.problems) == ["run-toml"]
