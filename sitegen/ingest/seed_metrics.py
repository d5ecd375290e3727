"""Flat JSONL: `{"step": 120, "epoch": 3, "reward_mean": 1.87, …}`, as any trainer may write it.

Also with `[METRIC] ` before the object, as in `logs/metrics/*.jsonl` of the articles that describe
this dialect. Names stay as logged; the glossary knows what they mean.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from sitegen.ingest import jsonl
from sitegen.ingest.source import Source
from sitegen.model import Batch

NAME = "seed-metrics"
STEP_KEYS = (
    "step", "global_step", "_step", "training/global_step", "train/global_step",
    "trainer/global_step", "iteration", "iter", "current_steps", "update",
)  # fmt: skip
TIME_KEYS = ("time", "timestamp", "_timestamp", "ts", "wall_time", "datetime")
PREFIX = re.compile(rb"^[^{\r\n]{0,80}?\[METRICS?\]\s*(?=\{)")
_INFO = re.compile(rb"^[^\[{\r\n]{0,60}\[(?:INFO|WARNING|ERROR)\]", re.MULTILINE)
_LEVELS = (b"[INFO]", b"[WARNING]", b"[ERROR]")
_ERA = (946_684_800.0, 4_102_444_800.0)  # 2000 to 2100: a number outside is no Unix time


def sniff(path: str, head: bytes) -> bool:
    """Whether at least half of the first lines are objects with a step and another number.

    A file with `[INFO]` lines among them is the console's.
    """
    if b"{" not in head[:4096] or (any(level in head for level in _LEVELS) and _INFO.search(head)):
        return False
    if b"[METRIC" in head:
        head = b"\n".join(PREFIX.sub(b"", line) for line in head.split(b"\n"))
    found, looked = jsonl.objects(head)
    return bool(found) and 2 * sum(map(_is_record, found)) >= looked


def read(source: Source) -> Iterator[Batch]:
    """Step records in file order; torn and foreign lines become problems."""
    yield from jsonl.read(source, unpack, PREFIX)


def _is_record(value: dict[str, object]) -> bool:
    key = _step_key(value)
    numbers = (v for k, v in value.items() if k != key and k not in TIME_KEYS)
    return key is not None and any(isinstance(v, (int, float, dict)) or v is None for v in numbers)


def _step_key(value: dict[str, object]) -> str | None:
    for key in STEP_KEYS:
        if key in value and jsonl.whole(value[key]) is not None:
            return key
    return None


def unpack(value: object) -> jsonl.Record | str:
    """Step, Unix seconds (NaN where there are none) and the rest of a JSON value, or why it is no record."""
    if not isinstance(value, dict):
        return "it is not a JSON object"
    key = _step_key(value)
    if key is None:
        named = next((value[key] for key in STEP_KEYS if key in value), None)
        return jsonl.no_step(named, f"any of {', '.join(STEP_KEYS[:4])}, …")
    step = jsonl.whole(value.pop(key))
    assert step is not None
    time = math.nan
    for name in TIME_KEYS:
        if name in value and math.isnan(time):
            time = seconds(value[name])
            if not math.isnan(time):
                del value[name]
    return step, time, value


def seconds(value: object) -> float:
    """Unix seconds of a stamp in seconds, milliseconds or ISO 8601 (UTC unless it says), NaN for others."""
    if isinstance(value, str):
        try:
            stamp = datetime.fromisoformat(value.strip())
        except ValueError:
            return math.nan
        return (stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return math.nan
    for scale in (1, 1000):
        if _ERA[0] * scale <= value <= _ERA[1] * scale:
            return value / scale
    return math.nan
