"""Every English text that code and templates say, as a catalog must name it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import sitegen
from sitegen.language.markup import texts
from sitegen.site import folder

PACKAGE = Path(sitegen.__file__).parent
_SAID = re.compile(r"""(?<![.\w])t\((['"])(.+?)\1\)""")
_COUNTED = re.compile(r"""\bplural\((?:[^()"']*,\s*)?(['"])(.+?)\1""")


def of_templates() -> dict[str, str]:
    """Text -> template that says it."""
    found: dict[str, str] = {}
    for file in sorted(folder().rglob("*.html")):
        source = file.read_text(encoding="utf-8")
        said = [*texts(source), *(one[1] for one in _SAID.findall(source))]
        said += [f"{{n}} {one[1]}" for one in _COUNTED.findall(source)]
        found |= dict.fromkeys(said, file.name)
    return found


def of_code() -> dict[str, str]:
    """Text -> module that says it with `t` or `plural`, as a literal or as the value of a name."""
    found: dict[str, str] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        found |= dict.fromkeys(_said(tree), file.relative_to(PACKAGE).as_posix())
    return found


def of_problems() -> set[str]:
    """Kinds of `Problem` that are made anywhere."""
    calls = (
        call
        for file in PACKAGE.rglob("*.py")
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Problem" and len(call.args) > 2
    )
    return {
        call.args[2].value
        for call in calls
        if isinstance(call.args[2], ast.Constant) and isinstance(call.args[2].value, str)
    }


def _said(tree: ast.AST) -> Iterator[str]:
    names = set()
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not call.args:
            continue
        called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if called in ("t", "known"):
            yield from _texts(call.args[0])
            names |= {one.id for one in ast.walk(call.args[0]) if isinstance(one, ast.Name)}
        elif called == "plural" and len(call.args) > 1:
            yield from (f"{{n}} {text}" for text in _texts(call.args[1]))
    for one in ast.walk(tree):
        if not (isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)):
            continue
        if one.targets[0].id in names:
            yield from _texts(one.value)
        if one.targets[0].id in ("_GROUPS", "GROUPS") and isinstance(one.value, ast.Dict):
            yield from (text for value in one.value.values for text in _texts(value))


def _texts(node: ast.expr) -> Iterator[str]:
    """A literal, or both of a choice."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search("[A-Za-z]", node.value):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from _texts(node.body)
        yield from _texts(node.orelse)
