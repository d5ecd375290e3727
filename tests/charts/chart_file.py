"""Reads charts.bin and exact.bin as the page does, so that tests can say what is in them."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Read:
    """What a page knows. `exact` by metric name; `low`, `high`, `middle` too where there is an overview."""

    header: Mapping[str, Any]
    steps: Floats
    exact: Mapping[str, Floats]
    axes: Mapping[str, Floats]
    low: Mapping[str, Floats]
    high: Mapping[str, Floats]
    middle: Mapping[str, Floats]


def planes(data: bytes, at: int, count: int, kind: str) -> NDArray[Any]:
    size = np.dtype(kind).itemsize
    raw = np.frombuffer(data, np.uint8, count * size, at).reshape(size, count)
    return np.ascontiguousarray(raw.T).reshape(-1).view(kind)


def read(files: Mapping[str, bytes]) -> Read:
    main = files["charts.bin"]
    assert main[:4] == b"sgc1"
    head, body = (int.from_bytes(main[at : at + 4], "little") for at in (4, 8))
    end = 12 + head + body
    header = json.loads(zlib.decompress(main[12 : 12 + head]))
    blobs = zlib.decompress(main[12 + head : end])
    rows = sum(piece[1] for piece in header["pieces"])
    steps = np.cumsum(planes(blobs, 0, rows, "<f8"))
    exact = files["exact.bin"] if header["exact"] else main[end:]
    ends = np.cumsum(header["chunks"]).tolist()
    chunks = [_opened(exact[b - n : b]) for b, n in zip(ends, header["chunks"], strict=True)]

    def values(place: Mapping[str, Any]) -> Floats:
        plain, packed = chunks[place["chunk"]]
        at, noise = place["packed"], place["plain"]
        if place["kind"] == "d":
            return planes(plain[noise : noise + 5 * rows] + packed[at : at + 3 * rows], 0, rows, "<f8")
        if place["kind"] == "f":
            return planes(packed, at, rows, "<f4").astype(np.float64)
        whole = planes(packed, at, rows, "<i4")
        return np.where(whole == -(2**31), np.nan, whole / 1000.0)

    names = [metric["name"] for metric in header["metrics"]]
    parts: list[dict[str, Floats]] = [{}, {}, {}]
    at = 8 * rows
    for one in header["pictures"]:
        metrics = [header["metrics"][k] for k in one["of"]]
        inline = one["chunk"] < 0
        found, used = _picture(
            blobs[at:] if inline else chunks[one["chunk"]][1], header, metrics, one["size"]
        )
        at += used if inline else 0
        parts = [{**before, **more} for before, more in zip(parts, found, strict=True)]
    return Read(
        header,
        steps,
        {name: values(m["place"]) for name, m in zip(names, header["metrics"], strict=True)},
        {axis[0]: values(place) for axis, place in zip(header["axes"], header["places"], strict=True)},
        *parts,
    )


def _opened(chunk: bytes) -> tuple[bytes, bytes]:
    end = 4 + int.from_bytes(chunk[:4], "little")
    return chunk[4:end], zlib.decompress(chunk[end:])


def _picture(
    blob: bytes, header: Mapping[str, Any], metrics: list[Any], size: int
) -> tuple[list[dict[str, Floats]], int]:
    count, buckets = len(metrics), sum(-(-rows // per) for _, rows, per in header["pieces"])
    present = np.unpackbits(np.frombuffer(blob, np.uint8, -(-count * buckets // 8)))[: count * buckets]
    at = -(-count * buckets // 8)
    numbers = planes(blob, at, 3 * count * buckets, f"<u{size}").astype(np.int64).reshape(3, count, buckets)
    whole = [k for k, one in enumerate(metrics) if one["code"] == "d"]
    doubles = planes(blob, at + 3 * size * count * buckets, 3 * len(whole) * buckets, "<f8")
    doubles = doubles.reshape(3, len(whole), buckets)
    low = np.cumsum((numbers[0] >> 1) ^ -(numbers[0] & 1), axis=1)
    out: list[dict[str, Floats]] = []
    for part in range(3):
        found = {}
        for k, one in enumerate(metrics):
            if one["code"] == "d":
                value = doubles[part, whole.index(k)]
            else:
                rounded = low[k] + (numbers[part, k] if part else 0)
                value = 2.0 ** (rounded / 128) if one["code"] == "l" else rounded * one["code"]
            found[one["name"]] = np.where(present.reshape(count, buckets)[k] == 1, value, np.nan)
        out.append(found)
    return out, at + 3 * size * count * buckets + 24 * len(whole) * buckets
