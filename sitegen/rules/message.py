"""Messages of incidents: templates of a card filled with numbers of a span."""

from __future__ import annotations

import math
import string
from collections.abc import Iterable, Iterator, Mapping

#: What every message may name besides the answer's own columns.
ALWAYS = ("value", "threshold", "first", "last", "rows", "steps", "ratio", "metric")

Value = float | int | str | bool | None

_BEYOND = {math.inf: "more than 1e308", -math.inf: "less than -1e308"}  # a ratio of logged numbers


class _Shown:
    """A value that formats itself and never fails: what is not there is "unknown"."""

    def __init__(self, value: Value) -> None:
        self.value = value

    def __format__(self, spec: str) -> str:
        if self.value is None:
            return "unknown"
        if isinstance(self.value, float) and not math.isfinite(self.value):
            return _BEYOND.get(self.value, "unknown")
        try:
            return format(self.value, spec)
        except ValueError:
            return str(self.value)


def render(template: str, values: Mapping[str, Value]) -> str:
    """Fill `template`; a name that is not among `values` raises KeyError."""
    parts = []
    for text, name, spec, _ in string.Formatter().parse(template):
        parts.append(text)
        if name is not None:
            parts.append(format(_Shown(values[name]), spec or ""))
    return "".join(parts)


def faults(template: str, names: Iterable[str], texts: Iterable[str] = ()) -> Iterator[str]:
    """What is wrong with `template`, found by filling it with dummies.

    Args:
        names: columns it may use, all numbers but `texts`.
        texts: columns that hold text.
    """
    known = {*ALWAYS, *names}
    words = {"metric", *texts}
    try:
        pieces = list(string.Formatter().parse(template))
    except ValueError as error:
        yield f"message is not a template: {error}"
        return
    for _, name, spec, conversion in pieces:
        if name is None:
            continue
        if name not in known:
            yield f"message names {{{name}}}; there are {', '.join(sorted(known))}"
        elif conversion:
            yield f"message: {{{name}!{conversion}}} is not supported; write a format after a colon"
        else:
            yield from _spec_faults(name, spec or "", "text" if name in words else 1.5)


def unknown(template: str, names: Iterable[str]) -> Iterator[str]:
    """Places of `template` that are not among `names` nor always there; nothing where it is no template."""
    known = {*ALWAYS, *names}
    try:
        found = [name for _, name, _, _ in string.Formatter().parse(template) if name is not None]
    except ValueError:
        return
    yield from (name for name in dict.fromkeys(found) if name not in known)


def _spec_faults(name: str, spec: str, dummy: float | str) -> Iterator[str]:
    try:
        format(dummy, spec)
    except ValueError as error:
        yield f"message: {{{name}:{spec}}} does not format: {error}"
