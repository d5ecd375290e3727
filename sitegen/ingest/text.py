"""What surrounds the words of a console line: colours, carriage returns, who printed it, when.

A line may come from one process of many: Ray writes `(TaskRunner pid=12, ip=10.0.0.1) ` before it and
`[repeated 3x across cluster]` behind it, torchrun `[rank0]: `, srun `0: `. Such a mark is called the
speaker. Lines of one speaker belong together even where other speakers talk in between.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

_ANSI = re.compile(
    r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])"
    r"|\[(?:\d{1,2};)*\d{1,2}m"  # a colour whose escape character was lost in a paste
)
_ANSI_TEXT = re.compile(r"\\(?:u001b|x1b|033|e)(?=\[[\d;]*m)", re.IGNORECASE)  # escapes written out as text
_SPEAKER = re.compile(
    r"\s*(?:"
    r"\((?P<ray>(?:[^()\n]{1,120} )?pid=\d+(?:, ip=[^()\s]+)?"
    r"|(?:raylet|autoscaler|scheduler|gcs_server)[^()\n]{0,60})\) ?"
    r"|\[(?P<rank>(?:rank|default|local_rank_?)\d{1,5})\]:? ?"
    r"|(?P<task>\d{1,5}): (?=step:|\(|\[|Traceback|Training )"
    r")"
)
_REPEATED = re.compile(r"\s*\[repeated \d+x across (?:cluster|all nodes)\](?: \(Ray deduplicates.*)?\s*$")
_STAMP = re.compile(
    r"^(?:\[?(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL)\]?[:\s]\s*)?[\[(]?"
    r"(20[0-4]\d)[-/]([01]\d)[-/]([0-3]\d)[ T_]([0-2]\d):([0-5]\d):([0-5]\d)(?:[.,](\d{1,9}))?"
    r"(?:\s?(Z|[+-]\d\d:?\d\d))?"
)
_EPOCH = re.compile(r"\*\*\* SIG[A-Z]+ received at time=(\d{9,10})\b")
_JSON_START = ('"', '["', '{"')
_KEY = re.compile(r'"[^"\\]{1,80}"\s*:\s*(?=["\[{])')
_NEWLINE_TEXT = re.compile(r"(?:\\r)?\\n")
_LOG_OBJECTS = ('{"log":', '{"log" :', '{"message":')  # Docker and what collects its logs


@dataclass(frozen=True, slots=True)
class Line:
    """One physical line, or one piece of it between carriage returns, without its decoration.

    Args:
        number: 1-based line in the file.
        speaker: who printed it, e.g. "TaskRunner pid=12"; empty where the line does not say.
        body: the words; trailing blanks are kept, because a wrapped line needs them.
    """

    number: int
    speaker: str
    body: str


def plain(text: str) -> str:
    """`text` without ANSI codes (real or spelled out), NUL bytes and other control characters."""
    if "\x1b" in text or "\\" in text or "[3" in text or "[0m" in text:
        text = _ANSI.sub("", _ANSI_TEXT.sub("\x1b", text))
    return text.replace("\0", "").replace("\b", "")


def only_decoration(prefix: str) -> bool:
    """Whether `prefix`, the text before a step line, is nothing but colours and a speaker."""
    body = plain(prefix)
    match = _SPEAKER.match(body)
    return not (body[match.end() :] if match else body).strip() and "\r" not in prefix


def lines(number: int, raw: str) -> Iterator[Line]:
    """The pieces of one physical line: a progress bar redraws itself behind carriage returns.

    The speaker stands before the first piece only and holds for all of them.
    """
    speaker = ""
    for piece in raw.split("\r"):
        body = plain(piece)
        if match := _SPEAKER.match(body):
            speaker = match["ray"] or match["rank"] or match["task"]
            body = body[match.end() :]
        if body or "\r" not in raw:
            yield Line(number, speaker, _REPEATED.sub("", body) if "[repeated" in body else body)


def seconds(body: str) -> float:
    """Unix seconds of the time stamp at the start of a line; NaN where there is none.

    A stamp without a zone is read as UTC: the log does not say where its machine stood.
    """
    if match := _STAMP.match(body):
        return _stamp(match)
    match = _EPOCH.search(body) if "SIG" in body else None
    return float(match[1]) if match else math.nan


def _stamp(match: re.Match[str]) -> float:
    year, month, day, hour, minute, second = (int(match[i]) for i in range(1, 7))
    micro = int((match[7] or "0").ljust(6, "0")[:6])
    try:
        return datetime(year, month, day, hour, minute, second, micro, _zone(match[8])).timestamp()
    except (ValueError, OverflowError):
        return math.nan


def _zone(text: str | None) -> timezone:
    if not text or text == "Z":
        return UTC
    sign = -1 if text[0] == "-" else 1
    minutes = int(text[1:3]) * 60 + int(text[-2:])
    return timezone(sign * timedelta(minutes=min(minutes, 24 * 60 - 1)))


def unquoted(raw: str) -> list[str] | None:
    """Lines of the texts in a line that is JSON: a string, a key with one, an object or array with some.

    Docker's log files, chat exports and dumps keep console output this way. None when the line is no JSON
    or holds no text. A string that was cut, so that its quote never closes, is taken apart all the same.
    """
    text = raw.strip().rstrip(",")
    telling = text.startswith(_JSON_START) and ("step:" in text or "\\u001b" in text)
    if not (telling or text.startswith(_LOG_OBJECTS)):
        return None
    key = _KEY.match(text)
    text = text[key.end() :] if key else text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _NEWLINE_TEXT.split(text[1:].rstrip('"')) if text.startswith('"') else None
    found = [line for part in _strings(value) for line in part.splitlines()]
    return found or None


def _strings(value: object) -> Iterator[str]:
    """Strings of a JSON value, outermost first."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            waiting.extend(reversed(list(item.values())))
        elif isinstance(item, list):
            waiting.extend(reversed(item))
