"""The Content-Security-Policy of pages: the theme's inline scripts by hash, nothing of what logs say."""

from __future__ import annotations

import base64
import hashlib
import re

from sitegen import mkdocs_plugin
from sitegen.site.csp import PLACE, guarded, policy


def rules(text: str) -> dict[str, list[str]]:
    return {name: values for name, *values in (part.split() for part in text.split("; "))}


def sha(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def test_inline_scripts_of_the_theme_are_allowed_by_their_hash() -> None:
    found = rules(policy("<script>theme()</script><script src='a.js'></script><p>"))
    assert found["script-src"] == ["'self'", "'wasm-unsafe-eval'", sha("theme()")]


def test_data_blocks_need_no_hash() -> None:
    assert "sha256" not in policy('<script id="__config" type="application/json">{"a": 1}</script>')


def test_a_script_in_the_fragment_gets_no_hash() -> None:
    fragment = "<div><script>evil()</script></div>"
    html = guarded(f"<head>{PLACE}<script>theme()</script></head>{fragment}<p>", fragment)
    assert sha("theme()") in html
    assert sha("evil()") not in html
    assert PLACE not in html


def test_other_origins_are_allowed_where_the_shell_itself_names_them() -> None:
    shell = (
        '<link rel="stylesheet" href="https://fonts.googleapis.com/css?family=X">'
        '<script src="https://cdn.example.org/mathjax.js"></script><img src="https://elsewhere.example">'
    )
    found = rules(policy(shell))
    assert "https://cdn.example.org" in found["script-src"]
    assert "https://fonts.googleapis.com" in found["style-src"]
    assert "https://fonts.gstatic.com" in found["font-src"]
    assert "elsewhere" not in policy(shell)


def test_a_theme_without_the_place_is_left_as_it_is() -> None:
    assert guarded("<head></head>") == "<head></head>"


def test_every_page_of_a_site_has_a_policy_without_unsafe_scripts(built: mkdocs_plugin.Built) -> None:
    pages = sorted(built.folder.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        found = re.findall(r'Content-Security-Policy" content="([^"]*)"', page.read_text())
        assert len(found) == 1, page
        scripts = rules(found[0])["script-src"]
        assert "'unsafe-inline'" not in scripts and "'unsafe-eval'" not in scripts
        assert rules(found[0])["default-src"] == ["'none'"]
