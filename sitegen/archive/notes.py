"""Notes by people: `notes.md` in the folder of a run, and `incidents/<id>.md` beside it (`KL-05-1.md`).

Markdown, with one word for machines: which run the fix was tried in, as a line `fixed by: <run>` of its own
or between `---` at the top. Whether that run and that incident exist is not known here.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from sitegen.errors import Problem
from sitegen.ingest.source import Source, SourceRefused
from sitegen.model import Note
from sitegen.redact import redact

NAME, FOLDER = "notes.md", "incidents"
KIND = "note"
MAX = 64 << 10  # bytes that are read of one file
_KEYS = ("fixed by",)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_FIXED = re.compile(
    r"\s*(?:[-*+]\s+)?\**fixed[ _-]by\**\s*:\**\s*(\S*)\s*", re.IGNORECASE
)  # one word: no prose


@dataclass
class _Reading:
    """What was found in a file so far."""

    path: str
    lines: list[str] = field(default_factory=list)
    fixed_by: str | None = None
    fixed_at: int | None = None
    problems: list[Problem] = field(default_factory=list)

    def told(self, line: int | None, what: str, hint: str = "") -> None:
        self.problems.append(Problem(self.path, line, KIND, what, hint))

    def fixed(self, run: str, line: int) -> None:
        if not run:
            self.told(line, "`fixed by` names no run", "Write the id of the run: fixed by: my-second-try")
        elif self.fixed_by is not None:
            self.told(line, f"`fixed by` stands twice; {self.fixed_by} counts", "Name one run.")
        else:
            self.fixed_by, self.fixed_at = run, line


def is_note(path: str) -> bool:
    """Whether the file at `path`, relative to RUNS, is a note by its name."""
    folder, _, name = path.lower().rpartition("/")
    return name == NAME or (name.endswith(".md") and folder.rpartition("/")[2] == FOLDER)


def home(path: str) -> str:
    """The folder of the run that a note at `path` is about."""
    folder, _, name = path.rpartition("/")
    return folder if name.lower() == NAME else folder.rpartition("/")[0]


def load(sources: Iterable[Source]) -> tuple[tuple[Note, ...], tuple[Problem, ...]]:
    """The notes of one run by incident and path, those on the run first, and what was wrong with them."""
    read = [_load(source) for source in sources]
    found = sorted((note for note, _ in read if note is not None), key=lambda one: (one.anchor, one.path))
    return tuple(found), tuple(problem for _, problems in read for problem in problems)


def _load(source: Source) -> tuple[Note | None, list[Problem]]:
    reading = _Reading(source.path)
    try:
        raw = source.head(MAX + 4)
    except (OSError, SourceRefused) as error:
        reading.told(None, f"cannot be read: {error}", "Check owner and permissions.")
        return None, reading.problems
    if len(raw) > MAX:
        reading.told(
            None, f"is longer than {MAX >> 10} KB; the rest was left out", "Notes are for people: be brief."
        )
    text = raw[:MAX].decode("utf-8-sig", "replace" if len(raw) <= MAX else "ignore")
    if "\ufffd" in text and b"\xef\xbf\xbd" not in raw:
        reading.told(None, "is not UTF-8 throughout; what is not was replaced")
    _read(text.splitlines(), reading)
    return _note(reading), reading.problems


def _note(reading: _Reading) -> Note | None:
    secrets: Counter[str] = Counter()
    text, found = redact("\n".join(reading.lines).strip())
    secrets += found
    run, found = redact(reading.fixed_by or "")
    secrets += found
    for kind, n in sorted(secrets.items()):
        told = f"{n} x {kind} replaced by [redacted:{kind}]"
        reading.problems.append(Problem(reading.path, None, "redacted", told, "Take it out of the file."))
    if not text and not run:
        reading.told(None, "says nothing", "Write what the cause was, or remove the file.")
        return None
    name = reading.path.rpartition("/")[2]
    anchor = "" if name.lower() == NAME else name[: -len(".md")].upper()
    return Note(reading.path, anchor, text, run or None, reading.fixed_at)


def _read(lines: list[str], reading: _Reading) -> None:
    body = _front_matter(lines, reading)
    fence = ""
    for number, line in enumerate(lines[body:], body + 1):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence):
            fence = ""
        elif not fence and (said := _FIXED.fullmatch(line)):
            reading.fixed(_run(said[1]), number)
            continue
        reading.lines.append(line)


def _front_matter(lines: list[str], reading: _Reading) -> int:
    """Read `key: value` lines between `---` at the top; returns how many lines they take."""
    end = next((n for n, line in enumerate(lines[1:], 1) if line.strip() == "---"), None)
    if not lines or lines[0].strip() != "---" or end is None or not all(map(_is_pair, lines[1:end])):
        return 0
    for number, line in enumerate(lines[1:end], 2):
        key, _, value = line.partition(":")
        known = " ".join(re.split(r"[ _-]+", key.strip().lower()))
        if known in _KEYS:
            reading.fixed(_run(value), number)
        elif key.strip() and not key.lstrip().startswith("#"):
            reading.told(number, f"unknown key {redact(key.strip())[0]}; left out", _near(known))
    return end + 1


def _is_pair(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#") or ":" in line


def _near(key: str) -> str:
    close = difflib.get_close_matches(key, _KEYS, 1, 0.5)
    return f"Did you mean '{close[0]}'?" if close else "Known keys: fixed by."


def _run(value: str) -> str:
    """The name of a run without what people put around it."""
    return value.strip().strip("`\"'<> ").rstrip(".").strip("`\"'<> ")
