"""Notes and prose of cards are Markdown that loads nothing and runs nothing."""

from __future__ import annotations

import pytest

from sitegen.pages import prose


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("![a *plot*](https://a.example/p.png)", '<a href="https://a.example/p.png">a plot</a>'),
        ("![](https://a.example/p.png)", '<a href="https://a.example/p.png">https://a.example/p.png</a>'),
        ("![a <b>][1]\n\n[1]: https://a.example/", '<a href="https://a.example/">a &lt;b&gt;</a>'),
        ('![x](https://a.example/"onload=1)', '<a href="https://a.example/%22onload=1">x</a>'),
    ],
)
def test_an_image_is_a_link(markdown: str, html: str) -> None:
    assert html in prose.html(markdown)
    assert "<img" not in prose.html(markdown)


def test_an_image_within_a_link_loads_nothing() -> None:
    html = prose.html("[![x](https://a.example/p.png)](https://b.example/)")
    assert html == '<p><a href="https://b.example/">x</a></p>\n'


def test_an_image_that_is_a_script_is_text() -> None:
    assert "href" not in prose.inline("![x](javascript:alert(1))")
