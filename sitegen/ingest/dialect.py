"""Console lines of trainers that mark them `[METRIC]` and `[INFO]`.

`[METRIC] {"step": 120, "reward_mean": 1.87, …}` is a record. `[INFO] step 120 | reward_mean=1.87` is one if
it names a step and at least two numbers; other `[INFO]` lines are prose. Names stay as logged.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sitegen.ingest import jsonl
from sitegen.ingest.jsonrows import MAX_DEPTH, NON_FINITE, as_float
from sitegen.ingest.seed_metrics import unpack

_MARK = re.compile(
    r"^[^\[{]{0,60}(?:\[[^\]]{0,40}\]\s*)?\[(?P<mark>INFO|METRICS?)\]\s*(?P<rest>.*)$", re.DOTALL
)
_STEP = re.compile(
    r"\b(?:global_)?step\b\s*[:=#]?\s*"
    r"(?P<step>[-+]?\d{1,400}(?:\.\d{0,40})?(?:e[-+]?\d{1,4})?|nan|[-+]?inf)(?!\w)",
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"(?<![\w/])(?P<name>[A-Za-z_][\w/@.-]{0,80})\s?[=:]\s?"
    r"(?P<value>[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|NaN|inf))(?![\w.%/:])"
)
_FEW = 2  # pairs that make an [INFO] line a record


@dataclass(frozen=True, slots=True)
class Marked:
    """A marked line that is a record.

    Args:
        step: as logged.
        time: Unix seconds, NaN where the line has none.
        values: name -> number, NaN and infinities included.
        others: names of values that are no numbers -> what they are.
        repeated: a name that stands twice, "" for none; its last value was kept.
    """

    step: int
    time: float
    values: dict[str, float]
    others: Mapping[str, str]
    repeated: str = ""


def record(body: str) -> Marked | str | None:
    """A marked line as a record; why it is none, where it should be one; None for any other line."""
    match = _MARK.match(body) if "[INFO]" in body or "[METRIC" in body else None
    if match is None:
        return None
    if match["mark"] != "INFO" and match["rest"].startswith("{"):
        return _from_json(match["rest"])
    return _from_words(match["rest"])


def _from_words(text: str) -> Marked | str | None:
    named = _STEP.search(text)
    if named is None:
        return None
    values = {
        m["name"]: float(m["value"])
        for m in _PAIR.finditer(text)
        if m["name"].lower() not in ("step", "global_step")
    }
    if len(values) < _FEW:
        return None
    number = float(named["step"])
    step = jsonl.whole(int(named["step"]) if named["step"].isdigit() else number)
    return Marked(step, math.nan, values, {}) if step is not None else jsonl.no_step(number, "step")


def _from_json(text: str) -> Marked | str:
    line = text.strip().encode("utf-8", "replace")
    try:
        value = jsonl.loads(line)
    except ValueError:
        return "it is not JSON"
    found = unpack(value)
    if isinstance(found, str):
        return found
    step, time, rest = found
    values: dict[str, float] = {}
    others: dict[str, str] = {}
    for name, item in _flat(rest, 0):
        number = _number(item)
        if number is None:
            others[name] = "null" if item is None else type(item).__name__
        else:
            values[name] = number
    return Marked(step, time, values, others, jsonl.repeated(line) or "")


def _flat(value: Mapping[str, object], depth: int) -> Iterator[tuple[str, object]]:
    """Names and values, those of objects inside as `outer/inner`."""
    for name, item in value.items():
        if isinstance(item, dict) and item and depth < MAX_DEPTH:
            yield from ((f"{name}/{inner}", each) for inner, each in _flat(item, depth + 1))
        else:
            yield name, item


def _number(item: object) -> float | None:
    if isinstance(item, (int, float)):
        return as_float(item)
    known = NON_FINITE.get(item.strip().lower()) if isinstance(item, str) else None
    return float(known) if known else None
