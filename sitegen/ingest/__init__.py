"""One module per source format: `NAME`, `sniff(path, head)`, `read(source) -> batches`.

Formats are found by content. The order matters: the most specific first, `console` last, because any
text may be a console log. A format whose run is spread over several files, or whose file holds several
runs, says so with the functions of `Spread` and `Store`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Protocol, runtime_checkable

from sitegen.ingest import (
    clearml,
    console,
    csv_export,
    exported,
    filelogger,
    generations,
    hydra_files,
    markdown,
    mlflow_db,
    mlflow_files,
    mlflow_tracefiles,
    notebook,
    sample_tables,
    seed_debug,
    seed_metrics,
    swanlab,
    tensorboard,
    trackers,
    trackio,
    wandb_export,
    wandb_files,
    wandb_log,
    weave_calls,
)
from sitegen.ingest.source import Member, Part, Source, SourceRefused, SourceTooLarge
from sitegen.model import Batch

__all__ = [
    "FORMATS",
    "HEAD",
    "Doubted",
    "Format",
    "Mangling",
    "Named",
    "Part",
    "Source",
    "SourceRefused",
    "SourceTooLarge",
    "Spread",
    "Store",
    "by_name",
    "sniff",
]

HEAD = 1 << 16  # bytes a sniffer sees


class Format(Protocol):
    """What a format module offers."""

    NAME: str

    def sniff(self, path: str, head: bytes) -> bool:
        """Whether this format reads the file that begins with `head`."""

    def read(self, source: Source) -> Iterator[Batch]:
        """What the file holds, in file order. What cannot be read is a Problem, not an exception."""


@runtime_checkable
class Spread(Protocol):
    """A format that reads further files with the one it claims."""

    def beside(self, path: str) -> tuple[str, ...]:
        """Paths of those files, and of folders (with a `/` at the end) that belong to it as a whole."""


@runtime_checkable
class Doubted(Protocol):
    """A format that the head of a file cannot tell for sure."""

    def holds(self, source: Source) -> bool:
        """A second look at a file that `sniff` claims."""


@runtime_checkable
class Mangling(Protocol):
    """A format whose tracker changes names."""

    def mangled(self, name: str) -> str:
        """What the tracker makes of a name."""


@runtime_checkable
class Store(Protocol):
    """A format whose file holds several runs."""

    def parts(self, source: Source) -> tuple[Part, ...]:
        """The runs of the file, oldest first; none where it cannot be read, and `read` then says why."""

    def digest(self, source: Source) -> str:
        """Changes with what `read` would find in one part, and not with the other parts. Raises OSError."""


@runtime_checkable
class Named(Protocol):
    """A format whose tracker keeps each run in a folder with a name of its own making."""

    def named(self, source: Source) -> tuple[str, int]:
        """What people call the run ("" where they do not), and when it began, in any unit."""


FORMATS: tuple[Format, ...] = (
    exported,
    wandb_export,
    filelogger,
    tensorboard,
    wandb_log,
    wandb_files,
    mlflow_db,
    mlflow_files,
    mlflow_tracefiles,
    weave_calls,
    trackio,
    clearml,
    swanlab,
    generations,
    sample_tables,
    hydra_files,
    trackers,
    csv_export,
    notebook,
    seed_metrics,
    seed_debug,
    markdown,
    console,
)


def sniff(source: Source, find: Callable[[str], Member | None] = lambda path: None) -> Format | None:
    """The format that claims a source, or None. `find` looks a file beside it up.

    Raises SourceRefused and OSError as `Source.open` does.
    """
    head = source.head(HEAD)
    if not head:
        return None
    claims = (form for form in FORMATS if form.sniff(source.path, head))
    return next((form for form in claims if _holds(form, source, find)), None)


def _holds(form: Format, source: Source, find: Callable[[str], Member | None]) -> bool:
    if not isinstance(form, Doubted):
        return True
    near = form.beside(source.path) if isinstance(form, Spread) else ()
    members = tuple(member for member in map(find, near) if member is not None)
    return form.holds(replace(source, members=members, notes=[]))


def by_name(name: str) -> Format:
    """The format called `name`. Raises KeyError."""
    return {form.NAME: form for form in FORMATS}[name]
