"""The address of a live source in place of RUNS."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Sitegen, sitegen
from tests.live.conftest import Server

__all__ = ["sitegen"]

pytestmark = [pytest.mark.xdist_group("mlflow"), pytest.mark.timeout(900)]  # one server for all of them


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_ingest_copies_and_reads_and_a_second_one_finds_nothing_new(
    sitegen: Sitegen, server: Server, seeded: dict[str, str], tmp_path: Path
) -> None:
    address = f"{server.address}#demo/math"
    first, again = sitegen("ingest", address), sitegen("ingest", address)
    assert (first.status, again.status) == (0, 0)
    assert "2 of them new or changed" in first.err and "0 of them new or changed" in again.err
    assert first.out.count(" read ") == 2 and again.out.count(" unchanged ") == 2
    assert [each.name for each in tmp_path.iterdir()] == ["cache"]  # nothing is left in the folder at hand
    answer = sitegen("query", "SELECT max(last_step) AS last FROM runs", address, "--format", "csv")
    assert answer.out.split()[1] == "25999"


def test_a_copy_may_lie_below_the_runs_of_a_site(
    sitegen: Sitegen, server: Server, seeded: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "runs" / "own").mkdir(parents=True)
    (tmp_path / "runs/own/train.log").write_text("step:1 - a:0.5\nstep:2 - a:0.25\n")
    answer = sitegen("ingest", f"{server.address}#other", "--into", "runs/tracker")
    assert answer.status == 0, answer.err
    assert "3" in sitegen("query", "SELECT sum(steps) FROM runs WHERE run <> 'own'", "runs").out
    assert sitegen("ingest", "runs").out.count(" read ") + 1 >= 1
    assert sitegen("ingest", "runs", "--into", "elsewhere").status == 2


def test_build_and_check_take_an_address(
    sitegen: Sitegen, server: Server, seeded: dict[str, str], tmp_path: Path
) -> None:
    address = f"{server.address}#other"
    built = sitegen("build", address, "-o", tmp_path / "site")
    assert built.status == 0, built.err
    for name in ("other-going", f"mlruns-{seeded['going']}"):  # its name, and its number leads there
        assert (tmp_path / "site/runs" / name / "index.html").is_file()
    assert "3 steps" in sitegen("check", address, "--fail-on", "never").out


def test_an_address_in_mkdocs_yml_is_told_where_it_belongs(sitegen: Sitegen, tmp_path: Path) -> None:
    plugin = "plugins:\n  - sitegen:\n      runs: mlflow+http://host:5000/\n"
    (tmp_path / "mkdocs.yml").write_text(f"site_name: x\n{plugin}")
    answer = sitegen("ingest", "-c", "mkdocs.yml")
    assert answer.status == 2
    assert "stands on the command line only" in answer.err and "--into" in answer.err


def test_a_server_that_is_gone_ends_with_status_2_and_one_line(sitegen: Sitegen) -> None:
    answer = sitegen("ingest", "mlflow+http://127.0.0.1:9/", "-q")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith("sitegen: cannot reach http://127.0.0.1:9/")
    assert "Traceback" not in answer.err
