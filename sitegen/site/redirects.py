"""Pages that only point elsewhere: a renamed run keeps its old address."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from markupsafe import escape

from sitegen.pages.runs import is_address
from sitegen.site.csp import PLACE, guarded


def redirects(aliases: Mapping[str, Iterable[str]], taken: Iterable[str]) -> dict[str, bytes]:
    """Site path -> HTML for the `aliases` (run -> old ids) that no run or tombstone bears itself."""
    used = set(taken)
    out: dict[str, bytes] = {}
    for run in sorted(aliases):
        for alias in aliases[run]:
            if is_address(alias) and alias not in used:
                used.add(alias)
                out[f"runs/{alias}/index.html"] = _page(run)
    return out


def _page(run: str) -> bytes:
    target = escape(f"../{run}/")
    html = (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8">{PLACE}<title>Moved</title>\n'
        f'<link rel="canonical" href="{target}"><meta name="robots" content="noindex">\n'
        f"<script>location.replace({_js(run)}+location.search+location.hash)</script>\n"
        f'<meta http-equiv="refresh" content="1; url={target}">\n'
        f'<p>This run is now at <a href="{target}">{escape(run)}</a>.</p>\n'
    )
    return guarded(html).encode()


def _js(run: str) -> str:
    """A string literal; run ids are slugs, so nothing in it needs escaping beyond the quotes."""
    return '"../' + re.sub(r"[^A-Za-z0-9._-]", "", run) + '/"'
