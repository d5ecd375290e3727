"""Console output kept in a Jupyter notebook: the text of its outputs, never its code.

A notebook is one JSON object and is read as a whole, hence the limit on its size. Line numbers are those of
the notebook file: every text is searched in the raw file behind the one before it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sitegen.errors import Problem
from sitegen.ingest import console
from sitegen.model import Batch

if TYPE_CHECKING:
    from sitegen.ingest.source import Source

NAME = "notebook"
MAX_BYTES = 64 << 20
_MARKS = (b'"cell_type"', b'"nbformat"', b'"cells"')


def sniff(path: str, head: bytes) -> bool:
    """Whether the file is a notebook."""
    start = head.lstrip()[:1]
    return start == b"{" and sum(mark in head for mark in _MARKS) >= 2


def read(source: Source) -> Iterator[Batch]:
    """Batches of the outputs of a notebook; a file that is no whole notebook becomes a problem."""
    with source.open() as stream:
        raw = stream.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        yield _problem(
            source, "too-large", f"the notebook is larger than {MAX_BYTES >> 20} MiB and was not read"
        )
        return
    words = raw.decode("utf-8", "replace")
    try:
        notebook = json.loads(words)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        yield _problem(source, "malformed", f"the notebook is no whole JSON: {error}", line)
        return
    told = False
    for batch in console.read_lines(_lines(notebook, words), source.path):
        told = told or bool(batch.rows is not None or batch.log_lines or batch.config or batch.problems)
        yield batch
    if not told:
        hint = (
            "Leave notebooks that only draw or evaluate out of RUNS, or run the cell that trains and save it."
        )
        yield Batch(problems=(Problem(source.path, None, "empty", "no cell has output of a training", hint),))


def _problem(source: Source, kind: str, message: str, line: int | None = None) -> Batch:
    hint = "Save the outputs as a text file beside the notebook, or save the notebook again."
    return Batch(problems=(Problem(source.path, line, kind, message, hint),))


def _lines(notebook: object, words: str) -> Iterator[tuple[int, str]]:
    """(line in the file, text) of every line of every output."""
    finder = _Finder(words)
    for parts in _outputs(notebook):
        rest, number = "", 0
        for part in parts:
            here = finder.line(part)
            number = number if rest else here
            *whole, tail = (rest + part).split("\n")
            for text in whole:
                yield number, text
                number = here
            rest = tail
        if rest:
            yield number, rest
        yield number, ""  # nothing goes on across the border of an output


def _outputs(notebook: object) -> Iterator[list[str]]:
    """Texts of each output, in pieces as the file holds them."""
    sheets = _items(notebook, "worksheets")  # nbformat 3 keeps its cells one level deeper
    for cell in [*_items(notebook, "cells"), *(cell for sheet in sheets for cell in _items(sheet, "cells"))]:
        for output in _items(cell, "outputs"):
            for value in _texts(output):
                parts = [value] if isinstance(value, str) else value
                if isinstance(parts, list) and (texts := [part for part in parts if isinstance(part, str)]):
                    yield texts


def _texts(output: object) -> Iterator[object]:
    """What an output printed: a stream, a displayed value, a traceback."""
    if not isinstance(output, dict):
        return
    data = output.get("data")
    yield output.get("text")
    yield data.get("text/plain") if isinstance(data, dict) else None
    yield [f"{line}\n" for line in _items(output, "traceback") if isinstance(line, str)]


def _items(value: object, key: str) -> list[object]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


class _Finder:
    """Finds JSON strings in a file from front to back."""

    def __init__(self, words: str) -> None:
        self._words = words
        self._at = 0
        self._line = 1

    def line(self, text: str) -> int:
        """Line where `text` stands as a JSON string; the last line found if it stands nowhere."""
        for ascii_only in (False, True):
            quoted = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
            at = self._words.find(quoted, self._at) if quoted else -1
            if at >= 0:
                self._line += self._words.count("\n", self._at, at)
                self._at = at + len(quoted)
                break
        return self._line
