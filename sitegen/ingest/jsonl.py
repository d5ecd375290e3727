"""One JSON object per line -> Rows. Shared by the formats that differ only in where step and values lie.

Most lines are strict JSON and go through orjson; a line with a NaN token falls back to `json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping

import orjson

from sitegen.ingest.jsonfaults import Faults
from sitegen.ingest.jsonrows import Records
from sitegen.ingest.source import Source, blocks
from sitegen.model import Batch

Record = tuple[int, float, Mapping[str, object]]  # step, Unix seconds or NaN, values
Unpack = Callable[[object], Record | str]  # object of a line -> record, or why it is none

_PAIR_END = re.compile(rb',\s*"')
_GLUED = re.compile(rb'.\{\s*"(?:step|_step|global_step)"\s*:', re.DOTALL)


def loads(line: bytes) -> object:
    """Value of a JSON line; NaN and Infinity tokens are accepted, a repeated key keeps its last value.

    Raises ValueError.
    """
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        pass
    try:
        return _storable(json.loads(line.decode("utf-8", "replace")))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _storable(value: object) -> object:
    """The value with half surrogates, which JSON can escape and UTF-8 cannot hold, replaced."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_storable(each) for each in value]
    if isinstance(value, dict):
        return {_storable(key): _storable(each) for key, each in value.items()}
    return value


def whole(value: object) -> int | None:
    """A step number: an int, or a float or text that spells one. None for anything else."""
    if type(value) is int:
        return value if -(2**63) <= value < 2**63 else None
    if isinstance(value, str) and re.fullmatch(r"\s*\d{1,18}\s*", value):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
        return value if -(2**63) <= value < 2**63 else None
    return None


def objects(head: bytes, limit: int = 20) -> tuple[list[dict[str, object]], int]:
    """Objects among the first `limit` non-empty lines of a head, and how many lines were looked at.

    The last line of a head is usually cut; it counts only when it is whole or the only one.
    """
    lines = [line for line in head.split(b"\n") if line.strip(b" \t\r\0")]
    if len(lines) > 1 and not head.endswith(b"\n"):
        lines.pop()
    found = []
    for line in lines[:limit]:
        try:
            value = loads(line.strip(b"\0 \t\r"))
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found, min(len(lines), limit)


def read(source: Source, unpack: Unpack, prefix: re.Pattern[bytes] | None = None) -> Iterator[Batch]:
    """Batches of a source, one per block of about 4 MB, and last what could not be read.

    `prefix` matches what may stand before the object on a line.
    """
    faults = Faults(source.path)
    with source.open() as stream:
        for first, lines, is_whole in blocks(stream, too_long=faults.too_long):
            records = Records(faults)
            if prefix is not None:
                lines = [_without(prefix, line) for line in lines]
            for number, line in enumerate(lines, first):
                try:
                    value = orjson.loads(line)  # one array of all lines would be slower: measured
                except orjson.JSONDecodeError:
                    _odd_line(line.strip(b"\0 \t\r"), number, is_whole, records, unpack)
                else:
                    _value(value, number, records, unpack)
                if records.full:
                    yield Batch(rows=records.rows())
                    records = Records(faults)
            if records.steps:
                yield Batch(rows=records.rows())
    if problems := faults.problems():
        yield Batch(problems=problems)


def _without(prefix: re.Pattern[bytes], line: bytes) -> bytes:
    if line[:1] == b"{":
        return line
    match = prefix.match(line)
    return line[match.end() :] if match else line


def _value(value: object, number: int, records: Records, unpack: Unpack) -> None:
    found = unpack(value)
    if isinstance(found, str):
        records.faults.bad(number, found)
    else:
        records.add(number, *found)


def _odd_line(line: bytes, number: int, is_whole: bool, records: Records, unpack: Unpack) -> None:
    """A line that is not strict JSON: empty, with NaN tokens, torn, or two writes glued together."""
    if not line:
        return
    try:
        value = loads(line)
    except ValueError:
        _torn_line(line, number, is_whole, records, unpack)
        return
    _value(value, number, records, unpack)


def _torn_line(line: bytes, number: int, is_whole: bool, records: Records, unpack: Unpack) -> None:
    """Keep the pairs before the tear, and a whole record that a restarted writer glued behind it."""
    glued = _GLUED.search(line)
    piece = line[: glued.start() + 1] if glued else line
    value = salvage(piece)
    found = unpack(value) if value is not None else "it is not JSON"
    kept = not isinstance(found, str) and bool(found[2])
    if kept and not isinstance(found, str):
        records.add(number, *found, cut=True)
    last = not is_whole and glued is None
    if last or kept or line.startswith(b"{"):
        records.faults.torn(number, last, kept)
    else:
        records.faults.bad(number, "it is not JSON")
    if glued:
        _odd_line(line[glued.start() + 1 :], number, is_whole, records, unpack)


def salvage(line: bytes) -> object | None:
    """The object at the start of a torn line, without its last pair, which may be cut; None for none."""
    if not line.startswith(b"{"):
        return None
    ends = [match.start() for match in _PAIR_END.finditer(line)]
    for end in reversed(ends[-3:]):  # a `,"` inside text is rare; three tries are enough
        for closing in (b"}", b"}}"):
            try:
                return loads(line[:end] + closing)
            except ValueError:
                continue
    return None
