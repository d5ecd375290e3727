"""One writer per archive. The lock is the operating system's: a killed build holds nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from sitegen.errors import ArchiveError


@contextmanager
def locked(home: Path, say: Callable[[str], None], name: str = "lock") -> Iterator[None]:
    """Hold a lock of the archive; when another build has it, say so and wait. Raises ArchiveError.

    `name` is "lock" for whoever writes the archive, "site.lock" for whoever builds a site from it.
    """
    try:
        home.mkdir(parents=True, exist_ok=True)
        lock = FileLock(home / name)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            say(f"another build holds {home.name}/{name}; waiting for it")
            lock.acquire()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ArchiveError(f"cannot write the archive at {home}: {reason}. Give another folder.") from error
    try:
        yield
    finally:
        lock.release()
