"""Cards: one Markdown file that is a page, its settings, its query and its cases.

    # Title
    One paragraph that a reader understands.
    ```toml rule     settings (`toml board` for a leaderboard)
    ```sql           one SELECT
    ## Section       Markdown, shown as written
    ## 中文          the card in another language, see `Translation`
    ```toml case     what must fire and what must stay silent

This module only takes the file apart and remembers lines. What the settings, the SQL and the cases mean is
for `rules` and `leaderboards`, who add their own faults before anything is raised: all faults of all cards
come at once.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from sitegen.errors import CardError
from sitegen.language import ENGLISH, LANGUAGES

#: Heading of a section -> language it is in.
_SECTIONS = {name: code for code, name in LANGUAGES.items() if code != ENGLISH}


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """Something wrong with a card, at a 1-based line."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class Table:
    """A fenced TOML block. `line` is that of the opening fence."""

    line: int
    values: Mapping[str, Any]
    lines: Mapping[str, int] = field(default_factory=dict)  # key -> line
    remarks: Mapping[str, str] = field(default_factory=dict)  # word -> text of a line `# word: text`

    def line_of(self, key: str) -> int:
        """Line where `key` is set, else the line of the block."""
        return self.lines.get(key, self.line)


@dataclass(frozen=True, slots=True)
class Translation:
    """A card in another language, from a section of fixed shape.

    ## 中文
    ### Title
    One paragraph.

    > message of a rule, with the places of the English one

    - what to do, item for item as in English

    #### 可能原因
    - likely causes, likewise; may be left out
    ```toml zh
    "text of the query" = "in this language; {} stands for anything"
    ```
    """

    line: int  # of its heading
    title: str
    summary: str
    message: str  # "" where the card has none
    advice: str  # Markdown list, "" where the card has none
    causes: str  # likewise
    words: Mapping[str, str] = field(default_factory=dict)  # texts that the query answers -> as they are said


