"""Runs of a real MLflow server: nothing is lost on the way, and nothing is fetched twice."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from sitegen import archive
from sitegen.errors import ConfigError
from sitegen.ingest import mlflow_db
from sitegen.ingest.source import Source
from tests.ingest.reading import Reading, gathered
from tests.live.conftest import Kept, Server
from tests.trackers import environment, test_verl

pytestmark = [pytest.mark.xdist_group("mlflow"), pytest.mark.timeout(900)]  # one server for all of them


def readings(file: Path) -> dict[str, Reading]:
    """What the reader of databases finds, by the name of the part."""
    whole = Source(file.name, file, file.stat().st_size)
    found = {}
    for part in mlflow_db.parts(whole):
        source = Source(f"x#{part.name}", file, whole.size, part.name)
        found[part.name] = gathered(mlflow_db.read(source))
    return found


def own(server: Server, folder: Path) -> dict[str, Reading]:
    """The same of the server's own database, of which a copy is read: it is being written to."""
    for file in server.folder.glob("server.db*"):
        (folder / file.name).write_bytes(file.read_bytes())
    return readings(folder / "server.db")


def test_a_copy_is_read_as_the_database_of_the_server_is(
    server: Server, seeded: dict[str, str], kept: Kept, tmp_path: Path
) -> None:
    kept.copy(server.address)
    expected, found = own(server, tmp_path), readings(kept.database)
    assert set(seeded.values()) <= found.keys() == expected.keys()
    for run in seeded.values():
        assert found[run].rows == expected[run].rows
        assert found[run].times == expected[run].times
        assert found[run].odd == expected[run].odd
        assert found[run].config == expected[run].config
        assert found[run].facts == expected[run].facts
        assert found[run].kinds == expected[run].kinds
    assert sorted(found[seeded["grpo"]].odd)[:2] == [
        (1, "actor/grad_norm", "nan"),
        (1, "critic/score/mean", "nan"),
    ]
    assert found[seeded["grpo"]].steps == [0, 1, 2, 3, 4, 5, 6, 7, 3, 4, 5]
    assert found[seeded["grpo"]].facts["project"] == "demo/math"


def test_what_verl_logs_to_a_server_comes_back_as_it_was_given(
    server: Server, kept: Kept, tmp_path: Path
) -> None:
    said = {"project": "crosscheck", "experiment": "grpo-7b", "config": test_verl.CONFIG}
    stdin = json.dumps({**said, "records": test_verl.RECORDS, "samples": test_verl.SAMPLES})
    home = {"HOME": str(tmp_path), "MLFLOW_TRACKING_URI": server.uri}
    environment.run(test_verl.SCRIPT, "mlflow", stdin=stdin, cwd=tmp_path, **home)
    kept.copy(f"{server.address}#crosscheck/grpo-7b")
    (reading,) = readings(kept.database).values()
    finite = ((step, name, repr(value)) for step, row in reading.rows for name, value in row.items())
    assert Counter([*finite, *reading.odd]) == Counter(test_verl.all_values())
    assert test_verl.samples(kept.folder, tmp_path) == test_verl.given()


def test_no_value_of_a_long_metric_is_sampled_away(
    server: Server, seeded: dict[str, str], kept: Kept
) -> None:
    kept.copy(f"{server.address}#demo/math/many")
    (reading,) = readings(kept.database).values()
    assert [row["actor/big"] for _, row in reading.rows] == [i + 0.5 for i in range(26_000)]
    assert reading.steps == list(range(26_000))


def test_a_second_copy_fetches_nothing_and_changes_no_byte(
    server: Server, seeded: dict[str, str], kept: Kept
) -> None:
    first = kept.copy(f"{server.address}#demo/math")
    before, stamp = kept.database.read_bytes(), kept.database.stat().st_mtime_ns
    again = kept.copy(f"{server.address}#demo/math")
    assert (first.runs, first.fetched, again.runs, again.fetched) == (2, 2, 2, 0)
    assert kept.said == []
    assert (kept.database.read_bytes(), kept.database.stat().st_mtime_ns) == (before, stamp)


def test_a_run_that_goes_on_is_fetched_again_until_it_ends(server: Server, kept: Kept) -> None:
    run = server.seed("going")["going"]
    address = f"{server.address}#going"
    assert kept.copy(address).fetched == 1
    before = kept.database.read_bytes()
    assert kept.copy(address).fetched == 0  # it was asked for again, and nothing is new
    assert kept.database.read_bytes() == before
    server.seed(
        "more", run
    )  # goes back a step: the list of runs, which has the newest step, says nothing of it
    assert kept.copy(address).fetched == 1
    assert readings(kept.database)[run].steps == [1, 2, 3, 2]
    server.seed("end", run)
    assert (kept.copy(address).fetched, kept.copy(address).fetched) == (1, 0)
    assert kept.said == []


def test_a_run_that_was_deleted_stays_and_says_so(server: Server, kept: Kept) -> None:
    run = server.seed("going", "deleted-later")["going"]
    address = f"{server.address}#deleted-later"
    kept.copy(address)
    server.seed("delete", run)
    kept.copy(address)
    reading = readings(kept.database)[run]
    assert (reading.steps, reading.kinds) == ([1, 2, 3], ["deleted"])


def test_samples_and_traces_come_along(server: Server, kept: Kept, tmp_path: Path) -> None:
    run = server.seed("samples")["agent"]
    address = f"{server.address}#traced"
    kept.copy(address)
    assert [file.name for file in kept.folder.rglob("*.json")].count("val_step1.json") == 1
    assert not list(kept.folder.rglob("other.json"))
    archive.update(kept.folder, tmp_path / "home")
    made = archive.Archive(tmp_path / "home")
    (name,) = made.runs()
    found = made.run(name)
    assert [(g.kind, g.rows) for g in found.generations] == [("validation", 1)]
    assert [(t.traces, t.calls) for t in found.traces] == [(3, 3)]
    assert found.facts["run_id"] == run
    files = {file: file.stat().st_mtime_ns for file in kept.folder.rglob("*") if file.is_file()}
    kept.copy(address)
    assert {file: file.stat().st_mtime_ns for file in kept.folder.rglob("*") if file.is_file()} == files


def test_the_copy_is_for_its_owner_only(server: Server, seeded: dict[str, str], kept: Kept) -> None:
    kept.copy(f"{server.address}#other")
    assert kept.folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ("demo/math", ["grpo 7b", "many"]),
        ("demo/math/grpo 7b", ["grpo 7b"]),
        ("demo%2Fmath/many", ["many"]),
        ("other", ["going"]),
        ("/experiments/{other}/runs/{going}", ["going"]),
    ],
)
def test_an_address_names_an_experiment_or_a_run(
    server: Server, seeded: dict[str, str], kept: Kept, wanted: str, names: list[str]
) -> None:
    said = wanted.format(other="2", going=seeded["going"])
    kept.copy(f"{server.address}#{said}")
    assert sorted(each.facts["title"] for each in readings(kept.database).values()) == names


def test_an_experiment_that_is_not_there_is_told_with_the_nearest(
    server: Server, seeded: dict[str, str], kept: Kept
) -> None:
    with pytest.raises(ConfigError, match=r"no experiment 'demo/maths'.*demo/math"):
        kept.copy(f"{server.address}#demo/maths")
    with pytest.raises(ConfigError, match="no run 'nobody'"):
        kept.copy(f"{server.address}#demo/math/nobody")
