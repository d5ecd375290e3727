"""Charts in a browser: complete without JavaScript, alive soon, and little to load before the first touch."""

from __future__ import annotations

import functools
import http.server
import json
import os
import shutil
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, sync_playwright

from sitegen.archive import Archive, update
from sitegen.config import Config
from sitegen.pages import chart_data
from sitegen.reports import Reports

from . import inputs
from .host import Host
from .measure import Bench, Result
from .sites import build

NAME = "charts"
STEPS, METRICS, TIMES = 5000, 80, 5
TEN = 10  # runs in a comparison
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
)


def run(bench: Bench) -> list[Result]:
    """A run of 5 000 steps and 80 metrics as a reader meets it."""
    steps = bench.size(STEPS, 400)
    runs = _runs(bench.folder / "charts-runs", steps)
    made = build(runs, bench.folder / "charts-home", bench.folder / "charts-site", fresh=True)
    page = made.site / "runs" / "wide"
    small, exact = (
        (page / "data" / name).stat().st_size / 1000 for name in (chart_data.MAIN, chart_data.EXACT)
    )
    with served(made.site) as origin, sync_playwright() as play:
        path = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = play.chromium.launch(executable_path=path, args=list(FLAGS))
        plain = _without_script(browser, f"{origin}runs/wide/")
        visits = [_visit(browser, f"{origin}runs/wide/") for _ in range(TIMES)]
        browser.close()
    ten = _compared(bench)
    alive = statistics.median(one["alive"] for one in visits)
    told = f"{steps} steps x {METRICS} metrics"
    return [
        Result("charts alive", alive / 1000, "s", 1.0, "down", f"after load; {told}"),
        Result("transferred", visits[0]["bytes"] / 1000, "KB", 250, "down", visits[0]["told"]),
        Result(
            "drawn plain", plain, "", 12, "up", "charts of the overview without JavaScript at first paint"
        ),
        Result("picture", small, "KB", None, "down", f"charts.bin; exact.bin {exact:.0f} KB"),
        Result("picture 40", _of_forty(bench), "KB", 60, "down", "charts.bin of 1 000 steps x 40 metrics"),
        Result(
            "compared", ten / 1000, "s", 1.5, "down", f"{TEN} runs of 1 000 steps x 40 metrics, to the curves"
        ),
        Result("per run", _cost(bench), "ms", 5, "down", "processor, files of 300 steps x 60 metrics"),
    ]


def _runs(folder: Path, steps: int) -> Path:
    file = folder / "wide" / "metrics.jsonl"
    if not file.is_file():
        file.parent.mkdir(parents=True)
        rng = np.random.default_rng(1)
        more = {f"custom/part_{k}": rng.normal(size=steps) for k in range(METRICS - len(inputs.LEVELS) - 1)}
        with file.open("w") as out:
            for step, data in inputs.records(5, steps):
                data |= {name: float(values[step - 1]) for name, values in more.items()}
                out.write(json.dumps({"step": step, "data": data}) + "\n")
    return folder


def _of_forty(bench: Bench) -> float:
    """KB of the first file of a run of 1 000 steps and 40 metrics."""
    report = _report(bench, "forty", 1000, 40)
    return len(chart_data.files(report)[chart_data.MAIN]) / 1000


def _compared(bench: Bench) -> float:
    """Milliseconds from the click until ten runs lie over each other; the median."""
    folder, ids = bench.folder / "charts-ten", [f"run-{k}" for k in range(TEN)]
    for seed, name in enumerate(ids):
        file = folder / name / "metrics.jsonl"
        if file.is_file():
            continue
        file.parent.mkdir(parents=True)
        with file.open("w") as out:
            for step, data in inputs.records(seed, 1000):
                out.write(json.dumps({"step": step, "data": dict(list(data.items())[:40])}) + "\n")
    made = build(folder, bench.folder / "charts-ten-home", bench.folder / "charts-ten-site", fresh=True)
    with served(made.site) as origin, sync_playwright() as play:
        path = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = play.chromium.launch(executable_path=path, args=list(FLAGS))
        address = f"{origin}compare/?runs={','.join(ids)}"
        taken = [_until(browser, address, "sitegen:compared") for _ in range(TIMES)]
        browser.close()
    return statistics.median(taken)


def _until(browser: Browser, address: str, mark: str) -> float:
    """Milliseconds from the start of the navigation to a mark of the page, without a cache."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(address)
    page.locator("html[data-sg-compared=alive]").wait_for(state="attached", timeout=30_000)
    found = page.evaluate(f"performance.getEntriesByName('{mark}')[0].startTime")
    context.close()
    return float(found)


def _cost(bench: Bench) -> float:
    """Processor milliseconds for the files of one run of the archive's size; the best of many."""
    report, best = _report(bench, "usual", 300, 60), float("inf")
    for _ in range(20):
        began = time.process_time()
        chart_data.files(report)
        best = min(best, time.process_time() - began)
    return best * 1000


def _report(bench: Bench, name: str, steps: int, metrics: int) -> Any:
    file = bench.folder / f"charts-{name}" / name / "metrics.jsonl"
    if not file.is_file():
        file.parent.mkdir(parents=True)
        with file.open("w") as out:
            for step, data in inputs.records(5, steps):
                kept = dict(list(data.items())[:metrics])
                out.write(json.dumps({"step": step, "data": kept}) + "\n")
    home = bench.folder / f"charts-{name}-home"
    update(file.parents[1], home, jobs=1)
    return Reports(Archive(home), Config()).run(name)


def _visit(browser: Browser, address: str) -> dict[str, Any]:
    """Milliseconds from load until charts are alive, and bytes over the wire until then and a second on."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    network = context.new_cdp_session(page)
    network.send("Network.enable")
    names: dict[str, str] = {}
    sizes: dict[str, int] = {}
    network.on("Network.responseReceived", lambda e: names.update({e["requestId"]: e["response"]["url"]}))
    network.on("Network.loadingFinished", lambda e: sizes.update({e["requestId"]: e["encodedDataLength"]}))
    page.goto(address, wait_until="load")
    page.locator("html[data-sg-charts=alive]").wait_for(state="attached", timeout=30_000)
    page.wait_for_timeout(1000)
    marks = "performance.getEntriesByName('sitegen:alive')[0].startTime"
    alive = page.evaluate(f"{marks} - performance.getEntriesByType('navigation')[0].loadEventEnd")
    told = sorted(
        ((size, names.get(key, "?").rsplit("/", 1)[-1] or "page") for key, size in sizes.items()),
        reverse=True,
    )
    context.close()
    return {
        "alive": alive,
        "bytes": sum(sizes.values()),
        "told": ", ".join(f"{name} {size / 1000:.0f}" for size, name in told[:6]),
    }


def _without_script(browser: Browser, address: str) -> int:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address, wait_until="domcontentloaded")
    count = page.locator("#overview svg.sg-svg .sg-line").count()
    context.close()
    return count


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address at which `folder` is served as a host of static sites does."""
    handler = functools.partial(Host, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
