"""One writer per archive. The lock is the operating system's: a killed build holds nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from sitegen.errors import ArchiveError


@contextmanager
def locked(home: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the archive's lock; when another build has it, say so and wait. Raises ArchiveError."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        lock = FileLock(home / "lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            say(f"another build is writing {home.name}; waiting for it")
            lock.acquire()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ArchiveError(f"cannot write the archive at {home}: {reason}. Give another folder.") from error
    try:
        yield
    finally:
        lock.release()
