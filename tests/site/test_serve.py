"""The server shows the newest good build, on loopback only."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue

from sitegen.site.serve import serve, snapshot


@contextmanager
def serving(build: Callable[[int], Path], watched: Path) -> Iterator[tuple[str, Queue[str]]]:
    """The address of a running server, and what it says after that."""
    said: Queue[str] = Queue()
    stop = threading.Event()
    rest = {"port": 0, "interval": 0.02, "say": said.put, "stop": stop}
    thread = threading.Thread(target=serve, args=(build, [watched]), kwargs=rest)
    thread.start()
    try:
        yield said.get(timeout=10), said
    finally:
        stop.set()
        thread.join(10)


def get(address: str) -> str:
    with urllib.request.urlopen(address, timeout=10) as answer:
        return str(answer.read().decode())


class Builds:
    """Makes `site` and remembers how often; raises in the builds named `bad`."""

    def __init__(self, place: Path, bad: tuple[int, ...] = ()) -> None:
        self.site, self.bad = place / "site", bad
        self.done: Queue[int] = Queue()

    def __call__(self, number: int) -> Path:
        try:
            if number in self.bad:
                raise ValueError("a card is half written")
            (self.site / "runs").mkdir(parents=True, exist_ok=True)
            (self.site / "index.html").write_text(f"build {number}")
            (self.site / "runs/index.html").write_text("runs")
            return self.site
        finally:
            self.done.put(number)


def test_pages_are_served_on_loopback(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    with serving(Builds(tmp_path), tmp_path / "logs") as (address, _):
        assert address.startswith("http://127.0.0.1:")
        assert get(address).startswith("build 0")
        assert get(f"{address}runs/").startswith("runs")


def test_a_log_that_grows_is_built_again_and_open_pages_learn_of_it(tmp_path: Path) -> None:
    logs, builds = tmp_path / "logs", Builds(tmp_path)
    logs.mkdir()
    with serving(builds, logs) as (address, _):
        before = get(f"{address}.sitegen-build")
        (logs / "train.log").write_text("step:1")
        assert [builds.done.get(timeout=10) for _ in range(2)] == [0, 1]
        assert get(address).startswith("build 1")
        assert any(get(f"{address}.sitegen-build") != before for _ in range(200))


def test_a_build_that_fails_leaves_the_last_good_site(tmp_path: Path) -> None:
    logs, builds = tmp_path / "logs", Builds(tmp_path, bad=(1,))
    logs.mkdir()
    with serving(builds, logs) as (address, said):
        (logs / "train.log").write_text("step:1")
        assert "a card is half written" in said.get(timeout=10)
        assert get(address).startswith("build 0")


def test_nothing_outside_the_site_is_served(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "secret.html").write_text("secret")
    with serving(Builds(tmp_path), tmp_path / "logs") as (address, _):
        try:
            answer = get(f"{address}../secret.html")
        except urllib.error.HTTPError as error:
            answer = str(error.code)
        assert "secret" not in answer


def test_links_are_not_followed_when_logs_are_watched(tmp_path: Path) -> None:
    (tmp_path / "big").mkdir()
    (tmp_path / "big/file").write_text("x")
    watched = tmp_path / "logs"
    watched.mkdir()
    (watched / "link").symlink_to(tmp_path / "big")
    assert not any(name.endswith("file") for name in snapshot([watched]))
