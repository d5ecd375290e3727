"""Nothing that a text hides stays hidden, and no text is too long for a page."""

from __future__ import annotations

import pytest

from sitegen.reports.visible import defused, excerpt, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\n\ttext", "plain\n\ttext"),
        ("你好 naïve 😀 café", "你好 naïve 😀 café"),
        ("\u202eevil\u202c", "‹U+202E›evil‹U+202C›"),
        ("a\u200bb\u200db", "a‹U+200B›b‹U+200D›b"),
        ("\u2066\u2069\u200f\ufeff\u00ad", "‹U+2066›‹U+2069›‹U+200F›‹U+FEFF›‹U+00AD›"),
        ("\x1b[31m\x00", "‹U+001B›[31m‹U+0000›"),
        ("tag \U000e0041", "tag ‹U+E0041›"),
        ("selector \U000e0100", "selector ‹U+E0100›"),
        ("line\u2028end\u2029", "line‹U+2028›end‹U+2029›"),
        ("windows\r\nlines", "windows\nlines"),
        ("\u200b" * 5000, "‹U+200B ×5000›"),
        ("שלום", "שלום"),  # letters from right to left hide nothing
    ],
)
def test_signs_that_are_not_seen_are_marked(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_short_text_is_whole() -> None:
    found = excerpt("abc", 2, 1)
    assert (found.head, found.tail, found.left_out, found.length) == ("abc", "", 0, 3)


def test_of_a_long_text_beginning_and_end_are_shown() -> None:
    found = excerpt("a" * 600_000 + "the answer is 4", 10, 6)
    assert (found.head, found.tail) == ("a" * 10, "r is 4")
    assert (found.left_out, found.length) == (600_015 - 16, 600_015)


def test_marks_count_as_what_they_take() -> None:
    found = excerpt("\u200b\u200c" * 1000, 100, 50)
    assert len(found.head) <= 100 and len(found.tail) <= 50
    assert found.length == 2000
    assert found.left_out == 2000 - (found.head + found.tail).count("U+")


def test_without_an_end_the_beginning_alone_is_shown() -> None:
    found = excerpt("abcdef", 2, 0)
    assert (found.head, found.tail, found.left_out) == ("ab", "", 4)


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("<p>12 → 13\n\t你好 😀 שלום</p>\r\n", "<p>12 → 13\n\t你好 😀 שלום</p>\r\n"),
        ("<h1>\u202egpj.exe</h1>", "<h1>‹U+202E›gpj.exe</h1>"),
        ("a\x00b\x1b\x85\u202a\u2066\u2069", "a‹U+0000›b‹U+001B›‹U+0085›‹U+202A›‹U+2066›‹U+2069›"),
        ("\x00" * 9, "‹U+0000 ×9›"),
        ("‹U+202E›", "‹U+202E›"),  # marked already
        ("soft\u00adly \u200b", "soft\u00adly \u200b"),  # not seen, but turns nothing around
    ],
)
def test_html_keeps_no_sign_that_controls_or_turns_a_line(html: str, shown: str) -> None:
    assert defused(html) == shown
