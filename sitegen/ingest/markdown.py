"""Console output pasted into Markdown: in fences, indented, quoted.

The prose around it may speak of errors that are not this run's. So only what lies in a block is read as a
log; outside, a line counts only if it is a step line or carries the mark of a Ray worker.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sitegen.ingest import console, signs
from sitegen.ingest.source import blocks
from sitegen.model import Batch

if TYPE_CHECKING:
    from sitegen.ingest.source import Source

NAME = "markdown"
_FENCE = re.compile(r"^ {0,3}(?P<mark>`{3,}|~{3,})(?P<info>[^`\n]*)$")
_QUOTE = re.compile(r"^ {0,3}(?:> ?)+")
_HEADING = re.compile(r"^ {0,3}#{1,6} \S|^ {0,3}</?(?:details|summary|pre|p|div|h\d|img|a)\b")
_LOOKED_AT = 20_000


def sniff(path: str, head: bytes) -> bool:
    """Whether log lines lie inside a Markdown block, and something else of Markdown is there."""
    words = signs.readable(head)
    if words is None or (
        "```" not in words and "~~~" not in words and not words.lstrip().startswith(("#", ">"))
    ):
        return False
    inside: list[str] = []
    outside: list[str] = []
    marked_up = False
    for blocked, fence, _, line in _unwrapped(enumerate(words.split("\n")[:_LOOKED_AT], 1)):
        marked_up = marked_up or fence or (not blocked and _HEADING.match(line) is not None)
        (inside if blocked else outside).append(line)
    if not marked_up or signs.has_step_line("\n".join(outside)) or signs.has_speaker("\n".join(outside)):
        return False
    block = "\n".join(inside)
    return signs.has_step_line(block) or signs.has_speaker(block)


def read(source: Source) -> Iterator[Batch]:
    """Batches of the logs in a Markdown file, with line numbers of that file."""
    with source.open() as stream:
        yield from console.read_lines(_lines(_numbered(blocks(stream))), source.path)


def _numbered(chunks: Iterable[tuple[int, list[bytes], bool]]) -> Iterator[tuple[int, str]]:
    for first, lines, _ in chunks:
        for number, line in enumerate(lines, first):
            yield number, line.decode("utf-8", "replace").rstrip("\r")


def _lines(numbered: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Lines worth reading, without the marks of Markdown."""
    for blocked, fence, number, line in _unwrapped(numbered):
        if fence:
            yield number, ""  # nothing goes on across the border of a block
        elif blocked:
            yield number, line
        else:
            bare = line.strip().strip("`").strip()
            if bare.startswith("step:") or signs.has_speaker(bare):
                yield number, bare


def _unwrapped(numbered: Iterable[tuple[int, str]]) -> Iterator[tuple[bool, bool, int, str]]:
    """(in a block, a fence itself, line number, line without quote marks or indentation of the block)."""
    opening = ""
    for number, raw in numbered:
        quote = _QUOTE.match(raw)
        line = raw[quote.end() :] if quote else raw
        fence = _FENCE.match(line)
        if fence and not opening:
            opening = fence["mark"]
            yield False, True, number, line
        elif fence and fence["mark"].startswith(opening) and not fence["info"].strip():
            opening = ""
            yield False, True, number, line
        elif opening:
            yield True, False, number, line
        else:
            indented = line.startswith(("    ", "\t"))
            yield indented or quote is not None, False, number, line.lstrip() if indented else line
