"""English templates in another language: texts are replaced when a template is loaded.

So templates stay readable, and English costs nothing.

    <p>Seen in <b>{{ n }}</b> of {{ all }} runs.</p>      in a template
    "Seen in <0>{{ n }}</0> of {{ all }} runs."           in the catalog

The unit is what a reader sees as one sentence: text, expressions and the tags that stand inside of a
sentence. Statements (`{% … %}`) and all other tags part units.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Lookup = Callable[[str], str | None]

_CODE = r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}"
_TAG = rf"<[A-Za-z/!](?:{_CODE}|[^>{{]|\{{(?![{{%#]))*>"
_TOKEN = re.compile(rf"{_CODE}|{_TAG}", re.DOTALL)
_INLINE = re.compile(r"</?(?:a|b|code|em|ins|del|kbd|strong)\b", re.IGNORECASE)
_SILENT = re.compile(r"<(script|style|pre)\b", re.IGNORECASE)
_SPOKEN_ATTRIBUTE = re.compile(
    rf'(?<=\s)(title|aria-label|placeholder|alt)="((?:{_CODE}|[^"{{]|\{{(?![{{%#]))*)"', re.DOTALL
)
_LETTERS = re.compile(r"[A-Za-z]{2,}")
_PLACE = re.compile(r"</?\d+>")


@dataclass(frozen=True, slots=True)
class _Unit:
    """Tokens [first, last) that make a sentence, as the catalog writes it, and the tags it numbers."""

    first: int
    last: int
    text: str
    tags: dict[str, str]


def texts(source: str) -> Iterator[str]:
    """Every English text of a template, as a catalog must name it."""
    tokens = _tokens(source)
    for unit in _units(tokens):
        yield unit.text
    for token in tokens:
        if token.startswith("<"):
            for _, value in _SPOKEN_ATTRIBUTE.findall(token):
                if _speaks(value):
                    yield " ".join(value.split())


def translated(source: str, lookup: Lookup) -> str:
    """`source` with every text that `lookup` knows in its words."""
    tokens = _tokens(source)
    for unit in _units(tokens):
        said = lookup(unit.text)
        if said is not None:
            whole = "".join(tokens[unit.first : unit.last])
            before = whole[: len(whole) - len(whole.lstrip())]
            after = whole[len(whole.rstrip()) :]
            tags = {place: _attributes(tag, lookup) for place, tag in unit.tags.items()}
            tokens[unit.first] = before + _tagged(said, tags) + after
            tokens[unit.first + 1 : unit.last] = [""] * (unit.last - unit.first - 1)
    return "".join(_attributes(token, lookup) if token.startswith("<") else token for token in tokens)


def _tagged(said: str, tags: dict[str, str]) -> str:
    return _PLACE.sub(lambda tag: tags[tag[0]], said)


def _attributes(tag: str, lookup: Lookup) -> str:
    def said(found: re.Match[str]) -> str:
        words = lookup(" ".join(found[2].split())) if _speaks(found[2]) else None
        return found[0] if words is None else f'{found[1]}="{words}"'

    return _SPOKEN_ATTRIBUTE.sub(said, tag)


def _tokens(source: str) -> list[str]:
    """Code, tags and the texts between them, in order; nothing is lost."""
    tokens, at = [], 0
    for found in _TOKEN.finditer(source):
        tokens += [source[at : found.start()], found[0]]
        at = found.end()
    return [*tokens, source[at:]]


def _units(tokens: list[str]) -> Iterator[_Unit]:
    first, silent = 0, ""
    for place, token in enumerate([*tokens, "{%%}"]):
        begins = _SILENT.match(token)
        if begins:
            silent = f"</{begins[1].lower()}"
        if silent and not token.lower().startswith(silent):
            continue
        if silent or _parts(token):
            if not silent:
                yield from _unit(tokens, first, place)
            first, silent = place + 1, ""


def _parts(token: str) -> bool:
    """Whether a sentence ends at this token."""
    return token.startswith(("{%", "{#")) or (token.startswith("<") and not _INLINE.match(token))


def _unit(tokens: list[str], first: int, last: int) -> Iterator[_Unit]:
    while first < last and _edge(tokens[first]):
        first += 1
    while first < last and _edge(tokens[last - 1]):
        last -= 1
    if not any(_LETTERS.search(token) for token in tokens[first:last] if not token.startswith(("<", "{{"))):
        return
    tags: dict[str, str] = {}
    words: list[str] = []
    open_: list[int] = []
    opened = 0
    for token in tokens[first:last]:
        if not token.startswith("<"):
            words.append(token)
            continue
        if token.startswith("</"):
            name = f"</{open_.pop()}>" if open_ else f"</{opened}>"
        else:
            open_.append(opened)
            name, opened = f"<{opened}>", opened + 1
        tags[name] = token
        words.append(name)
    yield _Unit(first, last, " ".join("".join(words).split()), tags)


def _edge(token: str) -> bool:
    """Whether a token at the end of a unit says nothing."""
    return not token.strip()


def _speaks(value: str) -> bool:
    return bool(_LETTERS.search(_TOKEN.sub("", value)))
