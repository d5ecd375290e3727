"""SwanLab's log of version 1 (`backup.swanlab`, of SwanLab before 0.8): JSON records in the same framing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Protocol

from sitegen.ingest import jsonl, samples
from sitegen.ingest.generations import VALIDATION, sample
from sitegen.ingest.swanlab_text import parsed
from sitegen.model import Sample

VERSION = 1
_PLACES = {"Project": {"name": "project"}, "Experiment": {"name": "experiment", "id": "run_id"}}


class Notes(Protocol):
    """What a reader of the log collects beside values."""

    system: set[str]
    media: int
    printed: bool
    bad: list[tuple[int, str]]
    texts: list[Sample]

    def counts(self, name: str) -> bool:
        """Whether a name is a metric of training."""

    def note(self, key: str, value: str) -> None:
        """Keep a fact that is not known yet."""


def values(framed: Iterable[tuple[int, bytes]], notes: Notes) -> Iterator[samples.Sample]:
    """Values in the order in which they were logged; everything else goes to `notes`."""
    for offset, data in framed:
        record = _record(data)
        if record is None:
            notes.bad.append((offset, "no JSON record"))
            continue
        kind, said = record
        if kind == "Scalar":
            metric, name = _mapping(said.get("metric")), str(said.get("key") or "")
            step = jsonl.whole(said.get("step", metric.get("index")))
            if step is None or not name:
                notes.bad.append((offset, "a value without name or step"))
            elif notes.counts(name):
                yield _seconds(metric.get("create_time")), step, name, metric.get("data")
        else:
            _other(kind, said, notes)


def lines(framed: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, str]]:
    """(record, text) of the lines printed."""
    for number, (_, data) in enumerate(framed, 1):
        if (record := _record(data)) and record[0] == "Log":
            yield from ((number, line) for line in str(record[1].get("message") or "").split("\n"))


def _record(data: bytes) -> tuple[str, Mapping[str, object]] | None:
    try:
        found = jsonl.loads(data)
    except ValueError:
        return None
    if not isinstance(found, dict) or not isinstance(found.get("data"), dict):
        return None
    return str(found.get("model_type")), found["data"]


def _other(kind: str, said: Mapping[str, object], notes: Notes) -> None:
    for key, fact in _PLACES.get(kind, {}).items():
        notes.note(fact, str(said.get(key) or ""))
    if kind == "Column" and said.get("cls") == "SYSTEM":
        notes.system.add(str(said.get("key")))
    elif kind == "Media":
        _media(said, notes)
    elif kind == "Log":
        notes.printed = True
    elif kind in ("Header", "Footer"):
        time = _seconds(said.get("create_time"))
        notes.note(
            "first_time" if kind == "Header" else "last_time", repr(time) if math.isfinite(time) else ""
        )
        if kind == "Footer":
            notes.note("tracker_status", "FINISHED" if said.get("success") else "CRASHED")


def _media(said: Mapping[str, object], notes: Notes) -> None:
    """Files lie below `media/`; texts lie in the record, samples of validations among them."""
    if said.get("buffers_name"):
        notes.media += 1
        return
    data = _mapping(said.get("metric")).get("data")
    for text in data if isinstance(data, list) else []:
        record = parsed(text) if isinstance(text, str) else None
        if record is None:
            notes.media += 1
        else:
            notes.texts.append(sample(record, 1, VALIDATION, jsonl.whole(said.get("step"))))


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _seconds(stamp: object) -> float:
    """Unix seconds of an ISO time, NaN for what is none."""
    try:
        return datetime.fromisoformat(str(stamp)).timestamp()
    except (ValueError, OverflowError):
        return math.nan
