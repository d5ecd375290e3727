"""Templates in another language: what is taken for a sentence, and what is left alone."""

from __future__ import annotations

import pytest

from sitegen.language.markup import texts, translated
from sitegen.site import folder


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("<p>Seen in <b>{{ n }}</b> of {{ all }} runs.</p>", ["Seen in <0>{{ n }}</0> of {{ all }} runs."]),
        ("<td>{{ n }}</td>", []),
        ("<p>One{% if x %} or two{% endif %}</p>", ["One", "or two"]),
        ('<a href="#" title="More of it">{{ x }}</a>', ["More of it"]),
        ('<a class="{{ "dark" if n > 1 else "pale" }}">Go on</a>', ["<0>Go on</0>"]),
        ("<pre>code stays</pre><p>Text</p>", ["Text"]),
        ("{# a remark #}", []),
        ("<th>1</th><th>–</th>", []),
    ],
)
def test_a_text_is_what_a_reader_sees_as_one_sentence(source: str, found: list[str]) -> None:
    assert list(texts(source)) == found


def test_tags_and_expressions_may_change_places() -> None:
    source = '<p>\n <a href="{{ x }}">{{ n }}</a> of {{ all }}\n</p>'
    said = {"<0>{{ n }}</0> of {{ all }}": "{{ all }} 中的 <0>{{ n }}</0>"}
    assert translated(source, said.get) == '<p>\n {{ all }} 中的 <a href="{{ x }}">{{ n }}</a>\n</p>'


def test_attributes_are_said_as_well() -> None:
    assert translated('<i title="More">x</i>', {"More": "更多"}.get) == '<i title="更多">x</i>'


def test_what_the_catalog_does_not_have_stays_as_it_is() -> None:
    for file in folder().rglob("*.html"):
        source = file.read_text(encoding="utf-8")
        assert translated(source, lambda text: None) == source


def test_attributes_of_a_tag_inside_a_translated_sentence_are_said_too() -> None:
    said = {"Go <0>there</0>.": "去<0>那里</0>。", "The way, {{ x }}": "路，{{ x }}"}.get
    source = '<p>Go <a href="#" aria-label="The way, {{ x }}">there</a>.</p>'
    assert translated(source, said) == '<p>去<a href="#" aria-label="路，{{ x }}">那里</a>。</p>'
