"""What a TensorBoard event holds: scalars wherever a version of TensorFlow put them, text, the rest."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct, unpack_from

from sitegen.ingest.wire import BYTES, FIXED32, FIXED64, VARINT, Malformed, fields, signed, text, varint

FLOAT32 = "<f"
MAX_TEXT = 1 << 20  # bytes of a text that may hold settings
_STRING = 7
# DataType -> how an element lies in tensor_content
_CONTENT = {
    1: "<f", 2: "<d", 3: "<i", 4: "<B", 5: "<h", 6: "<b", 9: "<q", 10: "<?",
    17: "<H", 19: "<e", 22: "<I", 23: "<Q",
}  # fmt: skip
# field of TensorProto -> how an element lies there; "" are varints
_TYPED = {5: "<f", 6: "<d", 7: "", 10: "", 11: "", 16: "", 17: ""}
_HALVES = 13
_KINDS = {3: "an old histogram", 4: "an image", 5: "a histogram", 6: "audio"}


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a summary. Exactly one of `number`, `words` and `other` is set."""

    tag: str
    number: float | None = None
    place: int = -1  # where the number lies in the event, -1 where it is not stored as it is
    form: str = ""  # struct format of the number at `place`
    words: str | None = None
    other: str = ""  # what it is instead, for people
    plugin: str = ""
    content: bytes = b""  # of the plugin


@dataclass(frozen=True, slots=True)
class Event:
    """One event: when, at which step, and where its summary lies."""

    time: float
    step: int
    summary: tuple[int, int] | None
    other: str = ""


def event(data: bytes) -> Event:
    """Parse an event without its summary. Raises Malformed."""
    time, step, summary, other = math.nan, 0, None, ""
    for number, kind, a, b in fields(data):
        if number == 1 and kind == FIXED64:
            time = unpack_from("<d", data, a)[0]
        elif number == 2 and kind == VARINT:
            step = signed(a)
        elif number == 5 and kind == BYTES:
            summary = (a, b)
        elif number in (4, 9):
            other = "a model graph"
    return Event(time, step, summary, other)


def values(data: bytes, start: int, end: int) -> Iterator[Value]:
    """Values of the summary `data[start:end]`. Raises Malformed."""
    for number, kind, a, b in fields(data, start, end):
        if number == 1 and kind == BYTES:
            yield _value(data, a, b)


def _value(data: bytes, start: int, end: int) -> Value:
    tag, plugin, content, other = "", "", b"", ""
    number: float | None = None
    place, tensor = -1, None
    for field, kind, a, b in fields(data, start, end):
        if field == 1 and kind == BYTES:
            tag = text(data, a, b)
        elif field == 2 and kind == FIXED32:
            number, place = unpack_from(FLOAT32, data, a)[0], a
        elif field == 8 and kind == BYTES:
            tensor = (a, b)
        elif field == 9 and kind == BYTES:
            plugin, content = _plugin(data, a, b)
        elif field in _KINDS:
            other = _KINDS[field]
    if number is not None:
        return Value(tag, number, place, FLOAT32, plugin=plugin, content=content)
    if tensor is not None and not other:
        return _tensor(data, *tensor, tag, plugin, content)
    return Value(tag, other=other or "a value without a number", plugin=plugin, content=content)


def _plugin(data: bytes, start: int, end: int) -> tuple[str, bytes]:
    """Name and content of SummaryMetadata.plugin_data."""
    name, content = "", b""
    for field, kind, a, b in fields(data, start, end):
        if field == 1 and kind == BYTES:
            for inner, inner_kind, c, d in fields(data, a, b):
                if inner == 1 and inner_kind == BYTES:
                    name = text(data, c, d)
                elif inner == 2 and inner_kind == BYTES:
                    content = data[c:d]
    return name, content


def _tensor(data: bytes, start: int, end: int, tag: str, plugin: str, content: bytes) -> Value:
    dtype, sizes, strings = 0, [], []
    found: list[tuple[int, str]] = []  # places and formats of stored numbers
    plain: list[float] = []  # numbers that are not stored as they are
    for field, kind, a, b in fields(data, start, end):
        if field == 1 and kind == VARINT:
            dtype = a
        elif field == 2 and kind == BYTES:
            sizes = _shape(data, a, b)
        elif field == 4 and kind == BYTES and b > a and dtype in _CONTENT:
            found += _packed(a, b, _CONTENT[dtype])
        elif field == 8 and kind == BYTES:
            strings.append(text(data, a, min(b, a + MAX_TEXT)))
        elif field in _TYPED or field == _HALVES:
            _typed(data, field, kind, a, b, dtype, found, plain)
    if dtype == _STRING:
        return Value(tag, words="\n".join(strings), plugin=plugin, content=content)
    if any(size != 1 for size in sizes) or len(found) + len(plain) > 1:
        return Value(tag, other="a tensor of more than one number", plugin=plugin, content=content)
    if not found and not plain:
        return Value(tag, other="a tensor without a number", plugin=plugin, content=content)
    if plain:
        return Value(tag, plain[0], plugin=plugin, content=content)
    place, form = found[0]
    return Value(tag, float(unpack_from(form, data, place)[0]), place, form, plugin=plugin, content=content)


def _shape(data: bytes, start: int, end: int) -> list[int]:
    sizes = []
    for field, kind, a, b in fields(data, start, end):
        if field == 2 and kind == BYTES:
            inner = [signed(c) for n, k, c, _ in fields(data, a, b) if n == 1 and k == VARINT]
            sizes.append(inner[0] if inner else 0)
    return sizes


def _typed(
    data: bytes, field: int, kind: int, a: int, b: int, dtype: int,
    found: list[tuple[int, str]], plain: list[float],
) -> None:  # fmt: skip
    """Numbers of one of the typed fields, packed or not."""
    form = _TYPED.get(field, "")
    if form:
        found += _packed(a, b, form)
        return
    numbers = [a] if kind == VARINT else list(_varints(data, a, b))
    if field == _HALVES:
        plain += [_half(number, dtype) for number in numbers]
    else:
        plain += [float(number if field in (16, 17) else signed(number)) for number in numbers]


def _packed(start: int, end: int, form: str) -> list[tuple[int, str]]:
    size = Struct(form).size
    if (end - start) % size:
        raise Malformed("a tensor that ends within a number")
    return [(start + i * size, form) for i in range(min((end - start) // size, 2))]


def _varints(data: bytes, at: int, end: int) -> Iterator[int]:
    while at < end:
        value, at = varint(data, at, end)
        yield value


def _half(bits: int, dtype: int) -> float:
    """A float16, or a bfloat16, which is the upper half of a float32."""
    raw = (bits & 0xFFFF).to_bytes(2, "little")
    value: float = unpack_from("<e", raw)[0] if dtype == 19 else unpack_from("<f", b"\0\0" + raw)[0]
    return value
