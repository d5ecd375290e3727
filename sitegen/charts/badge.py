"""Badges: two words side by side as a small SVG, for READMEs and chat."""

from __future__ import annotations

from markupsafe import escape

HEIGHT, SIZE, PAD = 20, 11, 6
LONGEST = 40  # characters of either word
_LABEL = "#3d4852"
# Tenths of a pixel that DejaVu Sans takes at 11 px, from the blank to the tilde; browsers choose the font,
# and `textLength` makes the words fit whatever they choose.
_WIDTHS = (
    35, 44, 51, 92, 70, 105, 86, 30, 43, 43, 55, 92, 35, 40, 35, 37, 70, 70, 70, 70, 70, 70, 70, 70, 70,
    70, 37, 37, 92, 92, 92, 58, 110, 75, 75, 77, 85, 70, 63, 85, 83, 32, 32, 72, 61, 95, 82, 87, 66, 87,
    76, 70, 67, 81, 75, 109, 75, 67, 75, 43, 37, 43, 92, 55, 55, 67, 70, 60, 70, 68, 39, 70, 70, 31, 31,
    64, 31, 107, 70, 67, 70, 70, 45, 57, 43, 70, 65, 90, 65, 65, 58, 70, 37, 70, 92,
)  # fmt: skip
_WIDE = 110  # any other sign: a Chinese one takes that much


def badge(label: str, value: str, colour: str, title: str) -> str:
    """SVG of `label` on grey and `value` on `colour`, both white; `title` is what a screen reader says."""
    left, right, title = _cut(label), _cut(value), _cut(title, 200)
    first, second = _width(left) + 2 * PAD, _width(right) + 2 * PAD
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{first + second}" height="{HEIGHT}" role="img" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title>'
        f'<clipPath id="r"><rect width="{first + second}" height="{HEIGHT}" rx="3"/></clipPath>'
        f'<g clip-path="url(#r)"><rect width="{first}" height="{HEIGHT}" fill="{_LABEL}"/>'
        f'<rect x="{first}" width="{second}" height="{HEIGHT}" fill="{colour}"/></g>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="{SIZE}">'
        f"{_text(PAD, left)}{_text(first + PAD, right)}</g></svg>\n"
    )


def _text(x: int, words: str) -> str:
    return f'<text x="{x}" y="14" textLength="{_width(words)}">{escape(words)}</text>'


def _width(words: str) -> int:
    """Pixels that `words` take at 11 px."""
    signs = (ord(sign) - 32 for sign in words)
    return round(sum(_WIDTHS[at] if 0 <= at < len(_WIDTHS) else _WIDE for at in signs) / 10)


def _cut(words: str, longest: int = LONGEST) -> str:
    """`words` on one line without what XML or a line cannot hold."""
    short = words[: 4 * longest]
    flat = " ".join("".join(sign if sign.isprintable() else " " for sign in short).split()) or "–"
    return flat if len(flat) <= longest else flat[: longest - 1].rstrip() + "…"
