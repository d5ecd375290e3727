"""verl's `FileLogger`: one `{"step": N, "data": {name: value}}` per line.

verl opens the file with "w": after a resume it begins at the resumed step. It writes NaN and both
infinities as null, so a null is a value that was not finite; other writers leave NaN tokens.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from sitegen.ingest import jsonl
from sitegen.ingest.source import Source
from sitegen.model import Batch

NAME = "filelogger"
_START = re.compile(rb'\s*\{\s*"step"\s*:\s*-?\d+\s*,\s*"data"\s*:\s*\{')


def sniff(path: str, head: bytes) -> bool:
    """Whether at least half of the first lines are FileLogger records."""
    if b'"data"' not in head:
        return False
    found, looked = jsonl.objects(head)
    records = sum(isinstance(record.get("data"), dict) and "step" in record for record in found)
    if records:
        return records * 2 >= looked
    return bool(_START.match(head))  # the only line is longer than the head, or torn


def read(source: Source) -> Iterator[Batch]:
    """Step records in file order; torn and foreign lines become problems."""
    yield from jsonl.read(source, _unpack)


def _unpack(value: object) -> jsonl.Record | str:
    if not isinstance(value, dict):
        return "it is not a JSON object"
    data = value.get("data")
    step = jsonl.whole(value.get("step"))
    if step is None:
        return jsonl.no_step(value.get("step"), '"step"')
    if not isinstance(data, dict):
        return 'there is no object under "data"'
    return step, math.nan, data
