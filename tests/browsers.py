"""A real Chromium, and folders served to it: what every test that opens a page begins with."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from sitegen.site import has_charts

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Static files, without a line for each."""

    def log_message(self, format: str, *args: object) -> None:
        pass


#: How long a page may take to show what it should, on a machine that runs other tests beside it.
PATIENCE_MS = 20_000


@contextmanager
def started(charts: bool = False) -> Iterator[Browser]:
    """A Chromium; without one, or without uPlot for tests of `charts`, tests are skipped, and fail in CI."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if os.environ.get("CI") != "true":
        if path is None:
            pytest.skip("no Chromium: set CHROMIUM")
        if charts and not has_charts():
            pytest.skip("no uPlot: python -m sitegen.packaging.libraries")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=FLAGS.split())
        yield browser
        browser.close()


class Site(http.server.ThreadingHTTPServer):
    """Serves to pages that may be left while they load, which is nobody's fault."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def served(folder: Path, handler: type[http.server.SimpleHTTPRequestHandler] = Quiet) -> Iterator[str]:
    """The address at which `folder` is served, ending with "/"."""
    answer = functools.partial(handler, directory=str(folder))
    with Site(("127.0.0.1", 0), answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
