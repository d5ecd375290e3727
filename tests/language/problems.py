"""Every sentence of a data problem that the code can make, with `7` in its places."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import sitegen

PACKAGE = Path(sitegen.__file__).parent
_ROOMS = ("archive", "ingest", "redact", "reports")
_MAKES = {"Problem": 3, "SourceRefused": 0, "_problem": 2, "_fault": 1}  # what makes one: first sentence at


def sentences() -> dict[str, str]:
    """Sentence -> module that makes it."""
    found: dict[str, str] = {}
    for room in _ROOMS:
        for file in sorted((PACKAGE / room).glob("*.py")):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            constants = _assigned(tree.body)
            for function in (one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)):
                known = constants | _assigned(list(ast.walk(function)))
                for text in _made(function, known):
                    if " " in text:
                        found[text] = f"{room}/{file.name}"
    return found


def _made(function: ast.FunctionDef, known: dict[str, list[ast.expr]]) -> Iterator[str]:
    for call in ast.walk(function):
        if not isinstance(call, ast.Call):
            continue
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        given = [*call.args, *(one.value for one in call.keywords if one.arg in ("message", "hint"))]
        if name in _MAKES:
            for argument in given[_MAKES[name] :]:
                yield from _said(argument, known, 0)
        elif name == "add" and len(call.args) == 3 and isinstance(call.args[0], ast.Constant | ast.Name):
            yield from _said(call.args[2], known, 0)
        elif name == "bad" and len(call.args) == 2:
            for why in _said(call.args[1], known, 0):
                yield f"the line is no step record: {why}"


def _assigned(nodes: list[ast.AST] | list[ast.stmt]) -> dict[str, list[ast.expr]]:
    found: dict[str, list[ast.expr]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, []).append(node.value)
    return found


def _said(node: ast.expr, known: dict[str, list[ast.expr]], depth: int) -> Iterator[str]:
    """All texts that an expression can be; what is not known of it is `7`."""
    if isinstance(node, ast.Constant):
        yield str(node.value)
    elif isinstance(node, ast.IfExp):
        yield from _said(node.body, known, depth)
        yield from _said(node.orelse, known, depth)
    elif isinstance(node, ast.JoinedStr):
        parts = [
            list(_said(part.value, known, depth + 1))
            if isinstance(part, ast.FormattedValue)
            else [part.value]
            for part in node.values
            if isinstance(part, ast.FormattedValue | ast.Constant)
        ]
        yield from ("".join(map(str, one)) for one in product(*parts))
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        for left, right in product(_said(node.left, known, depth), _said(node.right, known, depth)):
            yield left + right
    elif isinstance(node, ast.Name) and node.id in known and depth < 3:
        for value in known[node.id]:
            yield from _said(value, known, depth + 1)
    else:
        yield "7"
