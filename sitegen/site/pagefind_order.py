"""Give Pagefind's index one order.

Pagefind 1.5 writes the values of a filter, and the list of filters, in the order of a hash map that
differs from run to run; names of files follow the content. Here both are sorted and the files named
anew, so that equal pages give equal bytes. Its files are gzip over a signature and CBOR that uses
whole numbers, texts and arrays only.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

_SIGNATURE = b"pagefind_dcd"
_FILTERS = 3  # place of [[name, hash], …] in a meta file: version, pages, chunks, filters, sorts, …
_UINT, _TEXT, _ARRAY = 0, 3, 4

Value = int | str | list["Value"]


def sort_index(folder: Path) -> bool:
    """Bring the index in `folder` into one order; False, and nothing touched, where its format is new to us.

    An index in Pagefind's own order searches as well; only its bytes differ between equal builds.
    """
    entry = folder / "pagefind-entry.json"
    about = json.loads(entry.read_text("utf-8"))
    moves: list[_Move] = []
    try:
        for language in about["languages"].values():
            language["hash"] = _sort_language(folder, language["hash"], moves)
    except (ValueError, IndexError, KeyError, TypeError, OSError):
        return False
    for move in moves:
        move.old.unlink()
        move.new.write_bytes(move.data)
    entry.write_text(json.dumps(about, separators=(",", ":"), ensure_ascii=False), "utf-8")
    return True


@dataclass(frozen=True, slots=True)
class _Move:
    """A file that gets other bytes and, as names follow content, another name."""

    old: Path
    new: Path
    data: bytes

    @classmethod
    def of(cls, old: Path, name: str, value: Value) -> tuple[_Move, str]:
        """The move of `old` to hold `value`, and the new name that takes the place of `name` in its own."""
        data = encode(value)
        fresh = f"{name.split('_')[0]}_{hashlib.sha256(data).hexdigest()[:10]}"
        new = old.with_name(old.name.replace(name, fresh))
        return cls(old, new, gzip.compress(_SIGNATURE + data, mtime=0)), fresh


def _sort_language(folder: Path, name: str, moves: list[_Move]) -> str:
    file = folder / f"pagefind.{name}.pf_meta"
    meta = _list(_read(file))
    filters = sorted((str(title), str(hashed)) for title, hashed in map(_list, _list(meta[_FILTERS])))
    meta[_FILTERS] = [[title, _sort_filter(folder, title, hashed, moves)] for title, hashed in filters]
    move, fresh = _Move.of(file, name, meta)
    moves.append(move)
    return fresh


def _sort_filter(folder: Path, title: str, name: str, moves: list[_Move]) -> str:
    file = folder / "filter" / f"{name}.pf_filter"
    read, values = _list(_read(file))
    if read != title:
        raise ValueError(f"filter {title} is called {read} in its file")
    move, fresh = _Move.of(file, name, [read, sorted(_list(values), key=lambda pair: str(_list(pair)[0]))])
    moves.append(move)
    return fresh


def _list(value: Value) -> list[Value]:
    if not isinstance(value, list):
        raise ValueError(f"expected an array, found {value!r}")
    return value


def _read(file: Path) -> Value:
    data = gzip.decompress(file.read_bytes())
    if not data.startswith(_SIGNATURE):
        raise ValueError(f"{file.name} lacks its signature")
    value, end = decode(data, len(_SIGNATURE))
    if end != len(data):
        raise ValueError(f"{file.name} has {len(data) - end} bytes too many")
    return value


def decode(data: bytes, at: int = 0) -> tuple[Value, int]:
    """(value, end) of the CBOR item that begins at `at`; raises ValueError for other kinds of item."""
    kind, size, at = data[at] >> 5, data[at] & 31, at + 1
    if size > 27:
        raise ValueError(f"item of unknown length at byte {at}")
    if size > 23:
        width = 1 << (size - 24)
        size, at = int.from_bytes(data[at : at + width], "big"), at + width
    if kind == _UINT:
        return size, at
    if kind == _TEXT:
        return data[at : at + size].decode(), at + size
    if kind != _ARRAY:
        raise ValueError(f"item of kind {kind} at byte {at}")
    items: list[Value] = []
    for _ in range(size):
        item, at = decode(data, at)
        items.append(item)
    return items, at


def encode(value: Value) -> bytes:
    """CBOR of `value`, lengths as short as they can be."""
    if isinstance(value, int):
        return _head(_UINT, value)
    if isinstance(value, str):
        text = value.encode()
        return _head(_TEXT, len(text)) + text
    return _head(_ARRAY, len(value)) + b"".join(encode(item) for item in value)


def _head(kind: int, size: int) -> bytes:
    if size < 24:
        return bytes([kind << 5 | size])
    width = next(width for width in range(4) if size < 1 << (8 << width))
    return bytes([kind << 5 | 24 + width]) + size.to_bytes(1 << width, "big")
