"""The build hook that pyproject.toml names: brings the JavaScript libraries before files are collected."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class LibrariesHook(BuildHookInterface[Any]):
    """Runs for wheels and editable installs; without npm's registry the build goes on without them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Fetch what is pinned, unless it is there."""
        libraries = _neighbour(Path(self.root) / "sitegen" / "packaging" / "libraries.py")
        try:
            libraries.fetch(Path(self.root))
        except libraries.FetchError as error:
            self.app.display_warning(f"sitegen without uPlot, charts stay drawings: {error}")


def _neighbour(path: Path) -> Any:
    """The module at `path`; importing it by name would import all of sitegen's dependencies."""
    spec = importlib.util.spec_from_file_location("sitegen_libraries", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
