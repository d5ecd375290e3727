"""A copy of the site that opens from a folder: links name files, charts find their data as scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen.errors import ConfigError
from sitegen.site.offline import copy, linked

PAGES = frozenset({"", "runs", "runs/a", "runs/a b"})


@pytest.mark.parametrize(
    ("href", "named"),
    [
        ("../", "../index.html"),
        ("../..", "../../index.html"),
        (".", "./index.html"),
        ("../../runs/", "../../runs/index.html"),
        ("../a%20b/", "../a%20b/index.html"),
        ("../../runs/?status=failed#runs", "../../runs/index.html?status=failed#runs"),
        ("../../runs/?a=1&amp;b=2", "../../runs/index.html?a=1&amp;b=2"),
    ],
)
def test_a_link_to_a_page_names_its_file(href: str, named: str) -> None:
    assert linked(f'<a class="x" href="{href}">', "runs/a", PAGES) == f'<a class="x" href="{named}">'


@pytest.mark.parametrize(
    "href",
    ["#KL-05-1", "data/steps.csv", "https://example.org/", "//example.org/", "/runs/", "mailto:a@b", "../b/"],
)
def test_every_other_link_stays(href: str) -> None:
    assert linked(f'<a href="{href}">', "runs/a", PAGES) == f'<a href="{href}">'


def written(place: Path, **files: str) -> tuple[Path, tuple[str, ...]]:
    """A site; `a__b` is the file a/b, `_dot_` its dot."""
    names = {name.replace("__", "/").replace("_dot_", "."): text for name, text in files.items()}
    for name, text in names.items():
        (place / "site" / name).parent.mkdir(parents=True, exist_ok=True)
        (place / "site" / name).write_text(text)
    return place / "site", tuple(names)


def test_what_charts_fetch_lies_there_as_a_script(tmp_path: Path) -> None:
    copy(*written(tmp_path, runs__a__data__charts_dot_bin="abc"), tmp_path / "copy")
    (script,) = (tmp_path / "copy/runs/a/data").iterdir()
    assert script.name == "charts.bin.js"
    assert script.read_text().endswith('"YWJj";\n')


@pytest.mark.parametrize("name", ["compare/runs", "api/v1/runs/a", "zh/compare/runs", "zh/api/v1/runs/a"])
def test_what_comparisons_fetch_lies_there_twice(tmp_path: Path, name: str) -> None:
    site, files = written(tmp_path, **{f"{name}_dot_json".replace("/", "__"): "{}"})
    copy(site, files, tmp_path / "copy")
    assert (tmp_path / f"copy/{name}.json").read_text() == "{}"
    assert (tmp_path / f"copy/{name}.json.js").read_text().endswith('"e30=";\n')


def test_search_is_left_out(tmp_path: Path) -> None:
    found = written(tmp_path, index_dot_html="", pagefind__a_dot_js="", zh__pagefind__a_dot_js="")
    copy(*found, tmp_path / "copy")
    assert list((tmp_path / "copy").rglob("pagefind")) == []


def test_what_an_earlier_copy_left_goes(tmp_path: Path) -> None:
    site, _ = written(tmp_path, index_dot_html="", gone_dot_html="")
    copy(site, ("index.html", "gone.html"), tmp_path / "copy")
    copy(site, ("index.html",), tmp_path / "copy")
    assert not (tmp_path / "copy/gone.html").exists()


@pytest.mark.parametrize("target", ["site", ".", "site/copy"])
def test_the_site_itself_is_no_place_for_its_copy(tmp_path: Path, target: str) -> None:
    site, files = written(tmp_path, index_dot_html="")
    with pytest.raises(ConfigError, match="expected a folder apart from the site"):
        copy(site, files, tmp_path / target)


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy/index.html").write_text("my thesis")
    with pytest.raises(ConfigError, match=r"holds 'index\.html', which no build of sitegen wrote"):
        copy(*written(tmp_path, index_dot_html="site"), tmp_path / "copy")
    assert (tmp_path / "copy/index.html").read_text() == "my thesis"
