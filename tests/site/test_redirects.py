"""Old addresses of renamed runs."""

from __future__ import annotations

from sitegen.site.redirects import redirects


def test_an_alias_leads_to_the_run_without_javascript_too() -> None:
    page = redirects({"new": ["old"]}, ["new"])["runs/old/index.html"].decode()
    assert 'http-equiv="refresh" content="1; url=../new/"' in page
    assert 'rel="canonical" href="../new/"' in page


def test_a_run_that_bears_the_name_now_keeps_it() -> None:
    assert redirects({"a": ["b"], "b": []}, ["a", "b"]) == {}


def test_the_first_of_two_runs_gets_a_shared_alias() -> None:
    pages = redirects({"b": ["old"], "a": ["old"]}, ["a", "b"])
    assert [b"../a/" in page for page in pages.values()] == [True]


def test_an_alias_that_is_no_slug_leads_nowhere() -> None:
    assert redirects({"a": ["../../etc", "", "x/y", "<b>", ".hidden"]}, ["a"]) == {}
