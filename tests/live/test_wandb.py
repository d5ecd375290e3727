"""Runs of W&B through its own package, which asks a server on loopback: nothing sampled, nothing twice."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sitegen.ingest import wandb_export
from sitegen.ingest.source import Source
from tests.ingest.reading import Reading, gathered
from tests.live import wandb_server
from tests.live.wandb_server import Row, Run, Server

pytestmark = [
    pytest.mark.xdist_group("wandb"),
    pytest.mark.timeout(900),
]  # the package's own server is started once per process
TABLE = b'{"columns":["step","input_1","output_1","score_1"],"data":[[1,"q","a",1.0]]}'
LONG = 2_300  # rows: three pages


def row(step: int, **values: object) -> Row:
    return {"_step": step, "_timestamp": 1767225600.0 + step, "_runtime": float(step), **values}


def rows(n: int) -> list[Row]:
    return [
        row(step, **{"actor/grad_norm": 0.1 * step, "critic/score/mean": 1 / (step + 3)}) for step in range(n)
    ]


class Copying:
    """`sitegen ingest wandb://…` in a process of its own, against a server."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.folder, self.server = folder, server

    def ingest(self, address: str, **environment: str) -> subprocess.CompletedProcess[str]:
        self.server.asked.clear()
        home = {"HOME": str(self.folder), "XDG_CACHE_HOME": str(self.folder / "cache"), "no_proxy": "*"}
        with wandb_server.serving(self.server) as base:
            asked = {"WANDB_BASE_URL": base, "WANDB_API_KEY": wandb_server.KEY, **home, **environment}
            kept = {key: os.environ[key] for key in ("PATH", "PYTHONPATH", "TMPDIR") if key in os.environ}
            return subprocess.run(
                [sys.executable, "-m", "sitegen", "ingest", address, "--into", str(self.folder / "runs")],
                capture_output=True,
                text=True,
                env={**kept, **asked},
                stdin=subprocess.DEVNULL,
                timeout=200,
            )

    def reading(self, run: str) -> Reading:
        file = self.folder / "runs" / run / "history.jsonl"
        return gathered(wandb_export.read(Source(f"{run}/history.jsonl", file, file.stat().st_size)))


def test_every_row_of_every_run_is_copied_once(tmp_path: Path) -> None:
    odd = [row(0, loss=math.nan), row(1, loss=math.inf), row(5, loss=-math.inf), row(6, loss=5e-324)]
    live = [row(7, loss=math.nan), row(8, loss=math.inf), row(9, loss=0.25)]
    config = {"trainer": {"nnodes": 1, "logger": ["wandb"]}, "lr": 1e-06}
    files = {
        "output.log": b"step:1 - loss:0.123\n",
        "media/table/val/generations_1_0123456789abcdef.table.json": TABLE,
        "media/images/x.png": b"png",
        "../../evil.log": b"evil",
        "checkpoint.pt": b"large",
    }
    server = Server(
        Run("aaaaaaaa", "odd", odd + live, config, files, exported=len(odd)),
        Run("bbbbbbbb", "long", rows(LONG)),
        Run("cccccccc", "going", rows(3), state="running", exported=0),
        Run("dddddddd", "nothing was logged"),
    )
    copying = Copying(tmp_path, server)
    done = copying.ingest("wandb://ent/proj")
    assert done.returncode == 0, done.stderr
    assert "4 runs there, 4 of them new or changed" in done.stderr

    reading = copying.reading("aaaaaaaa")
    assert reading.rows == [
        (0, {}),
        (1, {}),
        (5, {}),
        (6, {"loss": 5e-324}),
        (7, {}),
        (8, {}),
        (9, {"loss": 0.25}),
    ]
    assert [(step, raw) for step, _, raw in reading.odd] == [
        (0, "nan"), (1, "inf"), (5, "-inf"), (7, "nan"), (8, "inf"),
    ]  # fmt: skip
    assert reading.times[0] == 1767225600.0
    assert reading.config == {"trainer.nnodes": "1", "trainer.logger": "['wandb']", "lr": "1e-06"}
    assert (reading.facts["project"], reading.facts["experiment"]) == ("proj", "odd")
    assert reading.problems == []

    long = copying.reading("bbbbbbbb")
    expected = [(r["_step"], {k: v for k, v in r.items() if not k.startswith("_")}) for r in rows(LONG)]
    assert long.rows == expected
    assert copying.reading("cccccccc").steps == [0, 1, 2]
    nothing = copying.reading("dddddddd")
    assert (nothing.steps, nothing.kinds) == ([], ["empty"])

    kept = sorted(
        str(each.relative_to(tmp_path / "runs")) for each in (tmp_path / "runs").rglob("*") if each.is_file()
    )
    assert kept == [
        "aaaaaaaa/files/media/table/val/generations_1_0123456789abcdef.table.json",
        "aaaaaaaa/files/output.log",
        "aaaaaaaa/history.jsonl",
        "bbbbbbbb/history.jsonl",
        "cccccccc/history.jsonl",
        "dddddddd/history.jsonl",
    ]
    assert wandb_server.KEY not in "".join(each.read_text() for each in tmp_path.rglob("*.jsonl"))
    assert "evil" not in {each.name for each in tmp_path.rglob("*")}

    stamps = {each: each.stat().st_mtime_ns for each in (tmp_path / "runs").rglob("*") if each.is_file()}
    server.runs["cccccccc"].rows.append(row(3, **{"actor/grad_norm": 7.5}))
    server.runs["cccccccc"].beat = "2026-01-01T02:00:00Z"
    again = copying.ingest("wandb://ent/proj")
    assert "4 runs there, 1 of them new or changed" in again.stderr
    assert server.asked.count("RunParquetHistory") == 1
    assert not any(asked.startswith("file") for asked in server.asked)
    changed = [each.parent.name for each in stamps if each.stat().st_mtime_ns != stamps[each]]
    assert changed == ["cccccccc"]
    assert copying.reading("cccccccc").steps == [0, 1, 2, 3]


