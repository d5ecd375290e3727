"""HOCON as pyhocon writes it: `key = value`, `key { … }`, lists, quoted and triple-quoted texts.

No includes and no substitutions: those are instructions to read something else, and stay texts.
"""

from __future__ import annotations

import re

MAX_DEPTH = 64
_TOKEN = re.compile(
    r'"""(?P<long>.*?)"""(?!")|"(?P<text>(?:[^"\\\n]|\\.)*)"|(?P<mark>[{}\[\]=:,\n])'
    r"|(?:#|//)[^\n]*|[ \t\r]+|(?P<bare>(?:(?!//)[^{}\[\]=:,\n#\"])+)",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_WORDS = {"null": None, "true": True, "false": False}


def parse(text: str) -> dict[str, object]:
    """The tree of a text, as far as it makes sense. Numbers and words of HOCON become values."""
    return _Reader(text).pairs(0)


class _Reader:
    """Recursive descent over the tokens."""

    def __init__(self, text: str) -> None:
        self._tokens = [(kind, m[kind]) for m in _TOKEN.finditer(text) if (kind := m.lastgroup)]
        self._at = 0

    def _mark(self) -> str:
        """The mark that comes next, "" for a text, "end" at the end."""
        if self._at >= len(self._tokens):
            return "end"
        kind, text = self._tokens[self._at]
        return text if kind == "mark" else ""

    def _skip(self, marks: str) -> None:
        while self._mark() != "end" and self._mark() and self._mark() in marks:
            self._at += 1

    def pairs(self, depth: int) -> dict[str, object]:
        """Pairs up to the brace that closes, which is consumed."""
        found: dict[str, object] = {}
        while True:
            self._skip("\n,")
            if self._mark() in ("end", "}"):
                self._at += 1
                return found
            if self._mark():  # a mark where a key was expected
                self._at += 1
                continue
            key = str(self._scalar(raw=True))
            self._skip("=:")
            found[key] = self._value(depth + 1)

    def _value(self, depth: int) -> object:
        mark = self._mark()
        if mark in ("{", "[") and depth >= MAX_DEPTH:
            self._at = len(self._tokens)
            return None
        if mark == "{":
            self._at += 1
            return self.pairs(depth)
        if mark == "[":
            self._at += 1
            return self._list(depth)
        return None if mark else self._scalar()

    def _list(self, depth: int) -> list[object]:
        found: list[object] = []
        while True:
            self._skip("\n,")
            if self._mark() in ("end", "]"):
                self._at += 1
                return found
            before = self._at
            found.append(self._value(depth + 1))
            self._at += self._at == before  # a mark that has no place here

    def _scalar(self, raw: bool = False) -> object:
        """The texts that follow each other on one line."""
        pieces: list[str] = []
        quoted = False
        while self._mark() == "":
            kind, text = self._tokens[self._at]
            self._at += 1
            quoted |= kind != "bare"
            pieces.append(_ESCAPE.sub(_escaped, text) if kind == "text" else text)
            if not raw and self._mark() == ":":  # a colon inside a bare value, such as a URL or a time
                pieces.append(":")
                self._at += 1
        whole = "".join(pieces)
        return whole if quoted else _bare(whole.strip(), raw)


def _bare(text: str, raw: bool) -> object:
    if raw:
        return text
    if text in _WORDS:
        return _WORDS[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _escaped(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16)).encode("utf-8", "replace").decode()
    return _ESCAPES.get(match[2], match[2])
