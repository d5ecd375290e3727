"""Run ids: one URL-safe path component that does not depend on which other runs exist.

The id is the path under RUNS in lower case, parts joined with "-", without the suffix of a log file. Where
writing it that way loses letters (Chinese, say) a short hash of the path is added. When two runs would
share an id, the one whose path is spelled like the id keeps it (of `x.log` and `x/` the folder), and the
others get the hash. Runs that a tracker's store calls alike are told apart by the tracker's number, of which
the oldest needs none.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

MAX = 100
_PACKED = re.compile(r"\.(gz|zst|zstd)$", re.IGNORECASE)
_ROTATED = re.compile(r"(?<=\.)(log|txt|out|err|jsonl)\.\d{1,4}$", re.IGNORECASE)
EVENTS = "events"
_NUMBER = re.compile(r"[0-9a-f]{8,}")
_TFEVENTS = re.compile(r"(^|\.)tfevents\.\d")  # events.out.tfevents.<time>.<host>…
_SUFFIX = re.compile(
    r"\.(log|txt|out|err|jsonl|json|ndjson|md|markdown|ipynb|console|stdout|stderr|wandb)$", re.IGNORECASE
)


def stem(name: str) -> str:
    """A file name without packing, rotation and log suffix: `train.log.2.gz` -> `train`.

    TensorBoard shows all event files of a folder as one run, and so they have one stem.
    """
    short = _PACKED.sub("", name)
    if _TFEVENTS.search(short):
        return EVENTS
    short = _ROTATED.sub(r"\1", short)
    short = _SUFFIX.sub("", short)
    return short or name


def slug(path: str) -> str:
    """Id for a path, before collisions are looked at. Never empty, at most 100 characters."""
    plain = unicodedata.normalize("NFKD", path)
    kept = "".join(c for c in plain if not unicodedata.combining(c))
    text = re.sub(r"[^a-z0-9._]+", "-", kept.lower()).strip("-._")
    lost = any(c.isalnum() and not c.isascii() for c in kept)
    if not text or lost or len(text) > MAX:
        text = text[: MAX - 9].strip("-._") or "run"
        return f"{text}-{short_hash(path)}"
    return text


def short_hash(path: str) -> str:
    """Eight hex digits of a path."""
    return hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:8]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a run is to be called.

    Args:
        path: its id is spelled like it.
        own: a path that no other run has.
        number: what the run's tracker calls it by, "" where none does.
        age: of runs of trackers the oldest has the least.
    """

    path: str
    own: str
    number: str = ""
    age: int = 0

    def mark(self) -> str:
        """What tells it from other runs of its name: the tracker's number as far as people read it."""
        return self.number[:8] if _NUMBER.fullmatch(self.number) else short_hash(self.own)


def assign(runs: Sequence[Wanted]) -> list[str]:
    """An id per run, all unique."""
    wanted = defaultdict(list)
    for place, run in enumerate(runs):
        wanted[slug(run.path)].append(place)
    found = [""] * len(runs)
    for name, sharing in wanted.items():
        keeper = _keeper(name, sharing, runs)
        marks = Counter(runs[place].mark() for place in sharing)
        for place in sharing:
            mark = runs[place].mark()
            mark = mark if marks[mark] == 1 else short_hash(runs[place].own)
            found[place] = name if place == keeper else f"{name[: MAX - 9]}-{mark}"
    return found


def _keeper(name: str, sharing: Sequence[int], runs: Sequence[Wanted]) -> int | None:
    """Which of the runs that share a name has it: the only one, the folder, else the only one spelled so.

    Of runs that trackers call alike it is the oldest, so that one that is logged later changes no id.
    """
    spelled = [place for place in sharing if runs[place].path == name]
    folders = [place for place in spelled if runs[place].own == name]
    for some in (sharing, folders, [] if any(runs[place].number for place in spelled) else spelled):
        if len(some) == 1:
            return some[0]
    if all(runs[place].number for place in sharing):
        return min(sharing, key=lambda place: (runs[place].age, runs[place].own))
    return None
