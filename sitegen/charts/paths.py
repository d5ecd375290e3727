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


class _Texts(dict[int, str]):
    """Whole numbers as they follow one another in a path; a drawing has few, and writes each many times."""

    def __missing__(self, number: int) -> str:
        text = self[number] = f" {number}" if number >= 0 else str(number)
        return text


_TEXTS = _Texts()


def _run(xs: Ints, ys: Ints) -> str:
    start = f"M{xs[0]} {ys[0]}"
    if xs.size == 1:
        return start + "h0"
    deltas = np.empty((xs.size - 1, 2), dtype=np.int64)
    np.subtract(xs[1:], xs[:-1], out=deltas[:, 0])
    np.subtract(ys[1:], ys[:-1], out=deltas[:, 1])
    return f"{start}l{''.join(map(_TEXTS.__getitem__, deltas.ravel().tolist())).lstrip()}"


def _whole(values: Floats) -> Ints:
    return np.rint(values).astype(np.int64)
