"""A long JSON list -> its elements one by one, whatever is damaged around them, in bounded memory."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from sitegen.ingest.source import MAX_LINE, Source

BLOCK = 1 << 20
LONGEST = MAX_LINE >> 2  # characters of one element; memory is bounded by it
STRETCH = 2 << 20  # characters of a longer element that are looked at at once, where it comes in stretches
TOP = re.compile(r"\A\s*\[")  # the file is the list
_DIGITS = 40  # a number that ends so near the end of the text at hand may go on
_BETWEEN = re.compile(r"[\s,]*")
_NEXT = re.compile(r"\}\s*,\s*(?=\{)|\]\s*,\s*(?=\[)")  # where the next element may begin, after damage


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some cells of an element that is a long list, from place `first` on; `last` when it ends with them."""

    first: int
    cells: list[object]
    last: bool


@dataclass
class Elements:
    """The elements of one list of a file; `damage` says what could not be read, once they are read.

    Args:
        opening: matches up to the bracket that opens the list.
        called: what the elements are, in plural.
        width: cells that a list among the elements may have, of which a long one is handed out in stretches;
            0 hands out whole elements only.
    """

    opening: re.Pattern[str]
    called: str
    width: int = 0
    damage: list[str] = field(default_factory=list)
    _text: str = ""
    _at: int = 0
    _ended: bool = False
    _faults: int = 0  # elements that were left out
    _long: int = 0  # of those, the ones that were too long to look at

    def of(self, source: Source) -> Iterator[object]:
        """All elements that can be read. Raises SourceRefused and OSError."""
        with source.open() as stream:
            more = codecs.getincrementaldecoder("utf-8")("replace")
            if self._opened(stream, more):
                yield from self._listed(stream, more)

    def _opened(self, stream: BinaryIO, more: codecs.IncrementalDecoder) -> bool:
        while (found := self.opening.search(self._text)) is None:
            self._at = max(0, len(self._text) - 40)
            if not self._grow(stream, more):
                self.damage.append(f"there is no list of {self.called} in it")
                return False
        self._at = found.end()
        return True

    def _listed(self, stream: BinaryIO, more: codecs.IncrementalDecoder) -> Iterator[object]:
        decoder = json.JSONDecoder()
        while True:
            self._at = _end(_BETWEEN, self._text, self._at)
            if self._text[self._at : self._at + 1] == "]":
                break
            try:
                value, self._at = decoder.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                # The text at hand may end within the element.
                if self._is_long():
                    if (yield from self._stretches(stream, more)):
                        continue
                    if not self._skip(stream, more):
                        break
                    continue
                if not self._hopeless(error) and self._grow(stream, more):
                    continue
                if self._at >= len(self._text) and self._ended:
                    self.damage.append(f"it ends within the list of {self.called}; what precedes was read")
                    break
                if not self._skip(stream, more):
                    break
                continue
            yield value
        self._tell()

    def _tell(self) -> None:
        broken, many = self._faults - self._long, self.called
        if broken:
            self.damage.append(f"{broken} {many} are no JSON and were left out; the others were read")
        if self._long:
            self.damage.append(
                f"{many} with a text of more than {LONGEST >> 20} MB were left out: {self._long}"
            )

    def _hopeless(self, error: ValueError | RecursionError) -> bool:
        """Whether more text would not help. A text too long to be held is counted."""
        if isinstance(error, RecursionError):
            return True
        too_long = len(self._text) - self._at > LONGEST
        self._long += too_long and str(error).startswith("Unterminated string")
        return too_long

    def _is_long(self) -> bool:
        return (
            self.width > 0 and len(self._text) - self._at > STRETCH and self._text.startswith("[", self._at)
        )

    def _stretches(self, stream: BinaryIO, more: codecs.IncrementalDecoder) -> Generator[Stretch, None, bool]:
        """The cells of the list at hand; returns whether all of it was read."""
        decoder = json.JSONDecoder()
        self._at += 1
        first, cells, size = 0, list[object](), 0
        while True:
            self._at = _end(_BETWEEN, self._text, self._at)
            if self._text.startswith("]", self._at):
                self._at += 1
                yield Stretch(first, cells, last=True)
                return True
            try:
                value, end = decoder.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                if self._hopeless(error) or not self._grow(stream, more):
                    break
                continue
            if isinstance(value, int | float) and len(self._text) - end < _DIGITS and not self._ended:
                self._grow(stream, more)
                continue
            if first + len(cells) == self.width:
                break
            cells.append(value)
            size += end - self._at
            self._at = end
            if size > STRETCH:
                yield Stretch(first, cells, last=False)
                first, cells, size = first + len(cells), [], 0
        yield Stretch(first, cells, last=False)
        return False

    def _skip(self, stream: BinaryIO, more: codecs.IncrementalDecoder) -> bool:
        """Leave an element out: go to where the next may begin."""
        self._faults += 1
        while (found := _NEXT.search(self._text, self._at + 1)) is None:
            self._at = max(self._at, len(self._text) - 40)
            if not self._grow(stream, more):
                return False
        self._at = found.end()
        return True

    def _grow(self, stream: BinaryIO, more: codecs.IncrementalDecoder) -> bool:
        """Take more text, as much again as is waiting; False at the end."""
        if self._ended:
            return False
        data = stream.read(max(BLOCK, len(self._text) - self._at))
        self._ended = not data
        self._text = self._text[self._at :] + more.decode(data, final=not data)
        self._at = 0
        return bool(data)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
