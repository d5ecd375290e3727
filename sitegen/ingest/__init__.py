"""One module per source format: `NAME`, `sniff(path, head)`, `read(source) -> batches`.

Formats are found by content. The order matters: the most specific first, `console` last, because any
text may be a console log.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from sitegen.ingest import (
    console,
    filelogger,
    markdown,
    notebook,
    seed_debug,
    seed_metrics,
    tensorboard,
    trackers,
)
from sitegen.ingest.source import Source, SourceRefused, SourceTooLarge
from sitegen.model import Batch

__all__ = ["FORMATS", "HEAD", "Format", "Source", "SourceRefused", "SourceTooLarge", "by_name", "sniff"]

HEAD = 1 << 16  # bytes a sniffer sees


class Format(Protocol):
    """What a format module offers."""

    NAME: str

    def sniff(self, path: str, head: bytes) -> bool:
        """Whether this format reads the file that begins with `head`."""

    def read(self, source: Source) -> Iterator[Batch]:
        """What the file holds, in file order. What cannot be read is a Problem, not an exception."""


FORMATS: tuple[Format, ...] = (
    filelogger,
    tensorboard,
    trackers,
    notebook,
    seed_metrics,
    seed_debug,
    markdown,
    console,
)


def sniff(source: Source) -> Format | None:
    """The format that claims a source, or None. Raises SourceRefused and OSError as `Source.open` does."""
    head = source.head(HEAD)
    if not head:
        return None
    return next((form for form in FORMATS if form.sniff(source.path, head)), None)


def by_name(name: str) -> Format:
    """The format called `name`. Raises KeyError."""
    return {form.NAME: form for form in FORMATS}[name]
