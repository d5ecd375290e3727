"""Texts of models and data sets as HTML: escaped, marks of hidden signs drawn, differing words marked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

from markupsafe import Markup, escape

from sitegen.pages import words
from sitegen.reports.excerpts import Excerpt

_MARK = r"‹U\+[0-9A-F]{4,6}(?: ×\d+)?›"
_MARKED = re.compile(_MARK)
# Words with what follows them; of scripts without spaces each character. Hidden signs are not taken apart.
_WORD = re.compile(
    rf"{_MARK}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\s+|(?:(?!{_MARK})[^\s\u3040-\u9fff\uac00-\ud7af])+"
)
_SENTENCE = re.compile(r"[^\n.!?。！？]*[\n.!?。！？]?")
_MOST = 700  # pieces compared one by one; of a longer text, sentences

Piece = tuple[str, bool]  # text, whether the other text lacks it


def shown(text: str) -> Markup:
    """`text` escaped; marks such as `‹U+202E›` are drawn as such."""
    return Markup(_MARKED.sub(lambda match: f'<i class="sg-odd">{match[0]}</i>', str(escape(text))))  # noqa: S704


def excerpt(text: Excerpt) -> Markup:
    """The beginning and the end of a text, with what was left out between."""
    return _joined(shown(text.head), shown(text.tail), text)


def compared(text: Excerpt, other: Excerpt, tag: str) -> Markup:
    """As `excerpt`, with the words that `other` lacks in `<ins>` or `<del>`."""
    head = _marked(differing(text.head, other.head), tag)
    return _joined(head, _marked(differing(text.tail, other.tail), tag), text)


def differing(text: str, other: str) -> list[Piece]:
    """`text` in pieces, with whether `other` lacks them."""
    mine, theirs = _pieces(text, other)
    start = 0
    while start < min(len(mine), len(theirs)) and mine[start] == theirs[start]:
        start += 1
    found: list[Piece] = [("".join(mine[:start]), False)]
    if len(mine) <= 2 * _MOST and len(theirs) <= 2 * _MOST:
        matcher = SequenceMatcher(None, theirs[start:], mine[start:], autojunk=False)
        for kind, _, _, a, b in matcher.get_opcodes():
            found.append(("".join(mine[start + a : start + b]), kind != "equal"))
    else:
        found.append(("".join(mine[start:]), True))
    return [piece for piece in found if piece[0]]


def _pieces(text: str, other: str) -> tuple[list[str], list[str]]:
    """Both texts in pieces of one kind: words, or sentences where there are too many words to compare."""
    mine, theirs = _WORD.findall(text), _WORD.findall(other)
    if max(len(mine), len(theirs)) <= _MOST:
        return mine, theirs
    return [one for one in _SENTENCE.findall(text) if one], [one for one in _SENTENCE.findall(other) if one]


def _marked(pieces: Iterable[Piece], tag: str) -> Markup:
    opening, closing = Markup(f"<{tag}>"), Markup(f"</{tag}>")  # noqa: S704 - "ins" or "del"
    parts = (opening + shown(text) + closing if new and text.strip() else shown(text) for text, new in pieces)
    return Markup("").join(parts)


def _joined(head: Markup, tail: Markup, text: Excerpt) -> Markup:
    if not text.left_out:
        return head
    gap = Markup('<b class="sg-gap">… {} left out …</b>').format(words.plural(text.left_out, "character"))
    return head + gap + tail
