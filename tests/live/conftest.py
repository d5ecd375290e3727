"""A real MLflow server on loopback, and what was logged to it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sitegen import live
from tests.trackers import environment

SEED = Path(__file__).with_name("seed_mlflow.py")


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy between this machine and itself, no credentials of whoever runs the tests."""
    monkeypatch.setenv("no_proxy", "*")
    for name in ("USERNAME", "PASSWORD", "TOKEN", "URI"):
        monkeypatch.delenv(f"MLFLOW_TRACKING_{name}", raising=False)


@dataclass(frozen=True)
class Server:
    """A server that runs, and the folder with its database."""

    uri: str
    folder: Path

    @property
    def address(self) -> str:
        return f"mlflow+{self.uri}/"

    def seed(self, what: str, *arguments: str) -> dict[str, str]:
        """Log something to it with MLflow's own client."""
        home = {"HOME": str(self.folder), "MLFLOW_TRACKING_URI": self.uri}
        said = environment.run(SEED, self.uri, what, *arguments, **home)
        found: dict[str, str] = json.loads(said.strip().splitlines()[-1])
        return found


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    python = environment.interpreter()
    folder = tmp_path_factory.mktemp("mlflow")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        str(python), "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1",
        "--backend-store-uri", f"sqlite:///{folder}/server.db",
        "--artifacts-destination", f"{folder}/artifacts",
    ]  # fmt: skip
    kept = {"PATH": f"{python.parent}:{os.environ['PATH']}", "HOME": str(folder), "no_proxy": "*"}
    with (folder / "log").open("wb") as log:
        # A session of its own: the server starts others, which must end with it.
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env=kept, cwd=folder, start_new_session=True
        )
    found = Server(f"http://127.0.0.1:{port}", folder)
    try:
        _wait(found, process)
        yield found
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait(server: Server, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert process.poll() is None, (server.folder / "log").read_text()[-3000:]
        try:
            with urllib.request.urlopen(f"{server.uri}/health", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail("the server did not come up")


@pytest.fixture(scope="session")
def seeded(server: Server) -> dict[str, str]:
    """Ids by name of the runs that `seed_mlflow.first` logs."""
    return server.seed("first")


class Kept:
    """A copy in the making, and what was said about it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said: list[str] = []

    def copy(self, address: str) -> live.Copied:
        self.said.clear()
        return live.copy(live.parse(address), self.folder, self.said.append)

    @property
    def database(self) -> Path:
        return self.folder / "mlruns.db"


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path / "copy")
