"""One JSON object per line -> Rows. Shared by the formats that differ only in where step and values lie.

Most lines are strict JSON and go through orjson; a line with a NaN token falls back to `json`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import BinaryIO

import numpy as np
import orjson

from sitegen.ingest.jsonfaults import Faults
from sitegen.ingest.jsonrows import MAX_DEPTH, Found, Records
from sitegen.ingest.source import BLOCK, MAX_LINE, Source
from sitegen.model import Batch

Record = tuple[int, float, Mapping[str, object]]  # step, Unix seconds or NaN, values
# Value of a line -> record, or why it is none. The values are the line's object itself or one inside it.
Unpack = Callable[[object], Record | str]

LAST_STEP = 2**53
STRETCH = 256 << 10  # bytes of lines looked at together: they stay in the processor's cache

_BLANK = b"\0 \t\r\n"
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
        return storable(json.loads(line.decode("utf-8", "replace")))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def storable(value: object) -> object:
    """The value with half surrogates, which JSON can escape and UTF-8 cannot hold, replaced."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [storable(each) for each in value]
    if isinstance(value, dict):
        return {storable(key): storable(each) for key, each in value.items()}
    return value


def whole(value: object) -> int | None:
    """A step number: an int, or a float or text that spells one. None for anything else.

    -1 is what some trainers log before the first step. Beyond 2**53 a number is no longer exact everywhere.
    """
    spelled = isinstance(value, str) and re.fullmatch(r"\s*\d{1,18}\s*", value)
    if spelled or (isinstance(value, float) and value.is_integer()):
        value = int(value)  # type: ignore[call-overload]
    return value if type(value) is int and -1 <= value <= LAST_STEP else None


def no_step(value: object, under: str) -> str:
    """Why a record whose step is `value` is none; `under` says where a step was looked for."""
    if type(value) in (int, float) and (value > LAST_STEP or value < -1):  # type: ignore[operator]
        return f"step out of range: {str(value)[:40]} is no whole number from -1 to 2^53"
    if isinstance(value, (float, str)):
        return f"the step is {str(value)[:40]!r}, no whole number from -1 to 2^53"
    return f"there is no whole number from -1 to 2^53 under {under}"


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
    """Batches of a source, one per about 4 MB, and last what could not be read.

    `prefix` matches what may stand before the object on a line.
    """
    faults = Faults(source.path)
    records = Records(faults)
    with source.open() as stream:
        for first, lines in stretches(stream, faults):
            if prefix is not None:
                lines = [_without(prefix, line) for line in lines]
            stretch = _Stretch(first, lines, unpack, faults)
            found = stretch.records()
            while records.extend(found):
                yield Batch(rows=records.rows())
                records = Records(faults)
            stretch.look_for_repeats()
            records.spend(sum(map(len, lines)))
    if records.steps:
        yield Batch(rows=records.rows())
    if problems := faults.problems():
        yield Batch(problems=problems)


def stretches(stream: BinaryIO, faults: Faults) -> Iterator[tuple[int, list[bytes]]]:
    """Number of the first line, and lines with their ends. Where lines are long, far faster than `blocks`."""
    number = 1
    while lines := _some_lines(stream):
        if len(lines[-1]) > MAX_LINE:
            lines[-1] = _skip_line(stream)
            faults.too_long(number + len(lines) - 1)
        yield number, lines
        number += len(lines)


def _some_lines(stream: BinaryIO) -> list[bytes]:
    """Lines up to a size, or to one that is too long; none at the end."""
    lines, room = [], STRETCH
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


class _Stretch:
    """Some lines of a source, read once."""

    def __init__(self, first: int, lines: Sequence[bytes], unpack: Unpack, faults: Faults) -> None:
        self._first = first
        self._lines = lines
        self._unpack = unpack
        self._faults = faults
        self._keys = 0  # of the objects read, as far as known: objects inside others may hold more

    def records(self) -> Iterator[Found]:
        """Records of the lines in order."""
        for number, line in enumerate(self._lines, self._first):
            try:
                value = orjson.loads(line)  # one array of all lines would be slower: measured
            except orjson.JSONDecodeError:
                yield from self._odd_line(line.strip(_BLANK), number, line.endswith(b"\n"))
            else:
                if found := self._record(value, number):
                    yield found

    def _record(self, value: object, number: int) -> Found | None:
        if isinstance(value, dict):
            self._keys += len(value)
        found = self._unpack(value)
        if isinstance(found, str):
            self._faults.bad(number, found)
            return None
        step, time, data = found
        if data is not value:
            self._keys += len(data)
        return number, step, time, data, False

    def _odd_line(self, line: bytes, number: int, ended: bool) -> Iterator[Found]:
        """A line that is not strict JSON: empty, with NaN tokens, torn, or two writes glued together."""
        if not line:
            return
        try:
            value = loads(line)
        except ValueError:
            yield from self._torn_line(line, number, ended)
            return
        if found := self._record(value, number):
            yield found

    def _torn_line(self, line: bytes, number: int, ended: bool) -> Iterator[Found]:
        """Keep the pairs before the tear, and a whole record that a restarted writer glued behind it."""
        glued = _GLUED.search(line)
        piece = line[: glued.start() + 1] if glued else line
        value = salvage(piece)
        found = self._unpack(value) if value is not None else "it is not JSON"
        kept = not isinstance(found, str) and bool(found[2])
        if kept and not isinstance(found, str):
            yield number, *found, True
        last = not ended and glued is None
        if last or kept or line.startswith(b"{"):
            self._faults.torn(number, last, kept)
        else:
            self._faults.bad(number, "it is not JSON")
        if glued:
            yield from self._odd_line(line[glued.start() + 1 :], number, ended)

    def look_for_repeats(self) -> None:
        """Tell the first name that stands twice in one object, if none was told yet.

        Each key is followed by a colon: where there are no more colons than keys, no name stands twice.
        """
        if self._faults.repeated or _colons(self._lines) <= self._keys:
            return
        for number, line in enumerate(self._lines, self._first):
            if name := repeated(line.strip(_BLANK)):
                self._faults.repeated = name, number
                return


def _colons(lines: Sequence[bytes]) -> int:
    return int(np.count_nonzero(np.frombuffer(b"".join(lines), np.uint8) == ord(":")))


def _keys(value: dict[str, object], depth: int = 0) -> int:
    inner = (each for each in value.values() if isinstance(each, dict)) if depth < MAX_DEPTH else ()
    return len(value) + sum(_keys(each, depth + 1) for each in inner)


def repeated(line: bytes) -> str | None:
    """A name that stands twice in one object of a line. Text may look as if there were one: that is none."""
    found: list[str] = []

    def pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
        names = Counter(name for name, _ in pairs)
        found.extend(name for name, n in names.items() if n > 1)
        return dict(pairs)

    try:
        value = loads(line)
        if isinstance(value, dict) and line.count(b'":') > _keys(value):
            json.loads(line.decode("utf-8", "replace"), object_pairs_hook=pairs)
    except (ValueError, RecursionError):
        return None
    return str(storable(found[0])) if found else None


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
