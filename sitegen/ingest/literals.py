"""Python literals as `pprint` writes them, read by a tokenizer. Nothing is evaluated.

Strings that lie beside each other are one string, as in Python; one that is not closed ends with its line.
What is no literal (a call, an object in angle brackets) is kept as text. A text that ends in the middle gives
what was read up to there. Time grows with the length of the text, whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r"\s*(?:"
    r"(?P<string>[bBuUrR]{0,2}(?:'(?:[^'\\\n]|\\.)*+'?|\"(?:[^\"\\\n]|\\.)*+\"?))"
    r"|(?P<open>[({\[])|(?P<close>[)}\]])|(?P<comma>,)|(?P<colon>:)"
    r"|(?P<angle><[^<>\n]*(?:<[^<>\n]*>[^<>\n]*)*>)"
    r"|(?P<word>[^\s'\",:(){}\[\]<>]+)"
    r"|(?P<other>\S)"
    r")",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\n": "", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
MAX_DEPTH = 60
_CLOSES = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Atom:
    """A word, a number or a call, as text: `True`, `1e-06`, `np.float64(0.5)`."""

    text: str


Literal = str | Atom | list["Literal"] | dict[str, "Literal"]


def parse(text: str) -> Literal | None:
    """The first literal in `text`; None when there is none."""
    reader = _Reader(text)
    return reader.value(0)


def balance(line: str) -> int:
    """How many brackets `line` opens more than it closes, those inside strings left out."""
    depth = 0
    for match in _TOKEN.finditer(line):
        if match.lastgroup == "open":
            depth += 1
        elif match.lastgroup == "close":
            depth -= 1
    return depth


def strings(text: str) -> str:
    """All string literals of `text`, put together: what `pprint` split over several lines."""
    return "".join(_unquoted(m["string"]) for m in _TOKEN.finditer(text) if m.lastgroup == "string")


def render(value: Literal) -> str:
    """A literal as one line of text; strings inside lists and dicts keep quotes."""
    if isinstance(value, str):
        return value
    return _inner(value)


def _inner(value: Literal) -> str:
    if isinstance(value, Atom):
        return value.text
    if isinstance(value, str):
        return repr(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(_inner, value)) + "]"
    return "{" + ", ".join(f"{key!r}: {_inner(item)}" for key, item in value.items()) + "}"


def flatten(value: Literal, prefix: str = "") -> Iterator[tuple[str, str]]:
    """(dotted key, text) of every leaf of nested dicts; an empty dict is a leaf."""
    if isinstance(value, dict) and (value or not prefix):
        for key, item in value.items():
            yield from flatten(item, f"{prefix}.{key}" if prefix else key)
    else:
        yield prefix, render(value)


def of_json(value: object, depth: int = 0) -> Literal:
    """A JSON value as the literal that Python would print for it, so that `null` is `None`."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and depth < MAX_DEPTH:
        return {str(key): of_json(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list) and depth < MAX_DEPTH:
        return [of_json(item, depth + 1) for item in value]
    return Atom(repr(value))


def _unquoted(token: str) -> str:
    body = token.lstrip("bBuUrR")
    inner = body[1:-1] if len(body) > 1 and body[-1] == body[0] else body[1:]
    if "\\" not in inner or "r" in token[: len(token) - len(body)].lower():
        return inner
    return _ESCAPE.sub(_escaped, inner)


def _escaped(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code:
        point = int(code, 16)
        return chr(point) if point < 0x110000 and not 0xD800 <= point < 0xE000 else "\ufffd"
    return _ESCAPES.get(match[4], match[4])


class _Reader:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self._tokens = [(m.lastgroup or "", m[m.lastgroup or 0]) for m in _TOKEN.finditer(text)]
        self._at = 0

    def value(self, depth: int) -> Literal | None:
        """The literal at the current token."""
        kind, text = self._peek()
        if kind == "open":
            self._at += 1
            if depth > MAX_DEPTH:
                return Atom(self._skip(text))
            return self._dict(depth) if text == "{" else self._list(text, depth)
        if kind == "string":
            return self._string()
        if kind in ("word", "angle", "other"):
            return self._word()
        return None

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._at] if self._at < len(self._tokens) else ("end", "")

    def _string(self) -> str:
        parts = []
        while self._peek()[0] == "string":
            parts.append(_unquoted(self._peek()[1]))
            self._at += 1
        return "".join(parts)

    def _word(self) -> Atom:
        """A word with what belongs to it: a call's arguments, further words up to a comma."""
        parts: list[str] = []
        while self._peek()[0] in ("word", "angle", "other", "string") or (parts and self._peek()[1] == "("):
            text = self._peek()[1]
            self._at += 1
            if text == "(":
                parts[-1] += self._skip("(")
            else:
                parts.append(text)
        return Atom(" ".join(parts))

    def _skip(self, opening: str) -> str:
        """Text up to the bracket that closes `opening`, which was already taken."""
        parts = [opening]
        depth = 1
        while depth and self._at < len(self._tokens):
            kind, text = self._peek()
            self._at += 1
            depth += (kind == "open") - (kind == "close")
            parts.append(text + " " if kind in ("comma", "colon") else text)
        return "".join(parts)

    def _list(self, opening: str, depth: int) -> Literal:
        items: list[Literal] = []
        commas = 0
        while self._peek()[0] != "end":
            kind, _ = self._peek()
            if kind == "close":
                self._at += 1
                break
            if kind in ("comma", "colon"):
                commas += kind == "comma"
                self._at += 1
                continue
            item = self.value(depth + 1)
            if item is not None:
                items.append(item)
        if opening == "(" and len(items) == 1 and not commas:
            return items[0]  # parentheses that only hold a long string together
        return items

    def _dict(self, depth: int) -> Literal:
        found: dict[str, Literal] = {}
        loose: list[Literal] = []
        while self._peek()[0] != "end":
            kind, _ = self._peek()
            if kind in ("close", "comma", "colon"):
                self._at += 1
                if kind == "close":
                    break
                continue
            key = self.value(depth + 1)
            if key is None:
                continue
            if self._peek()[0] != "colon":
                loose.append(key)
                continue
            self._at += 1
            item = self.value(depth + 1)
            if item is not None:
                found[key if isinstance(key, str) else render(key)] = item
        return loose if loose and not found else found
