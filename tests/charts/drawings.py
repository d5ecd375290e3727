"""What tests read from a drawing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

import numpy as np

from sitegen.model import Series

SVG = "{http://www.w3.org/2000/svg}"


def series(values: Sequence[float], steps: Sequence[int] | None = None, **more: object) -> Series:
    """A metric of one segment, steps from 1."""
    array = np.array(values, dtype=np.float64)
    at = np.arange(1, array.size + 1) if steps is None else np.array(steps, dtype=np.int64)
    parts: dict[str, object] = {
        "segments": np.zeros(array.size, dtype=np.int64),
        "live": np.ones(array.size, dtype=bool),
        **more,
    }
    return Series("actor/kl_loss", "kl_ref", at, array, **parts)  # type: ignore[arg-type]


def tree(markup: str) -> ElementTree.Element:
    """The drawing as XML; fails where it is not well-formed."""
    return ElementTree.fromstring(markup)


def paths(markup: str, css: str) -> list[str]:
    """Path data of the elements with class `css`."""
    return [one.get("d", "") for one in tree(markup).iter("path") if one.get("class") == css]


def texts(markup: str) -> list[str]:
    return [one.text or "" for one in tree(markup).iter("text")]


def titles(markup: str) -> list[str]:
    return [one.text or "" for one in tree(markup).iter("title")]


def points(path: str) -> list[list[tuple[int, int]]]:
    """Absolute points of each stroke of a path made of M, l, h and z."""
    strokes = []
    for part in path.split("M")[1:]:
        numbers = [int(n) for n in re.findall(r"-?\d+", part.replace("h0", ""))]
        pairs = np.array(numbers).reshape(-1, 2).cumsum(axis=0)
        strokes.append([(int(x), int(y)) for x, y in pairs])
    return strokes
