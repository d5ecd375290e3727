"""Show a site on this machine and build it again when logs grow."""

from __future__ import annotations

import functools
import http.server
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

_SCRIPT = "/.sitegen-reload.js"  # a file: pages allow no inline script
_RELOAD = f'<script src="{_SCRIPT}"></script>\n'.encode()
_WATCHES = b"""(function () {
  var seen;
  setInterval(function () {
    fetch("/.sitegen-build").then(function (answer) { return answer.text(); }).then(function (build) {
      if (seen && seen !== build) location.reload();
      seen = build;
    }).catch(function () {});
  }, 2000);
})();
"""


def serve(
    build: Callable[[int], Path],
    watched: Iterable[Path],
    *,
    port: int = 8000,
    interval: float = 2.0,
    say: Callable[[str], None] = lambda line: None,
    stop: threading.Event | None = None,
) -> None:
    """Serve on loopback until `stop` is set or Ctrl-C; builds are numbered from 0.

    Args:
        build: makes the site and returns its folder; called again after files below `watched`
            changed and then stood still for one `interval`. An exception of a later build is
            reported and the last good site stays.
        watched: folders and files whose size or time of change is polled.
        port: 0 picks a free one.
        interval: seconds between looks.
        say: told the address and every build.
        stop: ends serving.

    """
    stop = stop or threading.Event()
    places = tuple(watched)
    before = snapshot(places)  # what changes while the first build runs is seen after it
    state = _State(build(0))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), functools.partial(_Handler, state))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    say(f"http://127.0.0.1:{server.server_address[1]}/")
    try:
        _watch(build, before, places, state, interval, say, stop)
    except KeyboardInterrupt:
        pass
    finally:
        server.shutdown()
        server.server_close()


def _watch(
    build: Callable[[int], Path],
    built: dict[str, tuple[int, int]],
    places: tuple[Path, ...],
    state: _State,
    interval: float,
    say: Callable[[str], None],
    stop: threading.Event,
) -> None:
    seen = built
    number = 0
    while not stop.wait(interval):
        now = snapshot(places)
        if now == built or now != seen:  # nothing new, or still being written
            seen = now
            continue
        number += 1
        try:
            state.root, state.number = build(number), number
        except Exception as error:  # noqa: BLE001,RUF100  a half-written card must not end the server
            say(f"build failed, the last good site stays: {error}")
        built = seen = now


def snapshot(places: Iterable[Path]) -> dict[str, tuple[int, int]]:
    """Path -> (size, time of change in ns) of every file below `places`, symlinks not followed."""
    found: dict[str, tuple[int, int]] = {}
    for place in places:
        for file in [place, *place.rglob("*")] if place.is_dir() else [place]:
            try:
                about = file.lstat()
            except OSError:
                continue  # vanished between listing and looking
            if not file.is_dir():
                found[str(file)] = (about.st_size, about.st_mtime_ns)
    return found


class _State:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.number = 0
        self.started = time.time_ns()


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Static files of the newest build; pages learn when there is a newer one."""

    def __init__(self, state: _State, *args: object) -> None:
        self._state = state
        super().__init__(*args, directory=str(state.root))  # type: ignore[arg-type]

    def do_GET(self) -> None:
        if self.path == "/.sitegen-build":
            self._send(f"{self._state.started}-{self._state.number}".encode(), "text/plain")
            return
        if self.path == _SCRIPT:
            self._send(_WATCHES, "text/javascript")
            return
        file = Path(self.translate_path(self.path))
        page = file / "index.html" if file.is_dir() and self.path.split("?")[0].endswith("/") else file
        if page.suffix == ".html" and page.is_file():
            self._send(page.read_bytes() + _RELOAD, "text/html; charset=utf-8")
            return
        super().do_GET()

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: requests are no news."""
