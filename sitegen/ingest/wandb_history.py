"""History records of W&B's log: names and JSON texts -> values of one step."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from sitegen.ingest import jsonl
from sitegen.ingest.wandb_notes import Notes
from sitegen.ingest.wire import BYTES, VARINT, fields, signed, text

_ITEM, _STEP = 1, 2  # fields of a history record
_KEY, _NESTED, _JSON = 1, 2, 16  # fields of an item
_PLAIN = b"\x12\x0a"  # first byte of an item that begins with its name
_MAX_DEPTH = 16
MAX_NAMES = 20_000  # remembered

Values = dict[str, object]


class History:
    """Reads history records. Names recur step after step and are decoded once."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._names: dict[bytes, str] = {}
        self.records = 0  # with a step
        self._referenced: list[str] = []  # names in this record that stand for a file

    def record(self, data: bytes, start: int, end: int) -> tuple[int, float, Mapping[str, object]] | None:
        """Step, Unix seconds or NaN, and values by name; None without a step. Raises Malformed."""
        return self._record(*self._items(data, start, end))

    def of_row(self, row: Mapping[str, object]) -> tuple[int, float, Mapping[str, object]] | None:
        """The same of a row as W&B's server hands it out, a dict per record."""
        found: Values = {}
        for name, value in row.items():
            if name in ("_step", "_timestamp", "_runtime"):
                found[name] = value
            elif not name.startswith("_wandb"):
                self._flatten(found, name, value, 0)
        return self._record(found, None)

    def _record(self, found: Values, step: int | None) -> tuple[int, float, Mapping[str, object]] | None:
        step = jsonl.whole(found.pop("_step", step))
        time = found.pop("_timestamp", math.nan)
        found.pop("_runtime", None)
        if step is None:
            self._notes.stepless += 1
            return None
        self.records += 1
        seconds = float(time) if isinstance(time, (int, float)) else math.nan
        for name in self._referenced:
            found = {each: value for each, value in found.items() if not each.startswith(name + ".")}
        self._referenced.clear()
        return step, seconds, {name: found[name] for name in sorted(found)}

    def _items(self, data: bytes, at: int, end: int) -> tuple[Values, int | None]:
        """Values of a record by name, and the step it states."""
        found: Values = {}
        step: int | None = None
        names = self._names
        for field, kind, a, b in fields(data, at, end):
            if field == _STEP and kind == BYTES:
                step = next((signed(c) for n, k, c, _ in fields(data, a, b) if n == 1 and k == VARINT), 0)
            if field != _ITEM or kind != BYTES:
                continue
            # nearly every item is one short name and a short text: read without looking at field by field
            stop = a + 2 + data[a + 1] if b - a > 5 else b
            if (
                stop + 3 < b
                and data[a] in _PLAIN
                and data[stop : stop + 2] == b"\x82\x01"
                and (data[stop + 2] < 0x80 and stop + 3 + data[stop + 2] == b and data[a + 1] < 0x80)
            ):
                key = data[a + 2 : stop]
                name = names.get(key)
                if name is None:
                    name = key.decode("utf-8", "replace")
                    if len(names) < MAX_NAMES:
                        names[key] = name
                self._put(found, name, data[stop + 3 : b])
            else:
                self._put(found, *_item(data, a, b))
        return found, step

    def _put(self, found: Values, name: str, raw: bytes) -> None:
        try:
            found[name] = float(raw)  # NaN and Infinity as well
        except ValueError:
            if not name.startswith("_wandb"):
                self._flatten(found, name, _loaded(raw), 0)

    def _flatten(self, found: Values, name: str, value: object, depth: int) -> None:
        """A dict is as many metrics as W&B shows: `a.b`. Tables and media are references, and no metrics."""
        if name.endswith("._type") and isinstance(value, str):
            self._referenced.append(name.removesuffix("._type"))
            self._notes.reference(self._referenced[-1], value)
        elif isinstance(value, dict) and "_type" in value:
            self._notes.reference(name, str(value["_type"]))
        elif isinstance(value, dict) and value and depth < _MAX_DEPTH:
            for key, inner in value.items():
                self._flatten(found, f"{name}.{key}", inner, depth + 1)
        else:
            found[name] = value


def _item(data: bytes, start: int, end: int) -> tuple[str, bytes]:
    """Name and JSON text of an item. Raises Malformed."""
    names: list[str] = []
    raw = b"null"
    for field, kind, a, b in fields(data, start, end):
        if field in (_KEY, _NESTED) and kind == BYTES:
            names.append(text(data, a, b))
        elif field == _JSON and kind == BYTES:
            raw = data[a:b]
    return ".".join(names), raw


def items(data: bytes, start: int, end: int, field: int) -> Iterator[tuple[str, object]]:
    """Name and value of the items under `field` of a record (a configuration). Raises Malformed."""
    for number, kind, a, b in fields(data, start, end):
        if number == field and kind == BYTES:
            name, raw = _item(data, a, b)
            yield name, _loaded(raw)


def _loaded(raw: bytes) -> object:
    """Value of a JSON text; text that is none stays text."""
    try:
        return jsonl.loads(raw)
    except ValueError:
        return raw.decode("utf-8", "replace")