@dataclass(frozen=True, slots=True)
class Card:
    """A card taken apart."""

    path: str  # as shown to people
    slug: str  # file name without .md
    title: str
    summary: str
    settings: Table
    sql: str
    sql_line: int  # line of the first line of SQL
    sections: Mapping[str, str]  # heading -> Markdown, in file order
    cases: tuple[Table, ...]
    translations: Mapping[str, Translation] = field(default_factory=dict)  # language -> the card in it

    def fault(self, line: int, message: str) -> Fault:
        """A fault of this card."""
        return Fault(self.path, line, message)


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean "…"?` for the closest known word, or nothing."""
    close = difflib.get_close_matches(word, sorted(known), n=1, cutoff=0.6)
    return f'; did you mean "{close[0]}"?' if close else ""


#: Key of the settings -> (whether a value will do, what is expected).
Keys = Mapping[str, tuple[Callable[[Any], bool], str]]


def settings_faults(card: Card, keys: Keys, required: Iterable[str]) -> Iterator[Fault]:
    """Settings of `card` that are not among `keys` or hold what they may not, and those that are missing."""
    settings = card.settings
    for key, value in settings.values.items():
        line = settings.line_of(key)
        if key not in keys:
            yield card.fault(line, f'unknown key "{key}"{nearest(key, keys)}')
        elif not keys[key][0](value):
            yield card.fault(line, f"{key} must be {keys[key][1]}, not {value!r}")
    for key in required:
        if key not in settings.values:
            yield card.fault(settings.line, f'no "{key}": {keys[key][1]}')


def read(path: Path, kind: str, shown: str | None = None) -> tuple[Card | None, tuple[Fault, ...]]:
    """Take apart one card.

    Args:
        path: the Markdown file.
        kind: word after `toml` of the settings fence: "rule" or "board".
        shown: path for messages; `path` itself by default.

    Returns:
        the card, or None when a part without which it is no card is missing, and every fault found.
    """
    shown = shown if shown is not None else path.as_posix()
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        return None, (Fault(shown, 1, f"cannot be read as UTF-8 text: {error}"),)
    return parse(text, kind, shown)


def parse(text: str, kind: str, shown: str) -> tuple[Card | None, tuple[Fault, ...]]:
    """As `read`, from text."""
    return _Reading(text, kind, shown).card()


def files(folders: Sequence[Path]) -> tuple[tuple[Path, str], ...]:
    """Cards in `folders` by file name, each with the path to show: below the working directory where it is.

    Raises CardError when a folder does not exist or two folders hold a card of the same name.
    """
    found: dict[str, Path] = {}
    faults = []
    for folder in folders:
        if not folder.is_dir():
            faults.append(Fault(_shown(folder), 1, "no such folder of cards"))
            continue
        for path in sorted(folder.glob("*.md")):
            if path.name in found:
                other = _shown(found[path.name])
                faults.append(Fault(_shown(path), 1, f"a card of this name exists: {other}"))
            found[path.name] = path
    raise_faults(faults)
    return tuple((path, _shown(path)) for _, path in sorted(found.items()))


def raise_faults(faults: Iterable[Fault]) -> None:
    """Raise CardError with every fault, one `path:line: fault` per line; nothing when there is none."""
    lines = [str(fault) for fault in sorted(set(faults))]
    if lines:
        raise CardError("\n".join(lines))


def _shown(path: Path) -> str:
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.as_posix()


class _Reading:
    """One card while it is being read: collects faults instead of stopping at the first."""

    def __init__(self, text: str, kind: str, shown: str) -> None:
        self.kind = kind
        self.shown = shown
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.source = text.split("\n")  # the lines markdown-it counts
        tokens = [token for token in MarkdownIt("commonmark").parse(text) if token.map]
        self.tokens = [token for token in tokens if token.level == 0]
        self.inline = {
            token.map[0]: token.content for token in tokens if token.type == "inline" and token.map
        }
        self.faults: list[Fault] = []

    def card(self) -> tuple[Card | None, tuple[Fault, ...]]:
        title, title_line = self._title()
        summary = self._summary(title_line)
        settings = self._one(f"toml {self.kind}")
        sql = self._one("sql")
        cases = [self._table(token) for token in self._fences("toml case")]
        self.words = {code: self._words(code) for code in _SECTIONS.values()}
        self._strange_fences()
        if settings is None or sql is None:
            return None, tuple(sorted(self.faults))
        table = self._table(settings)
        card = Card(
            path=self.shown,
            slug=self.shown.rsplit("/", 1)[-1].removesuffix(".md"),
            title=title,
            summary=summary,
            settings=table,
            sql=sql.content,
            sql_line=_line(sql) + 1,
            sections=self._sections(),
            cases=tuple(cases),
            translations=self._translations(),
        )
        return card, tuple(sorted(self.faults))

    def _fault(self, line: int, message: str) -> None:
        self.faults.append(Fault(self.shown, line, message))

    def _headings(self, tag: str) -> list[tuple[str, int]]:
        """(text, 0-based line) of every heading of this level."""
        found = (token for token in self.tokens if token.type == "heading_open" and token.tag == tag)
        lines = [_line(token) - 1 for token in found]
        return [(self.inline.get(line, "").strip(), line) for line in lines]

    def _title(self) -> tuple[str, int]:
        titles = self._headings("h1")
        if not titles or not titles[0][0]:
            self._fault(1, "no title: the first line must be `# Title`")
            return "", 0
        for _, line in titles[1:]:
            self._fault(line + 1, "a second `# Title`; sections are `## Section`")
        return titles[0]

    def _summary(self, title_line: int) -> str:
        below = [token for token in self.tokens if _line(token) - 1 > title_line]
        if below and below[0].type == "paragraph_open":
            return " ".join(self.inline[_line(below[0]) - 1].split())
        self._fault(title_line + 1, "no summary: one paragraph must follow the title")
        return ""

    def _fences(self, info: str) -> list[Token]:
        fences = (token for token in self.tokens if token.type == "fence")
        return [token for token in fences if token.info.split() == info.split()]

    def _one(self, info: str) -> Token | None:
        found = self._fences(info)
        if not found:
            self._fault(1, f"no ```{info} block")
            return None
        for extra in found[1:]:
            self._fault(_line(extra), f"a second ```{info} block; there must be exactly one")
        return found[0]

    def _strange_fences(self) -> None:
        known = [f"toml {self.kind}", "sql", "toml case", *(f"toml {code}" for code in _SECTIONS.values())]
        for token in self.tokens:
            info = " ".join(token.info.split()) if token.type == "fence" else ""
            if info.startswith("toml ") and info not in known:
                self._fault(_line(token), f'unknown block "{info}"{nearest(info, known)}')

    def _table(self, token: Token) -> Table:
        line = _line(token)
        try:
            values = tomllib.loads(token.content)
        except tomllib.TOMLDecodeError as error:
            where = re.search(r"at line (\d+)", str(error))
            self._fault(line + (int(where[1]) if where else 0), f"not TOML: {error}")
            return Table(line, {})
        remarks = dict(re.findall(r"^#\s*(\w+):\s+(.*\S)", token.content, re.MULTILINE))
        return Table(line, values, _key_lines(token.content, line), remarks)

    def _sections(self) -> dict[str, str]:
        headings = self._headings("h2")
        ends = [line for _, line in headings[1:]] + [len(self.source)]
        sections: dict[str, str] = {}
        for (text, line), end in zip(headings, ends, strict=True):
            if text in sections:
                self._fault(line + 1, f'a second section "{text}"')
            if text not in _SECTIONS:
                sections[text] = self._prose(line + 1, end)
        return sections

    def _words(self, code: str) -> dict[str, str]:
        """What the query says, in another language."""
        found: dict[str, str] = {}
        for table in map(self._table, self._fences(f"toml {code}")):
            for text, said in table.values.items():
                if isinstance(said, str) and said:
                    found[text] = said
                else:
                    self._fault(table.line, f"{text!r} must be a text, not {said!r}")
        return found

    def _translations(self) -> dict[str, Translation]:
        headings = self._headings("h2")
        ends = [line for _, line in headings[1:]] + [len(self.source)]
        found = {}
        for (text, line), end in zip(headings, ends, strict=True):
            if text in _SECTIONS:
                code = _SECTIONS[text]
                found[code] = self._translation(line + 1, self._prose(line + 1, end), self.words[code])
        return found

    def _translation(self, line: int, prose: str, words: Mapping[str, str]) -> Translation:
        """The parts of a section of `prose` below its heading at `line`."""
        lines = [one.rstrip() for one in prose.split("\n") if one.strip()]
        titles = [one[4:].strip() for one in lines if one.startswith("### ")]
        quoted = [one[2:].strip() for one in lines if one.startswith("> ")]
        at = next((place for place, one in enumerate(lines) if one.startswith("- ")), len(lines))
        plain = [one for one in lines[:at] if not one.startswith(("### ", "> "))]
        if len(titles) != 1 or not titles[0] or not plain:
            self._fault(line, "a language needs `### Title` and a paragraph below its heading")
        title = titles[0] if titles else ""
        end = next((place for place, one in enumerate(lines) if one.startswith("#### ")), len(lines))
        advice, causes = "\n".join(lines[at:end]), "\n".join(lines[end + 1 :])
        return Translation(line, title, " ".join(plain), " ".join(quoted), advice, causes, words)

    def _prose(self, first: int, end: int) -> str:
        """Source lines [first, end) without the blocks that are data."""
        hidden = {
            number
            for token in self.tokens
            if token.type == "fence" and token.map and token.info.startswith(("toml ", "sql"))
            for number in range(*token.map)
        }
        kept = (self.source[number] for number in range(first, end) if number not in hidden)
        return "\n".join(kept).strip()


def _line(token: Token) -> int:
    """1-based line where a block begins."""
    return token.map[0] + 1 if token.map else 1


def _key_lines(toml: str, fence: int) -> dict[str, int]:
    """Key -> 1-based line in the card, for keys at the start of a line."""
    lines: dict[str, int] = {}
    for number, text in enumerate(toml.splitlines(), start=fence + 1):
        key = re.match(r"([A-Za-z0-9_-]+)\s*=", text)
        if key:
            lines.setdefault(key[1], number)
    return lines
