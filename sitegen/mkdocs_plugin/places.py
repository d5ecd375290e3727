"""Where in mkdocs.yml a setting stands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import yaml


def line_of(file: Path, keys: Sequence[str]) -> int | None:
    """1-based line of the key that `keys` lead to below `- sitegen:`, or of the nearest one above it.

    None where the file does not say, such as one that inherits.
    """
    try:
        with file.open(encoding="utf-8") as stream:
            node = yaml.compose(stream, yaml.SafeLoader)
    except (OSError, ValueError, yaml.YAMLError):
        return None
    found = None
    for key in ("plugins", "sitegen", *keys):
        pair = _pair(node, key)
        if pair is None:
            break
        name, node = pair
        found = name if key != "plugins" else None
    return found.start_mark.line + 1 if found is not None else None


def _pair(node: yaml.Node | None, key: str) -> tuple[yaml.Node, yaml.Node] | None:
    """Key and value of a mapping, or of the mappings in a list."""
    if isinstance(node, yaml.SequenceNode):
        return next((pair for item in node.value if (pair := _pair(item, key))), None)
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next(((name, value) for name, value in pairs if name.value == key), None)
