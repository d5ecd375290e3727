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
    chunks = [zlib.decompress(exact[b - n : b]) for b, n in zip(ends, header["chunks"], strict=True)]

    def values(place: tuple[int, int, str]) -> Floats:
        chunk, offset, kind = place
        if kind == "d":
            return planes(chunks[chunk], offset, rows, "<f8")
        whole = planes(chunks[chunk], offset, rows, "<i4")
        return np.where(whole == -(2**31), np.nan, whole / 1000.0)

    names = [metric["name"] for metric in header["metrics"]]
    parts = [{}, {}, {}]
    if header["exact"]:
        parts = _overview(blobs[header["blobs"][0] :], header)
    return Read(
        header,
        steps,
        {name: values(m["place"]) for name, m in zip(names, header["metrics"], strict=True)},
        {axis[0]: values(place) for axis, place in zip(header["axes"], header["places"], strict=True)},
        *parts,
    )


def _overview(blob: bytes, header: Mapping[str, Any]) -> list[dict[str, Floats]]:
    metrics = header["metrics"]
    count, buckets = len(metrics), sum(-(-rows // per) for _, rows, per in header["pieces"])
    present = np.unpackbits(np.frombuffer(blob, np.uint8, -(-count * buckets // 8)))[: count * buckets]
    at = -(-count * buckets // 8)
    numbers = planes(blob, at, 3 * count * buckets, "<u4").astype(np.int64).reshape(3, count, buckets)
    whole = [k for k, one in enumerate(metrics) if one["code"] == "d"]
    doubles = planes(blob, at + 12 * count * buckets, 3 * len(whole) * buckets, "<f8")
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
    return out
