"""One JSON object per line -> Rows. Shared by the formats that differ only in where step and values lie.

Most lines are strict JSON and go through orjson; a line with a NaN token falls back to `json`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import BinaryIO

import orjson

from sitegen.ingest.jsonfaults import Faults
from sitegen.ingest.jsonrows import MAX_DEPTH, Records
from sitegen.ingest.source import BLOCK, MAX_LINE, Source
from sitegen.model import Batch

Record = tuple[int, float, Mapping[str, object]]  # step, Unix seconds or NaN, values
Unpack = Callable[[object], Record | str]  # object of a line -> record, or why it is none

LAST_STEP = 2**53

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
    """A step number: an int, or a float or text that spells one. None for anything else.

    -1 is what some trainers log before the first step. Beyond 2**53 a number is no longer exact everywhere.
    """
    spelled = isinstance(value, str) and re.fullmatch(r"\s*\d{1,18}\s*", value)
    if spelled or (isinstance(value, float) and value.is_integer()):
        value = int(value)  # type: ignore[call-overload]
    return value if type(value) is int and -1 <= value <= LAST_STEP else None


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
        for first, lines, is_whole in _blocks(stream, faults):
            records = Records(faults)
            if prefix is not None:
                lines = [_without(prefix, line) for line in lines]
            for number, line in enumerate(lines, first):
                try:
                    value = orjson.loads(line)  # one array of all lines would be slower: measured
                except orjson.JSONDecodeError:
                    _odd_line(line.strip(b"\0 \t\r\n"), number, is_whole, records, unpack)
                else:
                    _value(value, line, number, records, unpack)
                if records.full:
                    yield Batch(rows=records.rows())
                    records = Records(faults)
            if records.steps:
                yield Batch(rows=records.rows())
    if problems := faults.problems():
        yield Batch(problems=problems)


def _blocks(stream: BinaryIO, faults: Faults) -> Iterator[tuple[int, list[bytes], bool]]:
    """As `source.blocks`, with the line ends: twice as fast where lines are long."""
    number = 1
    while lines := _some_lines(stream):
        if len(lines[-1]) > MAX_LINE:
            lines[-1] = _skip_line(stream)
            faults.too_long(number + len(lines) - 1)
        yield number, lines, lines[-1].endswith(b"\n")
        number += len(lines)


def _some_lines(stream: BinaryIO) -> list[bytes]:
    """Lines up to a size, or to one that is too long; none at the end."""
    lines, room = [], BLOCK
    for line in iter(partial(stream.readline, MAX_LINE + 1), b""):
        lines.append(line)
        room -= len(line)
        if room <= 0 or len(line) > MAX_LINE:
            break
    return lines


def _skip_line(stream: BinaryIO) -> bytes:
    """Read to the end of a line; an empty line in its place."""
    while chunk := stream.readline(BLOCK):
        if chunk.endswith(b"\n"):
            return b"\n"
    return b""


def _without(prefix: re.Pattern[bytes], line: bytes) -> bytes:
    if line[:1] == b"{":
        return line
    match = prefix.match(line)
    return line[match.end() :] if match else line


def _value(value: object, line: bytes, number: int, records: Records, unpack: Unpack) -> None:
    if not records.faults.repeated and isinstance(value, dict) and _may_repeat(value, line):
        records.faults.repeated = _repeated(line, number)
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
    _value(value, line, number, records, unpack)


def _may_repeat(value: dict[str, object], line: bytes) -> bool:
    """Whether a line holds more colons behind quotes than its object has keys; text may hold some too."""
    colons = line.count(b'":')
    data = value.get("data")
    few = len(value) + (len(data) if isinstance(data, dict) else 0)
    return colons > few and colons > _keys(value)


def _keys(value: dict[str, object], depth: int = 0) -> int:
    inner = (each for each in value.values() if isinstance(each, dict)) if depth < MAX_DEPTH else ()
    return len(value) + sum(_keys(each, depth + 1) for each in inner)


def _repeated(line: bytes, number: int) -> tuple[str, int] | None:
    """A name that stands twice in one object of a line, with the number of the line."""
    found: list[str] = []

    def pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
        names = Counter(name for name, _ in pairs)
        found.extend(name for name, n in names.items() if n > 1)
        return dict(pairs)

    try:
        json.loads(line.decode("utf-8", "replace"), object_pairs_hook=pairs)
    except (ValueError, RecursionError):
        return None
    return (str(_storable(found[0])), number) if found else None


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
