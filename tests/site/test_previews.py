"""What a link to a page unfolds into: tags in the head, and pictures drawn once."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from sitegen import config, mkdocs_plugin
from sitegen.charts import preview
from sitegen.errors import ConfigError
from tests.site.conftest import build
from tests.site.synthetic import HOSTILE, Synthetic, archive

TAG = re.compile(r'<meta (?:property|name)="((?:og|twitter):[a-z:_]+|description)" content="([^"]*)">')


def site(
    place: Path, settings: str = "", address: str = "site_url: https://example.org/sub"
) -> mkdocs_plugin.Built:
    (place / "docs").mkdir(exist_ok=True)
    (place / "docs/team.md").write_text(
        '---\ntitle: A "team" & <b>\ndescription: It\'s "us" & them\n---\n# Team\n'
    )
    (place / "docs/other.md").write_text("# Other\n\nFirst `words` of *this* page & <more>.\n\nSecond.\n")
    (place / "mkdocs.yml").write_text(
        f"site_name: Ours & theirs\n{address}\ntheme: {{name: material}}\n"
        f"plugins:\n  - sitegen: {{{settings}}}\n"
    )
    return build(place)


def head(built: mkdocs_plugin.Built, page: str) -> dict[str, str]:
    return dict(TAG.findall((built.folder / page / "index.html").read_text("utf-8")))


@pytest.fixture(scope="module")
def some() -> Synthetic:
    full = archive(8, steps=40)
    return Synthetic({run: full.reports[run] for run in ("math-001", "math-002", "math-003", "math-007")})


@pytest.fixture(scope="module")
def published(some: Synthetic, tmp_path_factory: pytest.TempPathFactory) -> mkdocs_plugin.Built:
    place = tmp_path_factory.mktemp("published")
    with pytest.MonkeyPatch.context() as patch:
        some.install(patch, place / "home")
        return site(place)


def test_a_run_is_told_with_its_verdict_its_address_and_its_picture(published: mkdocs_plugin.Built) -> None:
    found = head(published, "runs/math-002")
    assert found["og:title"] == "qwen3-0.6b-lr3e-6-kl0.002"
    assert found["og:description"].startswith("Reward hacking suspected from step 84.")
    assert found["og:url"] == "https://example.org/sub/runs/math-002/"
    assert found["og:image"] == "https://example.org/sub/previews/runs/math-002.png"
    assert found["og:image:alt"] == found["og:description"] == found["description"]
    assert found["twitter:card"] == "summary_large_image"


@pytest.mark.parametrize("page", ["", "runs", "rules/KL-05", "team", "other"])
def test_other_pages_show_the_picture_of_the_site(published: mkdocs_plugin.Built, page: str) -> None:
    found = head(published, page)
    assert found["og:image"] == "https://example.org/sub/previews/site.png"
    assert (published.folder / "previews/site.png").is_file()
    assert found["og:site_name"] == "Ours &amp; theirs"


def test_every_page_has_a_title_a_description_and_its_address(published: mkdocs_plugin.Built) -> None:
    pages = [
        file
        for file in published.folder.rglob("index.html")
        if 'http-equiv="refresh"' not in file.read_text()
    ]
    assert len(pages) > 15
    for file in pages:
        html = file.read_text("utf-8")
        where = file.relative_to(published.folder).parent.as_posix().removeprefix(".")
        address = f"https://example.org/sub/{where}/".replace("sub//", "sub/")
        assert re.search(r"<title>[^<]+</title>", html), where
        assert f'<link rel="canonical" href="{address}">' in html, where
        assert head(published, where)["description"], where


def test_a_guide_is_told_in_its_own_words_or_its_first_ones(published: mkdocs_plugin.Built) -> None:
    found = head(published, "team")
    assert found["description"] == found["og:description"] == "It&#x27;s &quot;us&quot; &amp; them"
    assert "&lt;b&gt;" not in found["og:title"] and "<" not in found["og:title"]
    assert head(published, "other")["og:description"] == "First words of this page &amp; ."


def test_a_hostile_name_stays_in_its_attribute(published: mkdocs_plugin.Built) -> None:
    found = head(published, "runs/math-007")
    assert HOSTILE[:8] == "<script>"
    assert found["og:title"].startswith("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp;")


def test_without_an_address_nothing_is_drawn_unless_somebody_asks(
    some: Synthetic, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    some.install(monkeypatch, tmp_path / "home")
    assert not (site(tmp_path, address="").folder / "previews").exists()
    asked = site(tmp_path, "previews: true", address="")
    assert head(asked, "runs/math-002")["og:image"] == "../../previews/runs/math-002.png"
    assert (asked.folder / "previews/runs/math-002.png").is_file()


def test_a_site_may_do_without(some: Synthetic, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    some.install(monkeypatch, tmp_path / "home")
    built = site(tmp_path, "previews: false")
    assert not (built.folder / "previews").exists()
    found = head(built, "runs/math-002")
    assert "og:image" not in found and found["twitter:card"] == "summary"


def test_a_warm_build_draws_no_picture(
    some: Synthetic, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    some.install(monkeypatch, tmp_path / "home")
    cold = site(tmp_path)
    before = {file.name: file.read_bytes() for file in (cold.folder / "previews").rglob("*.png")}
    assert len(before) == 5

    def refuse(what: object) -> bytes:
        raise AssertionError("drawn again")

    monkeypatch.setattr(preview, "draw", refuse)
    warm = site(tmp_path)
    assert warm.site.rendered == 0
    assert {file.name: file.read_bytes() for file in (warm.folder / "previews").rglob("*.png")} == before


def test_switching_pictures_on_later_draws_them(
    some: Synthetic, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    some.install(monkeypatch, tmp_path / "home")
    site(tmp_path, "previews: false")
    assert len(list((site(tmp_path).folder / "previews").rglob("*.png"))) == 5


def test_another_font_draws_only_what_needs_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    full = archive(2, steps=20)
    from dataclasses import replace

    chinese = replace(full.reports["math-001"], headline="显存不足")
    made = Synthetic({"math-000": full.reports["math-000"], "math-001": chinese})
    made.install(monkeypatch, tmp_path / "home")
    site(tmp_path)
    monkeypatch.setattr(preview, "machine", lambda: "another font")
    drawn: list[str] = []
    draw = preview.draw
    monkeypatch.setattr(preview, "draw", lambda what: (drawn.append(what.verdict), draw(what))[1])
    site(tmp_path)
    assert drawn == ["显存不足"]


def test_a_picture_that_cannot_be_drawn_leaves_the_page_alone(
    some: Synthetic, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    some.install(monkeypatch, tmp_path / "home")

    def broken(what: object) -> bytes:
        raise ZeroDivisionError

    from sitegen.pages import preview as pages

    monkeypatch.setattr(pages, "of_run", broken)
    built = site(tmp_path)
    assert "Reward hacking suspected" in (built.folder / "runs/math-002/index.html").read_text()
    assert head(built, "runs/math-002")["og:image"].endswith("/previews/site.png")


def test_a_run_called_like_the_picture_of_the_site_takes_nothing_away(published: mkdocs_plugin.Built) -> None:
    from sitegen.site import previews

    assert previews.name("site") != previews.SITE


def test_what_is_no_switch_is_refused() -> None:
    with pytest.raises(ConfigError, match="previews: expected true or false, found 'yes'"):
        config.read({"previews": "yes"}, Path())


def test_nothing_loads_matplotlib_before_something_is_drawn() -> None:
    code = "import sys, sitegen.mkdocs_plugin; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
