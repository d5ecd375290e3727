"""Where words go: results to stdout, progress and errors to stderr, colour on terminals only."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

# Control characters but tab and line feed; lone surrogates; bidirectional overrides and isolates.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069]")

_STYLES = {
    "critical": "bold red",
    "crashed": "bold red",
    "error": "red",
    "failed": "red",
    "warning": "yellow",
    "attention": "yellow",
    "unfinished": "cyan",
    "info": "blue",
    "healthy": "green",
}


def clean(text: str) -> str:
    """`text` without what could steer a terminal: control characters and marks that turn text round."""
    return _STEERING.sub("\ufffd", text)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave the decision to `main`; rich would exit with status 1."""
        raise BrokenPipeError


class Screen:
    """Two consoles. Everything that came from a log passes `clean`; markup is never interpreted."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self._out = _Console(markup=False, emoji=False, highlight=False, soft_wrap=True)
        self._err = Console(stderr=True, markup=False, emoji=False, highlight=False, soft_wrap=True)

    @property
    def terminal(self) -> bool:
        """Whether results go to a terminal."""
        return self._out.is_terminal

    def progress(self, line: str) -> None:
        """What is going on, for people who wait."""
        if not self.quiet:
            self._err.print(clean(line), style="dim")

    def error(self, message: str) -> None:
        """Why the command failed."""
        text = Text("sitegen: ", style="bold red")
        text.append(clean(message), style="default")
        self._err.print(text)

    def note(self, message: str) -> None:
        """Something to know about the results, also with --quiet."""
        self._err.print(clean(message))

    def line(self, *parts: str | tuple[str, str]) -> None:
        """One line of results; a part is text, or text and the word whose colour it takes."""
        text = Text()
        for part in parts:
            words, style = (part, "") if isinstance(part, str) else (part[0], _STYLES.get(part[1], part[1]))
            text.append(clean(words), style=style or None)
        self._out.print(text)

    def table(
        self, columns: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()
    ) -> None:
        """A table of results; columns in `numbers` are right-aligned."""
        right = set(numbers)
        grid = [[clean(name) for name in columns], *([clean(cell) for cell in row] for row in rows)]
        widths = [max(cell_len(row[place]) for row in grid) for place in range(len(columns))]
        for number, row in enumerate(grid):
            text = Text()
            for place, cell in enumerate(row):
                gap = " " * (widths[place] - cell_len(cell))
                style = "bold" if number == 0 else _STYLES.get(cell, "")
                text.append(f"{gap}{cell}" if place in right else f"{cell}{gap}", style=style or None)
                text.append("  ")
            text.rstrip()
            self._out.print(text)

    def write(self, data: bytes | str) -> None:
        """Bytes or text for other programs, exactly as they are."""
        raw = data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data
        sys.stdout.flush()
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()
