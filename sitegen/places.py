"""Where in mkdocs.yml a setting stands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import yaml

OURS = ("plugins", "sitegen")


def where(file: Path, keys: Sequence[str]) -> str:
    """`mkdocs.yml:12` for what `keys` lead to below `- sitegen:`; without a line where that is not known."""
    line = line_of(file, (*OURS, *keys), len(OURS))
    return f"{file.name}:{line}" if line else file.name


def line_of(file: Path, keys: Sequence[str], least: int = 1) -> int | None:
    """1-based line of the key that `keys` lead to, or of the nearest one above it, at least `least` deep.

    None where the file does not say, such as one that inherits.
    """
    try:
        with file.open(encoding="utf-8") as stream:
            node = yaml.compose(stream, yaml.SafeLoader)
    except (OSError, ValueError, yaml.YAMLError):
        return None
    found = None
    for depth, key in enumerate(keys, start=1):
        pair = _pair(node, key)
        if pair is None:
            break
        name, node = pair
        found = name if depth >= least else None
    return found.start_mark.line + 1 if found is not None else None


def _pair(node: yaml.Node | None, key: str) -> tuple[yaml.Node, yaml.Node] | None:
    """Key and value of a mapping, or of the mappings in a list."""
    if isinstance(node, yaml.SequenceNode):
        return next((pair for item in node.value if (pair := _pair(item, key))), None)
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next(((name, value) for name, value in pairs if name.value == key), None)
