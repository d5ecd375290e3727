"""The Content-Security-Policy of a page: scripts of this site, and inline ones of the theme by their hash.

What came from logs cannot run even where an escape would fail: nothing within the fragment of a page counts
as the theme's.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from html import escape, unescape

PLACE = '<meta http-equiv="Content-Security-Policy" content="sitegen">'  # in templates/overrides/main.html
_SCRIPT = re.compile(r"<script\b([^>]*)>(.*?)</script>", re.DOTALL | re.IGNORECASE)
_LINK = re.compile(r"<link\b([^>]*\brel=[\"']?stylesheet[^>]*)>", re.IGNORECASE)
_KIND = re.compile(r"\btype=[\"']?([^\"'\s>]+)", re.IGNORECASE)
_AWAY = re.compile(r"\b(?:src|href)=[\"']?((?:https?:)?//[^/\"'\s>]+)", re.IGNORECASE)
_RUN = ("text/javascript", "application/javascript", "module")
_FONTS = {"https://fonts.googleapis.com": "https://fonts.gstatic.com"}  # whose styles name files elsewhere


def guarded(html: str, fragment: str = "") -> str:
    """`html` with its policy where the theme left a place for it; `fragment` is what the page shows."""
    at = html.find(PLACE)
    if at < 0:
        return html
    start = html.find(fragment) if fragment else -1
    shell = html if start < 0 else html[:start] + html[start + len(fragment) :]
    meta = PLACE.replace('content="sitegen"', f'content="{escape(policy(shell), quote=False)}"')
    return html[:at] + meta + html[at + len(PLACE) :]


def policy(shell: str) -> str:
    """What `shell`, HTML that we and the theme wrote, needs; other origins where it names them itself."""
    scripts = _SCRIPT.findall(shell)
    hashes = dict.fromkeys(_hash(text) for about, text in scripts if text.strip() and _runs(about))
    styles = _origins(_LINK.findall(shell))
    fonts = [_FONTS[origin] for origin in styles if origin in _FONTS]
    rules = {
        "default-src": ["'none'"],
        "script-src": ["'self'", "'wasm-unsafe-eval'", *hashes, *_origins(about for about, _ in scripts)],
        "style-src": ["'self'", "'unsafe-inline'", *styles],  # positions in ribbons and bars
        "img-src": ["'self'", "data:", "blob:"],
        "font-src": ["'self'", "data:", *fonts],
        "connect-src": ["'self'"],
        "worker-src": ["'self'"],
        "manifest-src": ["'self'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
    }
    return "; ".join(" ".join((name, *values)) for name, values in rules.items())


def _runs(about: str) -> bool:
    """Whether a script element without `src` is run, not only read as data."""
    kind = _KIND.search(about)
    return "src=" not in about and (kind is None or kind[1].lower() in _RUN)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _origins(elements: Iterable[str]) -> list[str]:
    """Origins that elements of the shell load from, each once."""
    found = (_AWAY.search(one) for one in elements)
    return list(dict.fromkeys(unescape(one[1]).lower() for one in found if one))
