"""Templates: found where they are, strict, escaping, and open to overrides."""

from __future__ import annotations

from pathlib import Path

import jinja2
import pytest

from sitegen.pages import render as rendering
from sitegen.site import digest, environment, folder
from sitegen.site.rendering import renderer


def test_ours_are_found(repo: Path) -> None:
    assert folder() == repo / "templates"


def test_every_template_compiles() -> None:
    env = environment()
    names = [name for name in env.list_templates(extensions=["html"]) if not name.startswith("overrides/")]
    assert len(names) > 30
    for name in names:
        if "overrides/" not in name:
            env.get_template(name)


def test_an_override_wins_and_may_extend_ours(tmp_path: Path) -> None:
    (tmp_path / "tombstone.html").write_text('{% include "sitegen/tombstone.html" %}<p>Ask Ada.</p>')
    html = environment(tmp_path).get_template("tombstone.html").render(root="../", run="a", date="d", why="")
    assert "This run was removed on d" in html
    assert html.endswith("<p>Ask Ada.</p>")


def test_what_a_log_says_is_escaped() -> None:
    assert environment().from_string("{{ x }}").render(x="<script>") == "&lt;script&gt;"


def test_a_name_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError):
        environment().from_string("{{ typo }}").render()


def test_an_override_makes_kept_fragments_stale(tmp_path: Path) -> None:
    before = digest(tmp_path)
    (tmp_path / "run.html").write_text("x")
    assert digest(tmp_path) != before == digest()


def test_no_name_of_a_run_turns_a_page_around() -> None:
    made = rendering.page(
        renderer(environment()),
        "tombstone.html",
        "runs/a/",
        title="\u202egpj.exe",
        description="of \u2066x",
        kind="run",
        run="a\x00b\u202e",
        date="d",
        why="",
    )
    assert (made.title, made.description) == ("‹U+202E›gpj.exe", "of ‹U+2066›x")
    assert "a‹U+0000›b‹U+202E›" in made.html
    assert not {"\x00", "\u202e"} & set(made.html)
