"""Fonts for figures: one that has Chinese, Japanese and Korean signs where the system has it."""

from __future__ import annotations

from functools import cache

from matplotlib import font_manager
from matplotlib.ft2font import FT2Font

_LATIN = "DejaVu Sans"  # comes with matplotlib
_CJK = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "Source Han Sans CN",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "Droid Sans Fallback",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "SimHei",
    "Arial Unicode MS",
)
_LONGEST = 90


@cache
def families() -> list[str]:
    """Font families in order of use; matplotlib takes each sign from the first that has it."""
    known = {font.name for font in font_manager.fontManager.ttflist}
    found = next((name for name in _CJK if name in known), None)
    return [_LATIN] if found is None else [_LATIN, found]


def legible(text: str, fallback: str) -> str:
    """`text` on one line, or `fallback` where a sign is in no font; at most 90 signs."""
    flat = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    shown = flat if flat and _covered(flat) else fallback
    shown = "".join(sign if _covered(sign) else "?" for sign in shown)
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1].rstrip() + "…"


def bundled(text: str) -> bool:
    """Whether the font that comes with matplotlib has every sign of `text`."""
    return all(_fonts()[0].get_char_index(ord(sign)) for sign in text if sign.isprintable())


def _covered(text: str) -> bool:
    return all(any(font.get_char_index(ord(sign)) for font in _fonts()) for sign in text)


@cache
def _fonts() -> tuple[FT2Font, ...]:
    return tuple(FT2Font(font_manager.findfont(name)) for name in families())
