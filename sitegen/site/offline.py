"""A copy of a finished site that a browser reads from a folder, without a server.

A browser asks no server there, so nobody answers a link to a folder with its index.html, and scripts may not
fetch: links name the file, and what charts and comparisons fetch lies there once more as a script.
"""

from __future__ import annotations

import base64
import posixpath
import re
import shutil
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sitegen.errors import ConfigError
from sitegen.site.publish import Content, publish
from sitegen.site.search import FOLDER

_LINK = re.compile(r'(<(?:a|area)\b[^>]*?\shref=")([^"]*)(")')
_DRAWN = ".bin"  # read by templates/assets/charts/data.js only: a script takes its place
_COMPARED = re.compile(r"(?:.*/)?(?:compare/runs|api/v1/runs/[^/]+)\.json")  # read by comparisons, and linked
_SCRIPT = (
    b'(window.sitegenFiles = window.sitegenFiles || {})[document.currentScript.src.slice(0, -3)] = "%s";\n'
)


def copy(site: Path, files: tuple[str, ...], target: Path) -> None:
    """Write `files` of the finished `site` to `target` so that they can be opened there.

    Search is left out: its index can only be fetched. What an earlier copy left in `target` and this one does
    not have goes. Raises ConfigError where `target` holds files of somebody else, or is the site itself.
    """
    if (
        target.absolute() in (site.absolute(), *site.absolute().parents)
        or site.absolute() in target.absolute().parents
    ):
        raise ConfigError(f"{target}: expected a folder apart from the site {site} for its copy.")
    pages = frozenset(posixpath.dirname(name) for name in files if posixpath.basename(name) == "index.html")
    made = dict(one for name in files if f"/{FOLDER}/" not in f"/{name}" for one in _made(site, name, pages))
    staging = target.absolute().parent / f".{target.name}.new"
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    try:
        publish(staging, target, made)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _made(site: Path, name: str, pages: frozenset[str]) -> Iterator[tuple[str, Content]]:
    file = site / name
    if name.endswith(".html"):
        yield name, lambda: linked(file.read_text("utf-8"), posixpath.dirname(name), pages).encode()
        return
    if name.endswith(_DRAWN) or _COMPARED.fullmatch(name):
        yield f"{name}.js", lambda: _SCRIPT % base64.b64encode(file.read_bytes())
    if not name.endswith(_DRAWN):
        yield name, file


def linked(html: str, folder: str, pages: frozenset[str]) -> str:
    """`html` of a page in `folder` whose links to `pages` (folders below the root) name their index.html."""
    return _LINK.sub(
        lambda found: found[1] + escape(_named(unescape(found[2]), folder, pages)) + found[3], html
    )


def _named(href: str, folder: str, pages: frozenset[str]) -> str:
    parts = urlsplit(href)
    if parts.scheme or parts.netloc or not parts.path or parts.path.startswith("/"):
        return href
    there = posixpath.normpath(posixpath.join(folder, unquote(parts.path)))
    if ("" if there == "." else there) not in pages:
        return href
    path = posixpath.join(parts.path, "index.html")
    return parts._replace(path=path).geturl()
