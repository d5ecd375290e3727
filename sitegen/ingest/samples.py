"""Values and records that a tracker stored -> batches.

Values stored one by one come in the order in which they were logged. Those that follow each other with one
step are one record, until a name comes a second time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from sitegen.ingest.jsonfaults import Faults
from sitegen.ingest.jsonl import LAST_STEP
from sitegen.ingest.jsonrows import Records
from sitegen.model import Batch

Sample = tuple[float, int, str, object]  # Unix seconds or NaN, step, name, value
Record = tuple[float, int, Mapping[str, object]]  # Unix seconds or NaN, step, values

NO_TIME = math.nan
_VALUE = 24  # bytes that a value counts for, so that a batch is some hundred thousand values


def records(samples: Iterable[Sample]) -> Iterator[Record]:
    """Records of values in the order in which they were logged."""
    now: int | None = None
    begun = math.nan
    values: dict[str, object] = {}
    for time, step, name, value in samples:
        if step != now or name in values:
            if now is not None:
                yield begun, now, values
            now, begun, values = step, time, {}
        values[name] = value
    if now is not None:
        yield begun, now, values


def batches(found: Iterable[Record], faults: Faults) -> Iterator[Batch]:
    """Rows of records; their lines are their numbers, from 1. What is no number is noted in `faults`.

    A record without values is none: it would look like training that went back to its step.
    """
    rows = Records(faults)
    for number, (time, step, values) in enumerate((each for each in found if each[2]), 1):
        if not -1 <= step <= LAST_STEP:
            faults.bad(number, f"its step is {step}")
            continue
        full = rows.extend([(number, step, time, values, False)])
        rows.spend(_VALUE * len(values))
        if full or rows.full:
            yield Batch(rows=rows.rows())
            rows = Records(faults)
    if rows.steps:
        yield Batch(rows=rows.rows())
