"""Numbers and changes as a sentence says them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from sitegen.language import known, t

THIN = "\u202f"  # narrow no-break space between thousands and before a unit


def number(value: float) -> str:
    """`value` with three significant digits: 0.842, 12.3, 1 245, 3.2e-6."""
    if not math.isfinite(value):
        return str(value)
    size = abs(value)
    if size >= 1e7 or 0 < size < 1e-3:
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{_trim(mantissa)}e{int(exponent)}"
    if size >= 100:
        return f"{round(value):,}".replace(",", THIN)
    decimals = 2 - math.floor(math.log10(size)) if size >= 0.01 else 4
    return _trim(f"{value:.{decimals}f}")


def count(value: int) -> str:
    """A whole number with narrow spaces between thousands."""
    return f"{value:,}".replace(",", THIN)


def plural(n: int, one: str, many: str = "") -> str:
    """`1 step`, `2 steps`."""
    said = known(f"{{n}} {one}")
    if said is not None:
        return said.format(n=count(n))
    return f"{count(n)} {one if n == 1 else many or one + 's'}"


def listed(items: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return (
        items[0]
        if len(items) == 1
        else t("{first} and {last}", first=t(", ").join(items[:-1]), last=items[-1])
    )


def joined(sentences: Iterable[str]) -> str:
    """Whole sentences one after the other; empty ones are left out."""
    return t(" ").join(each for each in sentences if each)


def hours(value: float) -> str:
    """`0.4`, `36`: one decimal below ten."""
    return f"{value:.1f}" if value < 9.95 else count(round(value))


def opened(text: str) -> str:
    """`text` with a capital first letter."""
    return text[:1].upper() + text[1:]


def lowered(title: str) -> str:
    """A title inside a sentence: `gradient spike`, but `KL jump` and `GPU out of memory`."""
    word = title.split(" ", 1)[0]
    return title if sum(letter.isupper() for letter in word) > 1 else title[:1].lower() + title[1:]


def clipped(text: str, length: int) -> str:
    """`text` on one line, cut to `length` characters with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def _trim(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text
