"""Files of the processes of one job, one each: `rank_0.log`, `rank_1.log`, torchrun's `attempt_0/1/…`.

A number after `rank` may be that of an adapter as well (`rank8`, `rank16`): only where there is a rank 0 are
such files one job.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

_RANK = re.compile(
    r"[._-]?(?<![a-z0-9])(?<!lora_)(?<!lora-)(?:(?:global|local|node)[_-]?)?rank[_-]?(\d{1,5})(?![a-z0-9])",
    re.IGNORECASE,
)
_FOLDER = re.compile(r"(?:(?:global|local|node)[_-]?)?rank[_-]?(\d{1,5})", re.IGNORECASE)
_TORCHRUN = re.compile(r"(?<![^/])(attempt_\d+)/(\d{1,5})(?=/)")


def siblings(paths: Iterable[str]) -> dict[str, str]:
    """Path -> path without the number of the process, for files of several processes, number 0 among them."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for path in paths:
        if (told := _told(path)) is not None:
            found[told[0]][path] = told[1]
    return {
        path: whole
        for whole, numbers in found.items()
        if 0 in numbers.values() and len(set(numbers.values())) > 1
        for path in numbers
    }


def is_folder(name: str) -> bool:
    """Whether a folder is called like those of a process."""
    return _FOLDER.fullmatch(name) is not None


def _told(path: str) -> tuple[str, int] | None:
    """A path without the number of its process, and that number."""
    lowered = path.lower()
    if "attempt_" in lowered and (match := _TORCHRUN.search(path)):
        return path[: match.end(1)] + path[match.end(2) :], int(match[2])
    if "rank" in lowered and (match := _RANK.search(path)):
        return path[: match.start()] + path[match.end() :], int(match[1])
    return None
