"""Where the time of a step goes: one stacked bar. HTML, so that its words keep their size."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from sitegen.charts.markup import drawn
from sitegen.language import t

_COLOURS = 8


def stacked(parts: Sequence[tuple[str, float]]) -> Markup:
    """A bar of (name, share 0-1) parts, widest first as given; "other" is grey.

    Parts keep the colour of `colour(parts, index)`, which a table beside it can repeat as a key.
    """
    words = ", ".join(f"{name} {share:.0%}" for name, share in parts)
    spans = "".join(
        f'<span class="{colour(name, index)}" style="width:{share:.2%}" title="{escape(name)} {share:.1%}">'
        f"{escape(name) if share * 100 > len(name) else ''}</span>"
        for index, (name, share) in enumerate(parts)
        if share > 0
    )
    label = escape(t("Time per step: {parts}", parts=words))
    return drawn(f'<div class="sg-stack" role="img" aria-label="{label}">{spans}</div>')


def colour(name: str, index: int) -> str:
    """CSS class of the part at `index`."""
    return "sg-t-other" if name == "other" else f"sg-t-{index % _COLOURS}"
