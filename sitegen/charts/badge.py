"""Badges: two words side by side as a small SVG, for READMEs and chat."""

from __future__ import annotations

from markupsafe import escape

from sitegen.charts import textwidth

HEIGHT, SIZE, PAD = 20, 11, 6
LONGEST = 40  # characters of either word
_LABEL = "#3d4852"


def badge(label: str, value: str, colour: str, title: str) -> str:
    """SVG of `label` on grey and `value` on `colour`, both white; `title` is what a screen reader says."""
    left, right, title = _cut(label), _cut(value), _cut(title, 200)
    first, second = _pixels(left) + 2 * PAD, _pixels(right) + 2 * PAD
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
    return f'<text x="{x}" y="14" textLength="{_pixels(words)}">{escape(words)}</text>'


def _pixels(words: str) -> int:
    return round(textwidth.pixels(words, SIZE))


def _cut(words: str, longest: int = LONGEST) -> str:
    """`words` on one line without what XML or a line cannot hold."""
    short = words[: 4 * longest]
    flat = " ".join("".join(sign if sign.isprintable() else " " for sign in short).split()) or "–"
    return flat if len(flat) <= longest else flat[: longest - 1].rstrip() + "…"
