"""The work of a watched child: `python -m tests.bench.child WORK ARGUMENT…` prints seconds by phase."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sitegen import archive, mkdocs_plugin, reports
from sitegen import site as sites
from sitegen.config import Config

spent: defaultdict[str, float] = defaultdict(float)


def timed(phase: str, work: Callable[..., Any]) -> Callable[..., Any]:
    """`work`, with its seconds added to `phase`."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        began = time.perf_counter()
        try:
            return work(*args, **kwargs)
        finally:
            spent[phase] += time.perf_counter() - began

    return wrapper


def build(runs: str, home: str, out: str) -> None:
    """A whole build; what is ours (all but MkDocs and Pagefind) is told apart by its entry points."""
    sites.prepare = timed("prepare", sites.prepare)
    sites.write = timed("write", sites.write)
    sites.publish = timed("publish", sites.publish)
    sites.index = timed("pagefind", sites.index)
    sites.Site.html = timed("fragments", sites.Site.html)  # type: ignore[method-assign]
    sites.Manifest.of = timed("manifest", sites.Manifest.of)  # type: ignore[method-assign]
    archive.update = timed("archive", archive.update)
    folder = Path(out)
    config = mkdocs_plugin.config_file(folder.parent)
    whole = timed("whole", mkdocs_plugin.build)
    whole(config, runs=Path(runs), home=Path(home), out=folder)


def evaluate(home: str) -> None:
    """All rules over all runs."""
    shutil.rmtree(Path(home) / "cache", ignore_errors=True)
    timed("rules", reports.build)(archive.Archive(Path(home)), Config())


def plain(folder: str) -> None:
    """`mkdocs build` with what it brings."""
    from mkdocs.commands.build import build as mkdocs_build
    from mkdocs.config import load_config

    timed("whole", mkdocs_build)(load_config(str(Path(folder) / "mkdocs.yml")))


WORK: dict[str, Callable[..., None]] = {"build": build, "rules": evaluate, "plain": plain}

if __name__ == "__main__":
    WORK[sys.argv[1]](*sys.argv[2:])
    sys.stdout.write("\n" + json.dumps(spent) + "\n")
