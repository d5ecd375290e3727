"""Points to SVG path data in whole units, relative, as short as they get."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sitegen.model import Floats, Ints


def polyline(x: Floats, y: Floats, breaks: NDArray[np.bool_]) -> str:
    """Path data through (x, y), (n,) each, lifted before every point that `breaks` marks.

    A point on its own becomes a line of no length, which round caps draw as a dot.
    """
    xs, ys = _whole(x), _whole(y)
    return "".join(_run(xs[a:b], ys[a:b]) for a, b in pieces(breaks))


def area(x: Floats, low: Floats, high: Floats, breaks: NDArray[np.bool_]) -> str:
    """Path data of the band between `low` and `high` (n,) over x (n,), cut at `breaks`."""
    xs, lows, highs = _whole(x), _whole(low), _whole(high)
    out = []
    for a, b in pieces(breaks):
        around = np.concatenate((xs[a:b], xs[a:b][::-1])), np.concatenate((highs[a:b], lows[a:b][::-1]))
        out.append(_run(*around) + "z")
    return "".join(out)


def dots(x: Floats, y: Floats) -> str:
    """Path data of one dot per point."""
    pairs = zip(_whole(x).tolist(), _whole(y).tolist(), strict=True)
    return "".join(f"M{a} {b}h0" for a, b in pairs)


def pieces(breaks: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Half-open index ranges between breaks; `breaks[0]` does not matter."""
    cuts = (np.flatnonzero(breaks[1:]) + 1).tolist()
    return list(zip([0, *cuts], [*cuts, len(breaks)], strict=True))


def _run(xs: Ints, ys: Ints) -> str:
    start = f"M{xs[0]} {ys[0]}"
    if xs.size == 1:
        return start + "h0"
    deltas = np.empty(2 * (xs.size - 1), dtype=np.int64)
    deltas[0::2] = np.diff(xs)
    deltas[1::2] = np.diff(ys)
    return f"{start}l{' '.join(map(str, deltas.tolist()))}".replace(" -", "-")


def _whole(values: Floats) -> Ints:
    return np.rint(values).astype(np.int64)
