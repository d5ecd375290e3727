"""Settings of trackers -> flat texts, written as verl's console prints them (`None`, `True`, `1e-06`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

MAX_KEYS = 20_000
MAX_DEPTH = 32
MAX_TEXT = 100_000


def flat(tree: object, prefix: str = "") -> dict[str, str]:
    """Dotted key -> text of every leaf of nested objects; an empty object and a list are leaves."""
    found: dict[str, str] = {}
    for key, value in _leaves(tree, prefix, 0):
        if len(found) >= MAX_KEYS:
            break
        found[key] = render(value)
    return found


def _leaves(tree: object, prefix: str, depth: int) -> Iterator[tuple[str, object]]:
    if isinstance(tree, Mapping) and tree and depth < MAX_DEPTH:
        for key, value in tree.items():
            yield from _leaves(value, f"{prefix}.{key}" if prefix else str(key), depth + 1)
    elif prefix:
        yield prefix, tree


def render(value: object) -> str:
    """A value as one text; strings inside lists keep quotes."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + "…"


def from_slashes(params: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Settings that verl flattened for MLflow: `/` between the parts of a key, a list as one entry per place.

    `x/list_len` = 2, `x/0`, `x/1` becomes `x` = "[…, …]"; a list of which a place is missing stays as it is.
    """
    texts = dict(params)
    for key in [each for each in texts if each.endswith("/list_len")]:
        whole = key.removesuffix("/list_len")
        length = texts[key]
        places = (
            [f"{whole}/{i}" for i in range(int(length))] if length.isdigit() and len(length) < 5 else None
        )
        if places is not None and all(place in texts for place in places):
            items = [texts.pop(place) for place in places]
            del texts[key]
            texts[whole] = "[" + ", ".join(map(_item, items)) + "]"
    return {key.replace("/", "."): text for key, text in texts.items()}


def _item(text: str) -> str:
    """An item of a list whose type is not stored: numbers and words of Python as they are, others quoted."""
    if text in ("None", "True", "False"):
        return text
    try:
        float(text)
    except ValueError:
        return repr(text)
    return text
