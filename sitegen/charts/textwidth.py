"""How wide words are, for drawings that must know before anything is drawn."""

from __future__ import annotations

import re

# Tenths of a pixel that DejaVu Sans takes at 11 px, from the blank to the tilde. A browser's own choice is
# close to it, and narrower as a rule.
_WIDTHS = (
    35, 44, 51, 92, 70, 105, 86, 30, 43, 43, 55, 92, 35, 40, 35, 37, 70, 70, 70, 70, 70, 70, 70, 70, 70,
    70, 37, 37, 92, 92, 92, 58, 110, 75, 75, 77, 85, 70, 63, 85, 83, 32, 32, 72, 61, 95, 82, 87, 66, 87,
    76, 70, 67, 81, 75, 109, 75, 67, 75, 43, 37, 43, 92, 55, 55, 67, 70, 60, 70, 68, 39, 70, 70, 31, 31,
    64, 31, 107, 70, 67, 70, 70, 45, 57, 43, 70, 65, 90, 65, 65, 58, 70, 37, 70, 92,
)  # fmt: skip
_PIECES = re.compile(r"\s+|[\x21-\u2e7f]+|\S")  # Chinese has no blanks: it may break at any sign
_WIDE = 110  # any other sign: a Chinese one takes that much


def pixels(words: str, size: float) -> float:
    """Pixels that `words` take at `size` pixels."""
    signs = (ord(sign) - 32 for sign in words)
    return sum(_WIDTHS[at] if 0 <= at < len(_WIDTHS) else _WIDE for at in signs) * size / 110


def lines(words: str, size: float, room: float, most: int) -> list[str]:
    """`words` in at most `most` lines of `room` pixels each; what does not fit ends with an ellipsis."""
    found = [""]
    for piece in _PIECES.findall(words.strip()):
        if pixels((found[-1] + piece).rstrip(), size) <= room or len(found) == most:
            found[-1] += piece
        else:
            found.append(piece.lstrip())
    return [cut(line.strip(), size, room) for line in found if line.strip()]


def cut(words: str, size: float, room: float) -> str:
    """`words`, or as much of them as `room` pixels hold with an ellipsis."""
    if pixels(words, size) <= room:
        return words
    end, wide = 0, pixels("…", size)
    while end < len(words) and wide + pixels(words[end], size) <= room:
        wide += pixels(words[end], size)
        end += 1
    return words[:end].rstrip() + "…"
