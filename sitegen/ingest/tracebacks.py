"""Python tracebacks, folded to their exception and the innermost frames, one open per speaker."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sitegen.ingest.text import Line

_HEADER = re.compile(
    r"Traceback \(most recent call last\):|Unhandled error \(suppress with 'RAY_IGNORE_UNHANDLED_ERRORS=1'\)"
)
# What Ray prints before the frames of a task, instead of a header: ray::TaskRunner.run() (pid=7, ip=10.0.0.1)
_TASK = re.compile(r"\bray::[\w.<>]{1,200}\(\) \(pid=\d")
_WRAPPED = re.compile(
    r"(?:\w+\.)*RayTaskError\([\w.]+\): ray::"
)  # the task's own frames and exception follow
_LOGGED = re.compile(r"\b(?:ERROR|WARNING|CRITICAL|DEBUG|INFO)\b[\]:\s]")
_FRAME = re.compile(r'\s+File "(?P<file>[^"]*)", line (?P<line>\d+), in (?P<name>.+)')
_EXCEPTION = re.compile(
    r"(?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit|Warning|Fail\w*|Timeout|Died|Killed|Stop\w*|Abort\w*|Fault)\w*"
    r"(?:\([\w.]+\))?(?::|\s*$)"
    r"|\w+(?:\.\w+)+(?:\([\w.]+\))?(?::|\s*$)"
)
_IGNORED = re.compile(r"Exception ignored in")
MAX_LINES = 400
FRAMES = 3
_MAX_OPEN = 64


@dataclass(frozen=True, slots=True)
class Folded:
    """A finished traceback.

    Args:
        line: line of the exception (of the header, if the log never names it).
        text: the exception, then the innermost frames.
        signature: the same for the same fault: exception type and innermost frame.
        handled: the program logged it as an exception that it had caught.
        ignored: Python said "Exception ignored", as it does while it shuts down.
    """

    line: int
    exception: str
    text: str
    signature: str
    handled: bool
    ignored: bool


@dataclass(slots=True)
class _Open:
    line: int
    handled: bool
    ignored: bool
    seen: int = 0
    frames: list[str] = field(default_factory=list)
    stage: str = ""  # the outermost frame of a worker: says what training was doing
    wrapper: str = ""  # what Ray said for the exception of a task that follows
    task: bool = False  # begun without a header: nothing unless frames follow


class Tracebacks:
    """Follows the tracebacks of all speakers at once."""

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}
        self._before: tuple[Line, ...] = ()  # lines just before this one

    @property
    def pending(self) -> bool:
        """Whether a traceback is open, so that every line matters."""
        return bool(self._open)

    def look_back(self, before: tuple[Line, ...]) -> None:
        """Show the lines before one that may start a traceback: they tell whether the program logged it."""
        self._before = before

    def take(self, line: Line) -> tuple[bool, Folded | None]:
        """(whether the line belongs to a traceback, the traceback if it is complete)."""
        header = _HEADER.search(line.body) if "Traceback" in line.body or "Unhandled" in line.body else None
        if header:
            return True, self._begin(line, header)
        here = self._open.get(line.speaker)
        if "ray::" in line.body and (task := _TASK.search(line.body)):
            if here is not None and here.frames and _WRAPPED.match(line.body):
                here.wrapper = line.body.strip()
                return True, None
            return False, self._begin(line, task, task=True)  # the line may say something by itself
        match = _FRAME.match(line.body)
        if here is None and match and not line.speaker:
            here = self._adopted(line.number)
        if here is None:
            return False, None
        here.seen += 1
        if match:
            frame = f"{_short(match['file'])}:{match['line']} in {match['name'].strip()}"
            here.frames = [*here.frames[1 - FRAMES :], frame]
            if not here.stage and "/workers/" in match["file"].replace("\\", "/"):
                here.stage = frame
            return True, None
        if not line.body.strip() or line.body[0] in " \t|+":
            if here.seen > MAX_LINES:
                return True, self._end(line.speaker, here, here.line, "")
            return True, None
        if _EXCEPTION.match(line.body):
            return True, self._end(line.speaker, here, line.number, line.body.strip())
        return False, self._end(line.speaker, here, here.line, "")

    def finish(self) -> list[Folded]:
        """Tracebacks that the file ends in."""
        ended = [self._end(speaker, here, here.line, "") for speaker, here in list(self._open.items())]
        return [folded for folded in ended if folded is not None]

    def _begin(self, line: Line, header: re.Match[str], *, task: bool = False) -> Folded | None:
        """Open a traceback; one of the same speaker that is still open ends here."""
        before = next((old.body for old in reversed(self._before) if old.speaker == line.speaker), "")
        logged = _LOGGED.search(line.body[: header.start()]) or _LOGGED.search(before)
        old = self._open.pop(line.speaker, None)
        if len(self._open) < _MAX_OPEN:
            ignored = bool(_IGNORED.search(before))
            self._open[line.speaker] = _Open(line.number, bool(logged), ignored, task=task)
        return _folded(old, old.line, "") if old is not None and old.frames else None

    def _adopted(self, number: int) -> _Open | None:
        """A traceback that a speaker began just before: Ray marks only the first line of a long message."""
        for speaker, here in self._open.items():
            if not here.seen and not here.frames and here.line == number - 1:
                self._open[""] = self._open.pop(speaker)
                return here
        return None

    def _end(self, speaker: str, here: _Open, line: int, exception: str) -> Folded | None:
        self._open.pop(speaker, None)
        return None if here.task and not here.frames else _folded(here, line, exception)


def _folded(here: _Open, line: int, exception: str) -> Folded:
    exception = exception or here.wrapper
    name = exception or "an exception that the log does not name"
    outer = [here.stage] if here.stage and here.stage not in here.frames else []
    at = "; ".join([*reversed(here.frames), *outer])
    kind = re.split(r"[:(\s]", name, maxsplit=1)[0] if exception else "?"
    where = here.frames[-1] if here.frames else ""
    text = f"{name[:1500]}\n  at {at}" if at else name[:1500]
    return Folded(line, name, text, f"{kind}|{where}", here.handled, here.ignored)


def _short(path: str) -> str:
    """The last two parts of a path: enough to recognise a file, and no home directory."""
    return "/".join(path.replace("\\", "/").split("/")[-2:])
