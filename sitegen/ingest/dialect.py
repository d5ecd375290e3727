"""Console lines of trainers that mark them `[METRIC]` and `[INFO]`.

`[METRIC] {"step": 120, "reward_mean": 1.87, …}` is a record. `[INFO] step 120 | reward_mean=1.87` is one if
it names a step and at least two numbers; other `[INFO]` lines are prose. Names stay as logged.
"""

from __future__ import annotations

import math
import re

from sitegen.ingest import jsonl
from sitegen.ingest.seed_metrics import STEP_KEYS, TIME_KEYS, seconds

_MARK = re.compile(
    r"^[^\[{]{0,60}(?:\[[^\]]{0,40}\]\s*)?\[(?P<mark>INFO|METRICS?)\]\s*(?P<rest>.*)$", re.DOTALL
)
_STEP = re.compile(r"\b(?:global_)?step\b\s*[:=#]?\s*(\d{1,15})\b", re.IGNORECASE)
_PAIR = re.compile(
    r"(?<![\w/])(?P<name>[A-Za-z_][\w/@.-]{0,80})\s?[=:]\s?"
    r"(?P<value>[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|NaN|inf))(?![\w.%/:])"
)
_FEW = 2  # pairs that make an [INFO] line a record


def record(body: str) -> tuple[int, float, dict[str, float]] | None:
    """(step, Unix seconds or NaN, values) of a marked line; None for any other."""
    match = _MARK.match(body) if "[INFO]" in body or "[METRIC" in body else None
    if match is None:
        return None
    if match["mark"] == "INFO":
        return _from_words(match["rest"])
    return _from_json(match["rest"])


def _from_words(text: str) -> tuple[int, float, dict[str, float]] | None:
    step = _STEP.search(text)
    if step is None:
        return None
    values = {
        m["name"]: float(m["value"])
        for m in _PAIR.finditer(text)
        if m["name"].lower() not in ("step", "global_step")
    }
    return (int(step[1]), math.nan, values) if len(values) >= _FEW else None


def _from_json(text: str) -> tuple[int, float, dict[str, float]] | None:
    try:
        value = jsonl.loads(text.strip().encode("utf-8", "replace"))
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    key = next((key for key in STEP_KEYS if jsonl.whole(value.get(key)) is not None), None)
    if key is None:
        return None
    step = jsonl.whole(value[key])
    assert step is not None
    time = next((t for name in TIME_KEYS if not math.isnan(t := seconds(value.get(name)))), math.nan)
    values = {}
    for name, item in value.items():
        if name != key and name not in TIME_KEYS and isinstance(item, (int, float)):
            values[name] = float(item)
    return step, time, values