def test_one_run_is_asked_for_by_its_id_and_the_key_stays_secret(tmp_path: Path) -> None:
    server = Server(Run("aaaaaaaa", "one", rows(3)), Run("bbbbbbbb", "two", rows(3)))
    copying = Copying(tmp_path, server)
    assert copying.ingest("wandb://ent/proj/bbbbbbbb").returncode == 0
    assert [each.name for each in (tmp_path / "runs").iterdir()] == ["bbbbbbbb"]
    missing = copying.ingest("wandb://ent/proj/nobody")
    assert missing.returncode == 2
    assert "W&B does not give wandb://ent/proj/nobody" in missing.stderr and "Traceback" not in missing.stderr
    wrong = "f" * 40
    refused = copying.ingest("wandb://ent/proj", WANDB_API_KEY=wrong)
    assert refused.returncode == 2
    assert "set WANDB_API_KEY" in refused.stderr and wrong not in refused.stderr + refused.stdout


def test_without_the_package_it_is_told_how_to_install_it(tmp_path: Path) -> None:
    (tmp_path / "hidden" / "wandb").mkdir(parents=True)
    (tmp_path / "hidden" / "wandb" / "__init__.py").write_text("raise ImportError('not here')\n")
    paths = os.pathsep.join([str(tmp_path / "hidden"), *sys.path])
    done = Copying(tmp_path, Server()).ingest("wandb://ent/proj", PYTHONPATH=paths)
    assert done.returncode == 2
    assert "pip install 'sitegen[wandb]'" in done.stderr


def test_a_copy_that_is_torn_keeps_the_rows_before_the_tear(tmp_path: Path) -> None:
    head = '{"config": {"a": {"b": 1}}, "name": "x", "wandb_history": 1}\n'
    text = head + '{"_step": 1, "m": {"n": 0.5}, "t": {"_type": "table-file"}}\n{"_step": 2, "m": 0.'
    (tmp_path / "runs/x").mkdir(parents=True)
    (tmp_path / "runs/x/history.jsonl").write_text(text)
    reading = Copying(tmp_path, Server()).reading("x")
    assert (reading.rows, reading.config) == ([(1, {"m.n": 0.5})], {"a.b": "1"})
    assert reading.kinds == ["unsupported", "truncated"]
