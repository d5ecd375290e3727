"""`[DEBUG]` files of `logs/debug/`: lines of pairs, written in many ways.

    2026-01-05 10:00:00 [DEBUG] step=100 grad_norm_actor=0.42 reward_std: 0.31
    [DEBUG] 2026-01-05 10:00:00 step 100 response_length min=9 max=64
    [DEBUG] step=100 timing: gen=3.2 update=1.1

A label without a number of its own is the group of the pairs behind it (`timing/gen`); without a colon it
groups only pairs called min, max, mean and the like. A line without a step belongs to the last step above it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from sitegen.ingest import jsonl
from sitegen.ingest.jsonfaults import Faults
from sitegen.ingest.jsonrows import Records
from sitegen.ingest.seed_metrics import STEP_KEYS, seconds
from sitegen.ingest.source import Source, blocks
from sitegen.model import Batch

NAME = "seed-debug"
_STAMP = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
_MARK = re.compile(
    rf"^\W{{0,3}}(?P<before>{_STAMP})?[^\[{{]{{0,40}}\[DEBUG\][\s:>-]{{0,3}}(?P<after>{_STAMP})?"
)
_STEP = re.compile(r"\b(?:global_)?step\b\s*[:=#]?\s*(\d{1,15})\b", re.IGNORECASE)
_NUMBER = r"[-+]?(?:\d[\d_]*\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf(?:inity)?)"
_PAIR = re.compile(
    rf"(?P<name>[A-Za-z_][\w./@-]*)"
    rf"(?:\s*[=:]\s*(?P<value>{_NUMBER})(?![\w.%])|(?P<label>:?)(?=\s+[A-Za-z_][\w./@-]*\s*[=:]))",
    re.IGNORECASE,
)
_STATISTICS = re.compile(r"(?:min|max|mean|avg|std|var|median|sum|count|p\d{1,2})$", re.IGNORECASE)


def sniff(path: str, head: bytes) -> bool:
    """Whether at least half of the first lines are `[DEBUG]` lines and one of them names a step."""
    text = head[:16384].decode("utf-8", "replace")
    lines = [line for line in text.splitlines() if line.strip()][:20]
    marked = [line for line in lines if _MARK.match(line)]
    return bool(marked) and 2 * len(marked) >= len(lines) and any("step" in line for line in marked)


def read(source: Source) -> Iterator[Batch]:
    """One record per line that carries numbers; a line before any step is a problem."""
    faults = Faults(source.path)
    step: int | None = None
    with source.open() as stream:
        for first, lines, _ in blocks(stream, too_long=faults.too_long):
            records = Records(faults)
            for number, raw in enumerate(lines, first):
                step = _line(raw.decode("utf-8", "replace").strip(), number, step, records)
            if records.steps:
                yield Batch(rows=records.rows())
    if problems := faults.problems():
        yield Batch(problems=problems)


def _line(text: str, number: int, step: int | None, records: Records) -> int | None:
    """Add the record of one line; returns the step that holds from here on."""
    mark = _MARK.match(text)
    if mark is None:
        if text:
            records.faults.bad(number, "it does not begin with [DEBUG]")
        return step
    rest = text[mark.end() :].lstrip()
    named, values = _object(rest) if rest.startswith("{") else _words(rest)
    step = step if named is None else named
    if values and step is None:
        records.faults.bad(number, "no step is known yet")
    elif values and step is not None:
        stamp = (mark["before"] or mark["after"] or "").replace(",", ".")
        records.extend([(number, step, seconds(stamp) if stamp else math.nan, values, False)])
    return step


def _object(text: str) -> tuple[int | None, dict[str, object]]:
    try:
        value = jsonl.loads(text.encode())
    except ValueError:
        return None, {}
    if not isinstance(value, dict):
        return None, {}
    key = next((key for key in STEP_KEYS if jsonl.whole(value.get(key)) is not None), None)
    return (None, value) if key is None else (jsonl.whole(value.pop(key)), value)


def _words(text: str) -> tuple[int | None, dict[str, object]]:
    """Step and pairs of a line of words."""
    named = _STEP.search(text)
    if named:
        text = text[: named.start()] + text[named.end() :]
    found: dict[str, object] = {}
    group, open_ended = "", False
    for match in _PAIR.finditer(text):
        name, value = match["name"], match["value"]
        if value is None:
            group, open_ended = name, bool(match["label"])
            continue
        if group and not open_ended and not _STATISTICS.match(name):
            group = ""
        found[f"{group}/{name}" if group else name] = float(value.replace("_", ""))
    return (int(named[1]) if named else None), found
