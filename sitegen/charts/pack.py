"""Numbers to the bytes that assets/charts/data.js reads: zlib streams of byte planes.

All first bytes, all second bytes, …: numbers that are near each other pack well so.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sitegen.model import Floats, Ints

_NOISE = 5  # low planes of a measured double: as good as random, so that packing them is time lost
_CHUNK = 1 << 16  # bytes of numbers that are fetched together
_MOST = 2.0**30  # a rounded number beyond would not fit 31 bits
_ABSENT = np.int32(-(2**31))


@dataclass(frozen=True, slots=True)
class Place:
    """Where the values of a metric lie.

    Args:
        chunk: number of the chunk.
        kind: "m" thousandths as 32 bits, "f" 32-bit floats, "d" doubles whose low planes are plain.
        packed: first byte in the packed part of the chunk.
        plain: first byte in its plain part.
    """

    chunk: int
    kind: str
    packed: int
    plain: int


@dataclass(frozen=True, slots=True)
class Exact:
    """Every value of all metrics.

    Args:
        chunks: several metrics each: 4 bytes with the length of the plain part, it, a zlib stream.
        places: per metric.
    """

    chunks: tuple[bytes, ...]
    places: tuple[Place, ...]


def planes(numbers: NDArray[np.generic]) -> bytes:
    """All first bytes of `numbers` (little-endian), all second ones, and so on."""
    whole = np.ascontiguousarray(numbers).reshape(-1)
    return np.ascontiguousarray(whole.view(np.uint8).reshape(whole.size, whole.itemsize).T).tobytes()


def squeezed(data: bytes | bytearray) -> bytes:
    """A zlib stream of `data`.

    Planes of measured numbers have runs to find and hardly anything else: a search for longer repeats
    takes four times as long and saves 4 %.
    """
    made = zlib.compressobj(1, zlib.DEFLATED, 15, 9, zlib.Z_RLE)
    return made.compress(data) + made.flush()


def chunk(plain: bytes | bytearray, packed: bytes | bytearray) -> bytes:
    """Bytes that are fetched together: the length of the plain part, it, and a zlib stream of the other."""
    return len(plain).to_bytes(4, "little") + plain + squeezed(packed)


def steps(numbers: Ints) -> bytes:
    """(n,) steps as planes of the distances between them, as doubles."""
    return planes(np.diff(numbers, prepend=0).astype("<f8"))


def exact(values: Floats) -> Exact:
    """Every value of `values` (metrics, rows), NaN where a row lacks it."""
    count, rows = values.shape
    several = max(1, _CHUNK // max(1, 8 * rows))
    kinds = _kinds(values)
    chunks: list[bytes] = []
    places: list[Place] = []
    for at in range(0, count, several):
        plain, packed = bytearray(), bytearray()
        for k in range(at, min(at + several, count)):
            places.append(Place(len(chunks), kinds[k], len(packed), len(plain)))
            noise, rest = _written(values[k], kinds[k])
            plain += noise
            packed += rest
        chunks.append(chunk(plain, packed))
    return Exact(tuple(chunks), tuple(places))


def _kinds(values: Floats) -> list[str]:
    with np.errstate(invalid="ignore", over="ignore"):
        short = values.astype(np.float32)
        single = ((short == values) | np.isnan(values)).all(axis=1)
    return ["m" if m else "f" if f else "d" for m, f in zip(_in_thousandths(values), single, strict=True)]


def _written(row: Floats, kind: str) -> tuple[bytes, bytes]:
    """Bytes that do not pack, and bytes that may."""
    if kind == "m":
        return b"", _milli(row)
    if kind == "f":
        return b"", planes(row.astype("<f4"))
    whole = planes(row.astype("<f8"))
    return whole[: _NOISE * row.size], whole[_NOISE * row.size :]


def _in_thousandths(values: Floats) -> NDArray[np.bool_]:
    """(metrics,) whether all values of a metric are whole thousandths, as console logs print them."""
    with np.errstate(invalid="ignore", over="ignore"):
        whole = np.rint(values * 1000.0)
        fits = ((whole / 1000.0 == values) & (np.abs(whole) < _MOST)) | np.isnan(values)
        return np.asarray(fits.all(axis=1) & ~(np.signbit(values) & (values == 0)).any(axis=1))


def _milli(row: Floats) -> bytes:
    whole = np.where(np.isnan(row), 0, np.rint(row * 1000.0)).astype(np.int32)
    whole[np.isnan(row)] = _ABSENT
    return planes(whole.astype("<i4"))
