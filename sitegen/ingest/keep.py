"""Lines kept for diagnosis: repeated ones counted, all of them bounded, levels settled at the end."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from sitegen.ingest.diagnosis import Sign
from sitegen.ingest.faults import Faults
from sitegen.model import LogLine

MAX_TEXT = 2000
_ENTRIES = {"traceback": 40, "checkpoint_saved": 30, "resumed": 100}
_MAX_ENTRIES = 12  # different lines kept of any other kind; of each the first and the last
_VARYING = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{16,}\b|\d+(?:\.\d+)*")
_STEP_FOLDER = re.compile(r"global_step_\d+")
_LASTING = frozenset({"nan_guard", "info"})  # levels that say nothing about the end of a run


@dataclass(frozen=True, slots=True)
class Seen:
    """One occurrence of a sign."""

    line: int
    time: float
    step: int | None
    text: str
    attempt: int
    handled: bool = False
    ignored: bool = False


@dataclass(slots=True)
class _Entry:
    sign: Sign
    signature: str
    first: Seen
    last: Seen
    count: int = 1


@dataclass(slots=True)
class _Attempt:
    first_line: int = 0
    last_step_line: int = 0
    finished_line: int = 0


class Keeper:
    """Collects signs of one log and hands them out as `LogLine`s."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._entries: dict[tuple[str, str], _Entry] = {}
        self._per_kind: dict[str, int] = {}
        self._over: dict[str, _Entry] = {}  # kind -> lines beyond the bound, the last one kept
        self._attempts = [_Attempt()]
        self._survived: set[str] = set()

    @property
    def attempt(self) -> int:
        """Number of the current attempt, from 0."""
        return len(self._attempts) - 1

    def stepped(self, line: int) -> None:
        """The newest step was logged at `line`."""
        here = self._attempts[-1]
        if line > max(here.first_line, here.last_step_line):
            here.last_step_line = line

    def restarted(self, line: int) -> None:
        """The program starts at `line`. A start before anything happened is the same attempt."""
        fatal = any(
            entry.last.attempt == self.attempt and entry.sign.level in ("critical", "error")
            for entry in self._entries.values()
        )
        if self._attempts[-1].last_step_line or fatal:
            self._attempts.append(_Attempt(line))

    def add(self, sign: Sign, seen: Seen, signature: str = "") -> None:
        """Keep an occurrence, or count it where its like was seen before."""
        if sign.kind == "finished" and not self._attempts[-1].finished_line:
            self._attempts[-1].finished_line = seen.line
        seen = replace(seen, text=seen.text[:MAX_TEXT], attempt=self.attempt)
        key = (sign.kind, signature or _likeness(sign.kind, seen.text))
        entry = self._entries.get(key)
        if entry is None and self._per_kind.get(sign.kind, 0) >= _ENTRIES.get(sign.kind, _MAX_ENTRIES):
            entry = self._over.setdefault(sign.kind, _Entry(sign, "", seen, seen, 0))
        if entry is None:
            self._entries[key] = _Entry(sign, signature, seen, seen)
            self._per_kind[sign.kind] = self._per_kind.get(sign.kind, 0) + 1
            return
        entry.count += 1
        entry.last = seen

    def finish(self, faults: Faults) -> tuple[LogLine, ...]:
        """All lines kept, by line number; says in `faults` how many were left out."""
        for entry in self._entries.values():
            if entry.signature and self._lived_on(entry.first):
                self._survived.add(entry.signature)
        found = []
        for entry in self._entries.values():
            found.append(self._line(entry, entry.first, entry.count))
            if entry.last.line != entry.first.line:
                found.append(self._line(entry, entry.last, 1))
        for kind, entry in self._over.items():
            found.append(self._line(entry, entry.last, 1))
            if entry.count > 1:
                faults.add(
                    "left_out",
                    entry.first.line,
                    f"{entry.count - 1} more lines of kind {kind} were read but not kept",
                )
        return tuple(sorted(found, key=lambda line: (line.line, line.kind, line.text)))

    def _line(self, entry: _Entry, seen: Seen, count: int) -> LogLine:
        more = f"  [{count} lines like this, the last in line {entry.last.line}]" if count > 1 else ""
        return LogLine(
            path=self._path,
            line=seen.line,
            time=None if math.isnan(seen.time) else seen.time,
            level=self._level(entry, seen),
            kind=entry.sign.kind,
            step=seen.step,
            text=seen.text[: MAX_TEXT - len(more)] + more,
        )

    def _level(self, entry: _Entry, seen: Seen) -> str:
        level = entry.sign.level
        if level == "info" or seen.ignored:
            return "info"
        if entry.sign.kind in _LASTING:
            return level
        finished = self._attempts[seen.attempt].finished_line
        if finished and seen.line > finished:
            return "info"
        if self._lived_on(seen) or (
            entry.sign.kind == "traceback" and (seen.handled or entry.signature in self._survived)
        ):
            return "warning"
        return level

    def _lived_on(self, seen: Seen) -> bool:
        """Whether steps were logged after this in the same attempt."""
        return self._attempts[seen.attempt].last_step_line > seen.line


def _likeness(kind: str, text: str) -> str:
    """The same for lines that say the same: numbers count only where they name a step."""
    if kind == "resumed":
        return text
    folder = _STEP_FOLDER.search(text) if kind.startswith("checkpoint") else None
    return folder[0] if folder else _VARYING.sub("#", text)
