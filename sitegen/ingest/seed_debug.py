"""`[DEBUG]` files of `logs/debug/`: lines of `key=value` or `key: value` pairs.

    2026-01-05 10:00:00 [DEBUG] step=100 grad_norm_actor=0.42 reward_std: 0.31
    [DEBUG] step=100 prompt_length: min=50 max=1200

A label without a number of its own is the group of the pairs behind it (`prompt_length/min`).
A line without a step belongs to the last step above it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from sitegen.ingest import jsonl
from sitegen.ingest.seed_metrics import STEP_KEYS, seconds
from sitegen.ingest.source import Source, blocks
from sitegen.model import Batch

NAME = "seed-debug"
_MARK = re.compile(r"^(?P<stamp>[^\[{]{0,40}?)(?:\[(?P<inner>[\d\-:., TZ+]{10,40})\]\s*)?\[DEBUG\]\s*")
_NUMBER = r"[-+]?(?:\d[\d_]*\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf(?:inity)?)"
_PAIR = re.compile(
    rf"(?P<name>[A-Za-z_][\w./@-]*)\s*(?:[=:]\s*(?P<value>{_NUMBER})(?![\w.%])|(?P<label>:)(?=\s+[A-Za-z_]))",
    re.IGNORECASE,
)


def sniff(path: str, head: bytes) -> bool:
    """Whether at least half of the first lines are `[DEBUG]` lines and one of them names a step."""
    text = head[:16384].decode("utf-8", "replace")
    lines = [line for line in text.splitlines() if line.strip()][:20]
    marked = [line for line in lines if _MARK.match(line)]
    return bool(marked) and 2 * len(marked) >= len(lines) and any("step" in line for line in marked)


def read(source: Source) -> Iterator[Batch]:
    """One record per line that carries numbers; a line before any step is a problem."""
    faults = jsonl.Faults(source.path)
    step: int | None = None
    with source.open() as stream:
        for first, lines, _ in blocks(stream):
            records = jsonl.Records(faults)
            for number, raw in enumerate(lines, first):
                step = _line(raw.decode("utf-8", "replace").strip(), number, step, records)
            if records.steps:
                yield Batch(rows=records.rows())
    if problems := faults.problems():
        yield Batch(problems=problems)


def _line(text: str, number: int, step: int | None, records: jsonl.Records) -> int | None:
    """Add the record of one line; returns the step that holds from here on."""
    mark = _MARK.match(text)
    if mark is None:
        if text:
            records.faults.bad(number, "it does not begin with [DEBUG]")
        return step
    values = pairs(text[mark.end() :])
    for key in STEP_KEYS:
        if key in values and (found := jsonl.whole(values[key])) is not None:
            step = found
            del values[key]
            break
    if values and step is None:
        records.faults.bad(number, "no step is known yet")
    elif values and step is not None:
        stamp = mark["inner"] or mark["stamp"].strip().replace(",", ".")
        records.add(number, step, seconds(stamp) if stamp else math.nan, values)
    return step


def pairs(text: str) -> dict[str, object]:
    """Names and numbers of the pairs in `text`, a JSON object included."""
    if text.startswith("{"):
        try:
            value = jsonl.loads(text.encode())
        except ValueError:
            value = None
        if isinstance(value, dict):
            return value
    found: dict[str, object] = {}
    group = ""
    for match in _PAIR.finditer(text):
        if match["label"]:
            group = match["name"] + "/"
        else:
            name = match["name"] if match["name"] in STEP_KEYS else group + match["name"]
            found[name] = float(match["value"].replace("_", ""))
    return found
