"""GitHub-flavoured Markdown in which nothing that came from a log is markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sitegen.language import t
from sitegen.model import LogLine
from sitegen.pages import words

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_CODE = re.compile(r"(`+)(.+?)\1(?!`)")
_LONGEST_LINE = 400
_MOST_LINES = 6


def escape(text: str) -> str:
    """`text` on one line with every sign that Markdown, HTML or GitHub could act on taken out of play."""
    flat = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    flat = re.sub(r"([\\`*{}\[\]|#~$!]|(?<!\w)_|_(?!\w))", r"\\\1", flat)  # a_b is no emphasis
    flat = flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")
    flat = re.sub(r"(?i)(https?|ftp)(:)//", r"\1&#58;//", flat)  # GitHub links bare addresses
    return re.sub(r"(?i)\bwww\.", "www&#46;", flat)


def code(text: str) -> str:
    """`text` as inline code, whatever it holds."""
    flat = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    fence = "`" * (1 + max((len(run) for run in re.findall(r"`+", flat)), default=0))
    padded = f" {flat} " if flat.startswith("`") or flat.endswith("`") else flat
    return f"{fence}{padded}{fence}".replace("|", "\\|") if flat else ""


def target(name: str) -> str:
    """`name` as the address of a link."""
    return "".join(
        sign if sign.isalnum() or sign in "-_." else "".join(f"%{b:02X}" for b in sign.encode())
        for sign in name
    )


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()) -> str:
    """A table of cells that are Markdown already; columns in `numbers` are right-aligned."""
    right = set(numbers)
    rule = "|".join("---:" if place in right else "---" for place in range(len(columns)))
    lines = [f"| {' | '.join(columns)} |", f"|{rule}|", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines)


def log(lines: Sequence[LogLine]) -> str:
    """Log lines with their places in a fence that nothing in them can close; "" for none."""
    if not lines:
        return ""
    shown = [f"{line.path}:{line.line}: {_printable(line.text)}" for line in lines[:_MOST_LINES]]
    rest = len(lines) - _MOST_LINES
    left = t("{sentence}.", sentence=words.plural(rest, "more line"))
    more = f"\n\n{left}" if rest > 0 else ""
    return fenced("\n".join(shown)) + more


def fenced(text: str) -> str:
    """`text` in a fence that nothing in it can close."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}"


def quoted(markdown: str) -> str:
    """What a person wrote in Markdown, as a quotation: no HTML, no pictures, nobody is called."""
    lines, fence = [], ""
    for line in markdown.splitlines():
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence):
            fence = ""
        lines.append(f"> {line if mark or fence else _inert(line)}".rstrip())
    return "\n".join(lines + ([f"> {fence}"] if fence else []))


def _inert(line: str) -> str:
    """A line outside of fences; code in it stays as it is."""
    parts = _CODE.split(line)
    for at in range(0, len(parts), 3):  # text, backticks, code, text, …
        text = parts[at].replace("<", "&lt;").replace("@", "&#64;")
        parts[at] = text.replace("![", "!\\[")
    return "".join(
        part if at % 3 == 0 else f"{part}{parts[at + 1]}{part}" for at, part in enumerate(parts) if at % 3 < 2
    )


def _printable(text: str) -> str:
    lines = ("".join(sign if sign.isprintable() else " " for sign in row) for row in text.splitlines())
    return words.clip("\n".join(row for row in lines if row.strip()), _LONGEST_LINE)
