"""Similar incidents are put into run pages when these are written."""

from __future__ import annotations

from pathlib import Path

from sitegen.archive import Archive
from sitegen.pages.render import Render
from sitegen.site import alike
from sitegen.site.alike import Similar
from sitegen.site.rendering import renderer
from sitegen.site.templates import environment
from tests.reports.test_similar import row

ROWS = (row("old"), row("<b>new</b>", day=5.0))


def never(template: str, /, **context: object) -> str:
    raise AssertionError("rendered, though it was kept")


def found(home: Path, render: Render | None = None, look: str = "1") -> Similar:
    return alike.kept(Archive(home), ROWS, render or renderer(environment()), look)


def test_a_card_gets_the_incidents_that_look_like_its_own(tmp_path: Path) -> None:
    page = found(tmp_path).filled("<p>a</p><!--sg-similar KL-05-1--><p>b</p>", "<b>new</b>")
    assert page.startswith("<p>a</p><aside ")
    assert 'href="../../runs/old/#KL-05-1"' in page
    assert "same rule, curve 100% alike" in page


def test_a_card_that_resembles_nothing_gets_nothing(tmp_path: Path) -> None:
    assert found(tmp_path).filled("<p>a</p><!--sg-similar KL-05-1-->", "old") == "<p>a</p>"


def test_names_from_logs_are_shown_literally(tmp_path: Path) -> None:
    rows = (row("<b>old</b>"), row("new", day=5.0))
    made = alike.kept(Archive(tmp_path), rows, renderer(environment()), "1")
    assert "<b>old</b>" not in made.html["new/KL-05-1"].replace("<b>Seen before.</b>", "")
    assert "&lt;b&gt;old&lt;/b&gt;" in made.html["new/KL-05-1"]


def test_what_was_found_is_kept_until_incidents_or_templates_change(tmp_path: Path) -> None:
    first = found(tmp_path)
    assert found(tmp_path, never) == first
    assert found(tmp_path, look="2") == first


def test_damage_to_the_cache_is_made_good(tmp_path: Path) -> None:
    first = found(tmp_path)
    for file in (tmp_path / "cache" / alike.ROOM).iterdir():
        file.write_bytes(b"{")
    assert found(tmp_path) == first
