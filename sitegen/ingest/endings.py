"""The last lines of a log: an error printed there without a traceback is what ended the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sitegen.ingest import diagnosis, text
from sitegen.ingest.text import Line

KEPT = 4  # lines
_MAX_LINE = 64 << 10  # bytes; a longer line is no error message
_DRIVERS = ("TaskRunner", "main_task")  # what Ray calls the process that trains; others handle their errors


class Ending:
    """Remembers the last lines of a log that are not empty."""

    def __init__(self) -> None:
        self._last: list[tuple[int, bytes]] = []
        self.told = 0  # line up to which a traceback tells the errors

    def block(self, first: int, lines: Sequence[bytes]) -> None:
        """Look at the next lines of the log."""
        found: list[tuple[int, bytes]] = []
        for index in range(len(lines) - 1, -1, -1):
            if lines[index].strip():
                found.append((first + index, lines[index]))
                if len(found) == KEPT:
                    break
        self._last = [*self._last, *reversed(found)][-KEPT:]

    def errors(self) -> list[Line]:
        """The errors that the log ends in, in their order; none where it ends in anything else."""
        found: list[Line] = []
        for number, raw in reversed(self._last):
            error = self._error(number, raw) if number > self.told else None
            if error is None:
                break
            found.append(error)
        return found[::-1]

    def _error(self, number: int, raw: bytes) -> Line | None:
        if len(raw) > _MAX_LINE:
            return None
        line = next(_pieces_backwards(number, raw), None)
        if line is None or ("pid=" in line.speaker and not line.speaker.startswith(_DRIVERS)):
            return None
        error = diagnosis.bare_error(line.body)
        known = error is None or diagnosis.classify(line.body) is not None  # kept for what it says
        return None if known or error is None else Line(number, line.speaker, error)


def _pieces_backwards(number: int, raw: bytes) -> Iterator[Line]:
    pieces = list(text.lines(number, raw.decode("utf-8", "replace")))
    return (piece for piece in reversed(pieces) if piece.body.strip())
